#include "apps/experiment_arguments.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/batch.hpp"
#include "apps/calibration_files.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/progress.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"
#include "planner/methods/choose_plan.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

int run_lines(const ExperimentArguments& arguments, const CommonOptions& common,
              const std::function<LineMaker()>& make_answer) {
  const Catalog catalog = catalog_with(arguments.calibrations);
  const Menus names = menus_that_choose_plans();
  std::vector<std::string> overrides = arguments.overrides;
  // Without an experiment file, the first positional is an override as well.
  if (!arguments.experiment.empty()) overrides.insert(overrides.begin(), arguments.experiment);
  check_overrides(overrides, catalog, names);
  const auto make = [&]() -> Answer {
    return [series = std::make_shared<ExperimentSeries>(catalog, names, overrides), answer = make_answer()](
               const std::string& line, std::uint64_t number, LineLabel& label) {
      const LocatedExperiment read = series->read(line, "line " + std::to_string(number), &label);
      label.name = read.experiment.name;
      return read.apply(answer);
    };
  };
  // Answers on the same terminal would be torn by it.
  return run_batch(common.threads, make,
                   isatty(STDOUT_FILENO) != 0 ? ProgressReport{} : progress_on_terminal(common));
}

}  // namespace

LocatedExperiment read_one(const ExperimentArguments& arguments, const CommonOptions& common) {
  if (arguments.experiment.empty())
    throw InputError({Diagnostic{"command line", 0, 0, "", "an experiment file is missing (or --batch)"}});
  LocatedExperiment read = read_experiment_text(
      arguments.text ? *arguments.text : read_text(arguments.experiment), arguments.experiment,
      arguments.overrides, catalog_with(arguments.calibrations), menus_that_choose_plans());
  if (common.quiet) return read;
  for (const Diagnostic& warning : read.positions.warnings(read.experiment)) {
    const std::string line = warning.text() + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  return read;
}

void add_one_experiment(CLI::App& app, ExperimentArguments& arguments) {
  app.add_option("experiment", arguments.experiment, "JSON or YAML file, - for standard input")
      ->type_name(kFile);
  app.add_option("overrides", arguments.overrides, "key=value, such as plan.tensor_parallel=4")
      ->type_name(kKeyValue);
  add_calibration_files(app, arguments.calibrations);
}

CLI::Option* add_experiment_arguments(CLI::App& app, ExperimentArguments& arguments) {
  add_one_experiment(app, arguments);
  return app.add_flag("--batch", arguments.batch,
                      "One experiment per line of standard input, one result line each");
}

int run_on_experiments(const ExperimentArguments& arguments, const CommonOptions& common,
                       const std::function<int(const LocatedExperiment&)>& one,
                       const std::function<LineMaker()>& make_answer) {
  if (arguments.batch) return run_lines(arguments, common, make_answer);
  const LocatedExperiment read = read_one(arguments, common);
  return read.apply([&](const Experiment&) { return one(read); });
}

}  // namespace orrery
