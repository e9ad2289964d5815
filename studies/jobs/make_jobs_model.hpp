// Makes the numbers of several jobs on one cluster from an experiment: steps of jobs by simulation, alone and
// with slower messages between nodes; the cluster as it is wired.
#pragma once

#include <vector>

#include "config/experiment/read_jobs.hpp"
#include "orrery/report.hpp"
#include "studies/jobs/jobs_model.hpp"

namespace orrery {

struct PreparedJobs {
  JobsModel model;
  std::vector<Report> steps;         ///< of the experiments, alone
  std::vector<std::string> reasons;  ///< why a job cannot be run; none: all can
};

/// @throws InputError where the cluster cannot be wired, or an experiment cannot be simulated
[[nodiscard]] PreparedJobs prepare_jobs(const JobsExperiment& experiment);

}  // namespace orrery
