#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/experiment_arguments.hpp"
#include "apps/outputs.hpp"
#include "orrery/simulate.hpp"

namespace orrery {
namespace {

struct MemoryOptions {
  ExperimentArguments arguments;
  std::string json, csv;
};

int deliver(const MemoryOptions& options, const CommonOptions& common, const Experiment& experiment) {
  const Report report = account_memory(experiment);
  Outputs outputs(options.arguments.experiment);
  for (const std::string& file : options.arguments.calibrations) outputs.protect(file);
  if (OutputFile* file = outputs.open(options.json)) write_json(report, {}, 2, to(*file));
  if (OutputFile* file = outputs.open(options.csv)) write_csv(report, {}, to(*file));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print_summary(report);
  return report.feasible ? kDone : kInfeasible;
}

}  // namespace

Command add_memory(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<MemoryOptions>();
  CLI::Option* batch = add_experiment_arguments(app, options->arguments);
  app.add_option("--json", options->json, "Write the result as JSON, its times null (- for standard output)")
      ->excludes(batch);
  app.add_option("--csv", options->csv, "Write the result as one CSV row")->excludes(batch);
  return [options, &common] {
    const auto one = [&](const Experiment& experiment) { return deliver(*options, common, experiment); };
    const LineMaker line = [](const Experiment& experiment) {
      return json_line(account_memory(experiment), {});
    };
    return run_on_experiments(options->arguments, common, one, [&] { return line; });
  };
}

}  // namespace orrery
