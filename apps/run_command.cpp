#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "apps/chart_options.hpp"
#include "apps/commands.hpp"
#include "apps/experiment_arguments.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/page_origin.hpp"
#include "orrery/simulate.hpp"
#include "studies/long_run/writers.hpp"

namespace orrery {
namespace {

struct RunOptions {
  ExperimentArguments arguments;
  std::string json, csv, trace, html;
  ChartArguments picture;
};

LongRunResult result_of(const LocatedExperiment& read) {
  Simulator simulator;
  const auto simulate_step = [&](const Experiment& step) { return simulator.simulate(step); };
  return read.apply(
      [&](const Experiment& experiment) { return simulate_long_run(experiment, simulate_step); });
}

int run(const RunOptions& options, const CommonOptions& common) {
  Outputs outputs(options.arguments.experiment);
  for (const std::string& file : options.arguments.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  OutputFile* csv = outputs.open(options.csv);
  OutputFile* trace = outputs.open(options.trace);
  OutputFile* html = outputs.open(options.html);
  const ChartFiles picture(options.picture, outputs);
  const LongRunResult result = result_of(read_one(options.arguments, common));
  if (json != nullptr) json->write(long_run_json(result));
  if (csv != nullptr) csv->write(long_run_csv(result));
  if (trace != nullptr) trace->write(long_run_trace(result));
  if (picture.any()) picture.write(long_run_scene(result));
  if (html != nullptr) page_to(*html, common)(long_run_page(result));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) std::fputs(long_run_text(result).c_str(), stdout);
  return result.feasible() ? kDone : kInfeasible;
}

}  // namespace

Command add_run(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<RunOptions>();
  add_one_experiment(app, options->arguments);
  add_output(app, "--json", options->json, "Write the result as JSON (- for standard output)");
  add_output(app, "--csv", options->csv, "Write the figures as a row of CSV");
  add_output(app, "--trace", options->trace, "Write the run with the median time as a Chrome trace");
  add_chart_options(app, options->picture, "the same run over its days");
  add_output(app, "--html", options->html, "Write a page with the picture and the summary");
  return [options, &common] { return run(*options, common); };
}

}  // namespace orrery
