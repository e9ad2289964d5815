#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/batch.hpp"
#include "apps/commands.hpp"
#include "apps/outputs.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/io/read_experiment.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

struct MemoryOptions {
  std::string experiment;
  std::vector<std::string> overrides;
  std::string json, csv;
  bool batch = false;
};

int account_one(const MemoryOptions& options, const CommonOptions& common) {
  Report report;
  read_experiment_file(options.experiment, options.overrides, Catalog::embedded(), menus(),
                       [&report](const Experiment& experiment) { report = account_memory(experiment); });
  Outputs outputs(options.experiment);
  if (OutputFile* file = outputs.open(options.json)) write_json(report, 2, to(*file));
  if (OutputFile* file = outputs.open(options.csv)) write_csv(report, to(*file));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print_summary(report);
  return report.feasible ? kDone : kInfeasible;
}

int account_batch(const MemoryOptions& options, const CommonOptions& common) {
  const Catalog catalog = Catalog::embedded();
  const Menus names = menus();
  return run_batch(common.threads, [&](const std::string& line, std::uint64_t number) {
    Report report;
    read_experiment_text(line, "line " + std::to_string(number), options.overrides, catalog, names,
                         [&report](const Experiment& experiment) { report = account_memory(experiment); });
    return json_line(report);
  });
}

}  // namespace

Command add_memory(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<MemoryOptions>();
  app.add_option("experiment", options->experiment, "JSON or YAML file, - for standard input");
  app.add_option("overrides", options->overrides, "key=value, such as plan.zero_stage=1");
  CLI::Option* batch = app.add_flag("--batch", options->batch,
                                    "One experiment per line of standard input, one result line each");
  app.add_option("--json", options->json, "Write the result as JSON, its times null (- for standard output)")
      ->excludes(batch);
  app.add_option("--csv", options->csv, "Write the result as one CSV row")->excludes(batch);
  return [options, &common] {
    if (options->batch) {
      if (!options->experiment.empty())
        options->overrides.insert(options->overrides.begin(), options->experiment);
      return account_batch(*options, common);
    }
    if (options->experiment.empty()) throw InputError("", "memory needs an experiment file (or --batch)");
    return account_one(*options, common);
  };
}

}  // namespace orrery
