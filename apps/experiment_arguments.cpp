#include "apps/experiment_arguments.hpp"

#include <CLI/CLI.hpp>

#include "apps/batch.hpp"
#include "apps/calibration_files.hpp"
#include "apps/outputs.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

int run_lines(const ExperimentArguments& arguments, const CommonOptions& common,
              const std::function<LineMaker()>& make_answer) {
  const Catalog catalog = catalog_with(arguments.calibrations);
  const Menus names = menus();
  std::vector<std::string> overrides = arguments.overrides;
  // Without an experiment file, the first positional is an override as well.
  if (!arguments.experiment.empty()) overrides.insert(overrides.begin(), arguments.experiment);
  return run_batch(common.threads, [&]() -> Answer {
    return [series = std::make_shared<ExperimentSeries>(catalog, names, overrides), answer = make_answer()](
               const std::string& line, std::uint64_t number) {
      std::string text;
      series->read(line, "line " + std::to_string(number),
                   [&](const Experiment& experiment) { text = answer(experiment); });
      return text;
    };
  });
}

}  // namespace

CLI::Option* add_experiment_arguments(CLI::App& app, ExperimentArguments& arguments) {
  app.add_option("experiment", arguments.experiment, "JSON or YAML file, - for standard input");
  app.add_option("overrides", arguments.overrides, "key=value, such as plan.tensor_parallel=4");
  add_calibration_files(app, arguments.calibrations);
  return app.add_flag("--batch", arguments.batch,
                      "One experiment per line of standard input, one result line each");
}

int run_on_experiments(const ExperimentArguments& arguments, const CommonOptions& common,
                       const std::function<int(const Experiment&)>& one,
                       const std::function<LineMaker()>& make_answer) {
  if (arguments.batch) return run_lines(arguments, common, make_answer);
  if (arguments.experiment.empty()) {
    throw InputError({Problem{"command line", 0, 0, "", "an experiment file is missing (or --batch)"}});
  }
  int status = kDone;
  read_experiment_file(arguments.experiment, arguments.overrides, catalog_with(arguments.calibrations),
                       menus(), [&](const Experiment& experiment) { status = one(experiment); });
  return status;
}

}  // namespace orrery
