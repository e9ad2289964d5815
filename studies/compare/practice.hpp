// Steps that published runs needed for the accuracy of all-reduce, from catalog/practice/. Knows no rates;
// the caller multiplies with the steps of all-reduce. Internal to studies/compare/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/data_parallel_sync.hpp"

namespace orrery {

/// Describes one published run beside all-reduce on the same task.
struct PublishedRun {
  std::string method;
  std::string topology;  ///< "" where the method has no graph, or its run is of any
  std::int64_t workers = 0;
  std::int64_t period = 1;            ///< steps between averages over all, or local ones
  std::optional<double> steps_ratio;  ///< steps to the accuracy over those of all-reduce
  bool reached = true;                ///< false: the accuracy was not reached within these steps
  std::optional<double> change;       ///< of the value at the end, after equal steps
  std::string unit;                   ///< of the change, such as "% top-1"
};

/// Reads the table. @throws InputError, located in `source`, for missing columns and cells that are no
/// numbers.
[[nodiscard]] std::vector<PublishedRun> read_published_runs(std::string_view text, const std::string& source);

/// Says how the steps of a method compare with those of all-reduce in practice.
struct PracticeRange {
  double least = 1;  ///< steps over those of all-reduce, of all runs
  double most = 1;   ///< infinite where a run did not get there
};

/// Holds what is published about a method that keeps replicas in step by something else than exact averages.
struct Practice {
  std::optional<PracticeRange> range;  ///< none where no run is like the experiment
  std::string runs;         ///< about the nearest runs; "" where there are none, or none are needed
  std::string unpublished;  ///< names the experiment where it has no range
};

/// Finds the range over the runs with the method and graph of `sync`, if one has at least as many workers:
/// fewer are no harder. A shorter period than that of a run is no harder either, so the range then begins at
/// 1, and says nothing where the run did not get there. All-reduce and parameter servers are 1 by definition:
/// both compute what one worker would.
[[nodiscard]] Practice practice_of(const DataParallelSync& sync, std::int64_t workers,
                                   const std::vector<PublishedRun>& runs);

}  // namespace orrery
