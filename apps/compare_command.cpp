#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/chart_options.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/page_origin.hpp"
#include "apps/progress.hpp"
#include "apps/space_arguments.hpp"
#include "apps/table_arguments.hpp"
#include "apps/terminal_chart.hpp"
#include "apps/text_columns.hpp"
#include "config/catalog/calibration_files.hpp"
#include "config/schema/menus.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"
#include "planner/methods/choose_plan.hpp"
#include "sim/run/run.hpp"
#include "studies/compare/compare.hpp"
#include "studies/compare/writers.hpp"

namespace orrery {
namespace {

struct CompareOptions {
  SpaceArguments space;  ///< its files are the experiments
  std::string json, csv, html;
  std::string solve;   ///< a key; "" for none
  std::string wanted;  ///< FIGURE=VALUE
  bool why = false;
  ChartArguments picture;
  std::string chart;  ///< X:Y, "none", or empty: where one is worth drawing
};

[[noreturn]] void refuse_comparison(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

ComparisonRequest request_of(const CompareOptions& options) {
  SpaceDescription space = description_of(options.space);
  ComparisonRequest request{{},
                            overrides_among(options.space.files),
                            std::move(space.keys),
                            std::move(space.conditions),
                            catalog_with(options.space.calibrations),
                            menus_that_choose_plans()};
  request.why = options.why;
  if (!options.solve.empty()) request.solve = parse_solve(options.solve, options.wanted);
  const std::vector<std::string> files = tables_among(options.space.files);
  if (files.empty()) refuse_comparison("an experiment file is missing");
  if (std::ranges::count(files, "-") > 1) refuse_comparison("standard input is named twice");
  for (const std::string& file : files) request.experiments.push_back({file, read_text(file)});
  return request;
}

/// Returns true if the values, all above 0, differ by more than a picture shows on a linear axis.
bool spans(const ChartLines& lines, double factor, double std::pair<double, double>::*axis) {
  double least = 0;
  double most = 0;
  for (const ChartLine& line : lines.lines) {
    for (const auto& point : line.points) {
      if (point.*axis <= 0) return false;
      least = least > 0 ? std::min(least, point.*axis) : point.*axis;
      most = std::max(most, point.*axis);
    }
  }
  return most > factor * least;
}

std::string chart_of(const ChartLines& lines, std::size_t columns) {
  constexpr std::size_t kAxis = 16;
  Chart chart;
  chart.x_label = lines.x;
  chart.y_label = lines.y;
  chart.log_x = spans(lines, 8, &std::pair<double, double>::first);
  chart.log_y = spans(lines, 30, &std::pair<double, double>::second);
  chart.width = static_cast<int>(std::clamp<std::size_t>(columns, 40 + kAxis, 100) - kAxis);
  for (const ChartLine& line : lines.lines) chart.series.push_back({line.name, line.points});
  return draw_chart(chart);
}

void print(const Comparison& comparison, const std::optional<ChartLines>& chart) {
  const auto columns = static_cast<std::size_t>(text_columns());
  write_comparison_text(comparison, columns, colour_on_standard_output(),
                        [](std::string_view text) { std::cout << text; });
  if (chart) std::cout << "\n" << chart_of(*chart, columns);
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
}

/// Returns the chart to draw: the one that --chart names, or by default one that shows something.
std::optional<ChartLines> wanted_chart(const Comparison& comparison, const std::string& chart) {
  if (chart == "none" || (chart.empty() && !deserves_chart(comparison))) return std::nullopt;
  return chart_lines(comparison, chart);
}

int run_compare(const CompareOptions& options, const CommonOptions& common, unsigned threads) {
  const ComparisonRequest request = request_of(options);
  Outputs outputs("");
  for (const ExperimentText& experiment : request.experiments) outputs.protect(experiment.source);
  outputs.protect(options.space.space);
  for (const std::string& file : options.space.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  OutputFile* csv = outputs.open(options.csv);
  OutputFile* page = outputs.open(options.html);
  const ChartFiles picture(options.picture, outputs);
  const Comparison comparison = compare(request, threads, progress_on_terminal(common));
  const std::optional<ChartLines> chart = wanted_chart(comparison, options.chart);
  if (json != nullptr) write_comparison_json(comparison, to(*json));
  if (csv != nullptr) write_comparison_csv(comparison, to(*csv));
  if (page != nullptr) write_comparison_page(comparison, page_to(*page, common));
  if (picture.any()) picture.write(comparison_scene(comparison, chart));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print(comparison, chart);
  return std::ranges::any_of(comparison.rows, &ComparedRow::feasible) ? kDone : kInfeasible;
}

}  // namespace

Command add_compare(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("experiments", options->space.files,
                 "JSON or YAML files, - for standard input, and key=value for every one of them")
      ->type_name(kExperiments);
  app.add_option("--space", options->space.space,
                 "A file with keys, their values and conditions, for every experiment")
      ->type_name(kFile);
  add_space_options(app, options->space);
  CLI::Option* solve =
      app.add_option(
             "--solve", options->solve,
             "KEY with a number: finds, in every row, the least value of three significant digits at which "
             "--for is reached")
          ->type_name("KEY");
  CLI::Option* wanted =
      app.add_option("--for", options->wanted,
                     "FIGURE=VALUE of --solve, such as utilization=0.9; FIGURE is a name of the "
                     "CSV's header")
          ->type_name("FIGURE=VALUE");
  solve->needs(wanted);
  wanted->needs(solve);
  app.add_flag("--why", options->why,
               "Attribute what each row's step takes more or less than that of the first, term by term");
  add_output(app, "--json", options->json,
             "Write the rows with their results as JSON (- for standard output)");
  add_output(app, "--csv", options->csv, "Write a line per row");
  add_output(app, "--html", options->html, "Write a page that shows the rows and why they differ");
  add_chart_options(app, options->picture, "the chart, or without one where the time of each row goes,");
  app.add_option(
         "--chart", options->chart,
         "X:Y to draw below the table: a varied key and a figure, such as cluster.nodes:samples_per_s; "
         "none for no chart")
      ->type_name("X:Y");
  return [options, &common, &app] { return run_compare(*options, common, threads_of(app, common)); };
}

}  // namespace orrery
