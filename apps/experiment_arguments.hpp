// Declares the arguments that commands on experiments share: the experiment, overrides, or a whole stream of
// experiments.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/commands.hpp"
#include "config/experiment/read_experiment.hpp"
#include "orrery/experiment.hpp"

namespace CLI {
class Option;
}

namespace orrery {

struct ExperimentArguments {
  std::string experiment;  ///< a file, or "-"; empty with batch
  std::vector<std::string> overrides;
  std::vector<std::string> calibrations;  ///< files
  bool batch = false;
  std::optional<std::string> text{};  ///< of the experiment, where it was read already
};

/// Answers an experiment with a line.
using LineMaker = std::function<std::string(const Experiment&)>;

/// Reads the one experiment of a command without --batch; writes warnings on likely mistakes to standard
/// error.
LocatedExperiment read_one(const ExperimentArguments& arguments, const CommonOptions& common);

/// Adds the arguments of a command on one experiment.
void add_one_experiment(CLI::App& app, ExperimentArguments& arguments);

/// Adds the arguments to a command; returns the option --batch, which options for single runs exclude.
CLI::Option* add_experiment_arguments(CLI::App& app, ExperimentArguments& arguments);

/// Reads the experiment and hands it to `one`, which returns the exit status; with --batch, answers
/// every line of standard input with that of a maker from `make_answer`; each thread has its own.
int run_on_experiments(const ExperimentArguments& arguments, const CommonOptions& common,
                       const std::function<int(const LocatedExperiment&)>& one,
                       const std::function<LineMaker()>& make_answer);

}  // namespace orrery
