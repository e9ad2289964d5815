// Reads files of jobs: our own columns, or those of public traces of schedulers. Internal to config/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/read_fields.hpp"
#include "orrery/jobs.hpp"

namespace orrery {

inline constexpr double kMostJobSeconds = 1e9;  ///< of a trace, and of a job
inline constexpr std::size_t kMostJobs = 1'000'000;

struct JobTrace {
  std::string_view kind;      ///< whose columns it has
  std::vector<JobSpec> jobs;  ///< in order of arrival, the first at 0
  std::int64_t left_out = 0;  ///< rows of jobs without GPUs, or that never ran
};

/// Adds a finding and returns no jobs where the file is wrong.
JobTrace read_job_trace(const std::string& file, std::int64_t most_gpus, const Path& path, Scope& scope);

/// Reads the text of Philly's cluster_job_log: a list of jobs in JSON.
JobTrace read_philly_log(std::string_view text, const std::string& file, Findings& findings);

}  // namespace orrery
