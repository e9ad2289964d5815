#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/experiment_arguments.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "orrery/simulate.hpp"

namespace orrery {
namespace {

struct MemoryOptions {
  ExperimentArguments arguments;
  std::string json, csv;
};

int deliver(const MemoryOptions& options, const CommonOptions& common, const Experiment& experiment) {
  Outputs outputs(options.arguments.experiment);
  for (const std::string& file : options.arguments.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  OutputFile* csv = outputs.open(options.csv);
  const Report report = account_memory(experiment);
  if (json != nullptr) write_json(report, {}, 2, to(*json));
  if (csv != nullptr) write_csv(report, {}, to(*csv));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print_summary(report);
  return report.feasible ? kDone : kInfeasible;
}

}  // namespace

Command add_memory(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<MemoryOptions>();
  CLI::Option* batch = add_experiment_arguments(app, options->arguments);
  add_output(app, "--json", options->json, "Write the result as JSON, its times null (- for standard output)")
      ->excludes(batch);
  add_output(app, "--csv", options->csv, "Write the result as one CSV row")->excludes(batch);
  return [options, &common] {
    const auto one = [&](const Experiment& experiment) { return deliver(*options, common, experiment); };
    const LineMaker line = [](const Experiment& experiment) {
      return json_line(account_memory(experiment), {});
    };
    return run_on_experiments(options->arguments, common, one, [&] { return line; });
  };
}

}  // namespace orrery
