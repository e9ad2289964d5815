#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/calibration_files.hpp"
#include "apps/chart_options.hpp"
#include "apps/commands.hpp"
#include "apps/converge_output.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/page_origin.hpp"
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
  ChartArguments picture;
  std::string width, height;  ///< of the chart where they are characters and lines, else of the picture
  bool no_chart = false;
  std::string json, csv, html;
};

/// Characters and lines are whole numbers; lengths of the picture have a unit.
void take_size(const std::string& text, const std::string& option, int least, int most, int& characters,
               std::string& length) {
  if (text.empty()) return;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) {
    length = text;
    return;
  }
  if (number < least || number > most)
    throw InputError({Diagnostic{"command line", 0, 0, "",
                                 option + ": found \"" + text + "\", allowed an integer from " +
                                     std::to_string(least) + " to " + std::to_string(most) +
                                     " of the chart, or a length with its unit of the picture"}});
  characters = number;
}

/// Options of a chart are mistakes where none is drawn.
void require_chart(const ConvergeOptions& options) {
  if (!options.no_chart || options.picture.any()) return;
  const auto refuse = [](const char* option, bool given) {
    if (given)
      throw InputError({Diagnostic{"command line", 0, 0, "", std::string(option) + " excludes --no-chart"}});
  };
  refuse("--by-iteration", options.chart.by_iteration);
  refuse("--consensus", options.chart.consensus);
  refuse("--log-x", options.chart.log_x);
  refuse("--width", !options.width.empty());
  refuse("--height", !options.height.empty());
}

void take_sizes(ConvergeOptions& options) {
  require_chart(options);
  take_size(options.width, "--width", 20, 400, options.chart.width, options.picture.width);
  take_size(options.height, "--height", 5, 200, options.chart.height, options.picture.height);
}

int run(ConvergeOptions options, const CommonOptions& common, unsigned threads) {
  options.runs.experiments = tables_among(options.arguments);
  options.runs.overrides = overrides_among(options.arguments);
  if (options.runs.experiments.empty()) {
    throw InputError({Diagnostic{"command line", 0, 0, "", "an experiment file is missing"}});
  }
  options.runs.threads = threads;
  take_sizes(options);
  Outputs outputs(options.runs.experiments.front());
  for (const std::string& file : options.runs.experiments) outputs.protect(file);
  for (const std::string& file : options.runs.calibrations) outputs.protect(file);
  OutputFile* csv = outputs.open(options.csv);
  OutputFile* json = outputs.open(options.json);
  OutputFile* page = outputs.open(options.html);
  const ChartFiles picture(options.picture, outputs);
  const std::vector<ConvergenceCurve> runs = run_convergence(options.runs, progress_on_terminal(common));
  if (csv != nullptr) csv->write(convergence_csv(runs));
  if (json != nullptr) json->write(convergence_json(runs, options.target));
  if (page != nullptr) write_convergence_page(runs, options.target, page_to(*page, common));
  if (picture.any()) picture.write(convergence_scene(runs, options.chart, options.target));
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
  app.add_flag("--no-chart", options->no_chart, "The table alone");
  app.add_flag("--by-iteration", options->chart.by_iteration, "Chart against iterations, not time");
  app.add_flag("--consensus", options->chart.consensus, "Chart the disagreement of workers, not the loss");
  app.add_flag("--log-x", options->chart.log_x, "Logarithmic time");
  app.add_option(
         "--width", options->width,
         "Of the chart, in characters; of the picture, a length with its unit, such as 3.33in or column")
      ->type_name("LENGTH");
  app.add_option("--height", options->height,
                 "Of the chart, in lines; of the picture, a length such as 2.5in")
      ->type_name("LENGTH");
  add_chart_options(app, options->picture, "the chart", false);
  app.add_option("--target", options->target, "Loss to reach: when each run first has it")
      ->check(number_within(-1e300, 1e300));
  add_output(app, "--csv", options->csv, "Write the curves as CSV (- for standard output)");
  add_output(app, "--json", options->json, "Write the curves as JSON (- for standard output)");
  add_output(app, "--html", options->html, "Write a page that shows the curves");
  return [options, &common, &app] { return run(*options, common, threads_of(app, common)); };
}

}  // namespace orrery
