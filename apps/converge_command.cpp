#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/calibration_files.hpp"
#include "apps/commands.hpp"
#include "apps/converge_output.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/progress.hpp"
#include "apps/table_arguments.hpp"
#include "apps/text_columns.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

struct ConvergeOptions {
  std::vector<std::string> arguments;
  ConvergeArguments runs;
  ConvergeChart chart;
  std::optional<double> target;
  bool no_chart = false;
  std::string json, csv, html;
};

int run(ConvergeOptions options, const CommonOptions& common, unsigned threads) {
  options.runs.experiments = tables_among(options.arguments);
  options.runs.overrides = overrides_among(options.arguments);
  if (options.runs.experiments.empty()) {
    throw InputError({Diagnostic{"command line", 0, 0, "", "an experiment file is missing"}});
  }
  options.runs.threads = threads;
  Outputs outputs(options.runs.experiments.front());
  for (const std::string& file : options.runs.experiments) outputs.protect(file);
  for (const std::string& file : options.runs.calibrations) outputs.protect(file);
  OutputFile* csv = outputs.open(options.csv);
  OutputFile* json = outputs.open(options.json);
  OutputFile* page = outputs.open(options.html);
  const std::vector<ConvergenceCurve> runs = run_convergence(options.runs, progress_on_terminal(common));
  if (csv != nullptr) csv->write(convergence_csv(runs));
  if (json != nullptr) json->write(convergence_json(runs, options.target));
  if (page != nullptr) write_convergence_page(runs, options.target, to(*page));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) {
    if (!options.no_chart) std::printf("%s\n", convergence_chart(runs, options.chart).c_str());
    std::printf("%s", convergence_table(runs, options.target, text_columns()).c_str());
  }
  for (const ConvergenceCurve& one : runs) {
    if (!one.feasible) return kInfeasible;
  }
  return kDone;
}

}  // namespace

Command add_converge(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ConvergeOptions>();
  app.add_option("experiment", options->arguments,
                 "JSON or YAML files, and key=value for all of them, such as problem.heterogeneity=0.5")
      ->type_name(kExperiments);
  app.add_option("--vary", options->runs.variations,
                 "KEY=VALUE,VALUE,...: a curve for each; several: for each combination")
      ->type_name(kKeyValue)
      ->allow_extra_args(false);
  add_calibration_files(app, options->runs.calibrations);
  CLI::Option* no_chart = app.add_flag("--no-chart", options->no_chart, "The table alone");
  app.add_flag("--by-iteration", options->chart.by_iteration, "Chart against iterations, not time")
      ->excludes(no_chart);
  app.add_flag("--consensus", options->chart.consensus, "Chart the disagreement of workers, not the loss")
      ->excludes(no_chart);
  app.add_flag("--log-x", options->chart.log_x, "Logarithmic time")->excludes(no_chart);
  app.add_option("--width", options->chart.width, "Of the chart, in characters")
      ->check(integer_within(20, 400))
      ->excludes(no_chart);
  app.add_option("--height", options->chart.height, "Of the chart, in lines")
      ->check(integer_within(5, 200))
      ->excludes(no_chart);
  app.add_option("--target", options->target, "Loss to reach: when each run first has it")
      ->check(number_within(-1e300, 1e300));
  add_output(app, "--csv", options->csv, "Write the curves as CSV (- for standard output)");
  add_output(app, "--json", options->json, "Write the curves as JSON (- for standard output)");
  add_output(app, "--html", options->html, "Write a page that shows the curves");
  return [options, &common, &app] { return run(*options, common, threads_of(app, common)); };
}

}  // namespace orrery
