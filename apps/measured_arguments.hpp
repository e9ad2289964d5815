// Sorts the arguments of orrery calibrate: tables of runs, and experiments each followed by what was measured
// of them.
#pragma once

#include <string>
#include <vector>

namespace orrery {

struct ExperimentFiles {
  std::string experiment;
  std::vector<std::string> measured;
};

struct FitArguments {
  std::vector<std::string> tables;
  std::vector<ExperimentFiles> runs;
};

/// A table ends in .csv or is built in; an experiment is YAML, or JSON whose first key is one of an
/// experiment's; other files were measured, of the experiment before them.
/// @throws InputError for measurements without an experiment, and an experiment without measurements
[[nodiscard]] FitArguments sort_fit_arguments(const std::vector<std::string>& names);

}  // namespace orrery
