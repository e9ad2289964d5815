#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apps/calibration_files.hpp"
#include "apps/chart_options.hpp"
#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/page_origin.hpp"
#include "apps/progress.hpp"
#include "apps/table_arguments.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "sim/run/run.hpp"
#include "studies/calibrate/left_out.hpp"
#include "studies/validate/measured_table.hpp"
#include "studies/validate/ranking.hpp"
#include "studies/validate/validate.hpp"
#include "studies/validate/writers.hpp"

namespace orrery {
namespace {

struct ValidateOptions {
  std::vector<std::string> arguments;
  std::vector<std::string> calibrations;
  std::vector<std::string> left_out;
  std::string json, csv, markdown, html;
  ChartArguments picture;
  std::string figure;  ///< of the picture; "": the first measured one
  bool ranking = false;

  /// Returns the command that wrote the results, for the page.
  [[nodiscard]] std::string command() const {
    std::string text = "orrery validate";
    for (const std::string& argument : arguments) text += " " + argument;
    for (const std::string& file : calibrations) text += " --calibration " + file;
    for (const std::string& by : left_out) text += " --leave-out " + by;
    return text + " --markdown " + markdown;
  }
};

std::vector<std::string> tables_named(const ValidateOptions& options) {
  std::vector<std::string> names = tables_among(options.arguments);
  if (names.empty()) {
    for (const ShippedTable& table : shipped_tables()) names.push_back(table.name);
  }
  return names;
}

/// Loads all tables and reports their errors together.
std::vector<MeasuredTable> load(const std::vector<std::string>& names, const ValidateOptions& options) {
  const TableContext context{catalog_with(options.calibrations), menus(), overrides_among(options.arguments)};
  std::vector<MeasuredTable> tables;
  std::vector<Diagnostic> diagnostics;
  for (const std::string& name : names) {
    try {
      tables.push_back(load_measured_table(name, context));
    } catch (const InputError& error) {
      diagnostics.insert(diagnostics.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
  return tables;
}

/// Errors of rows by fits that had not seen them; adds those of each table to `results`.
std::vector<LeftOutSummary> leave_out(const std::vector<std::string>& names, const ValidateOptions& options,
                                      unsigned threads, const CommonOptions& common,
                                      std::vector<TableResult>& results) {
  if (options.left_out.empty()) return {};
  const TableContext context{catalog_with(options.calibrations), menus(), overrides_among(options.arguments)};
  std::vector<TableText> texts;
  // Without tables on the command line those of the fits: others say nothing about rows that a fit would
  // miss.
  const bool chosen = !tables_among(options.arguments).empty();
  const std::set<std::string> fitted = fitted_tables(context.catalog);
  for (const std::string& name : names)
    if (chosen || fitted.contains(name)) texts.push_back(load_table_text(name));
  const JointProblem problem = make_joint_problem(texts, context);
  std::vector<LeftOut> by;
  for (const std::string& name : options.left_out) {
    const auto found = std::ranges::find(kLeftOutNames, name);
    by.push_back(static_cast<LeftOut>(found - kLeftOutNames.begin()));
  }
  const ProgressReport report = progress_on_terminal(common);
  const auto rows = left_out_rows(problem, by, threads, [&](const std::string&, int done, int expected) {
    if (report) report(static_cast<std::size_t>(done), static_cast<std::size_t>(expected));
  });
  add_left_out(problem, rows, results);
  std::vector<LeftOutSummary> summaries;
  for (const LeftOutRows& of : rows) summaries.push_back({of.by, left_out_groups(problem, of)});
  return summaries;
}

void print(const std::vector<TableResult>& results, const std::vector<LeftOutSummary>& summaries) {
  const TextSink sink = [](std::string_view text) { std::cout << text; };
  write_validation_text(results, sink);
  write_left_out_text(summaries, sink);
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
}

/// The tables that name cases, where none were chosen.
std::vector<MeasuredTable> tables_to_rank(std::vector<MeasuredTable> tables, const ValidateOptions& options) {
  if (!tables_among(options.arguments).empty()) return tables;
  std::erase_if(tables, [](const MeasuredTable& table) {
    return std::ranges::all_of(table.rows, [](const MeasuredRow& row) { return row.case_name.empty(); });
  });
  return tables;
}

/// Checks whether predictions rank the right plan first, instead of reporting errors.
int run_ranking(const ValidateOptions& options, const CommonOptions& common, unsigned threads) {
  const std::vector<std::string> names = tables_named(options);
  const std::vector<MeasuredTable> tables = tables_to_rank(load(names, options), options);
  Outputs outputs("");
  for (const std::string& name : names) outputs.protect(name);
  OutputFile* json = outputs.open(options.json);
  const std::vector<RankedCase> cases = rank_plans(tables, threads, progress_on_terminal(common));
  if (json != nullptr) write_ranking_json(cases, to(*json));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output())
    write_ranking_text(cases, [](std::string_view text) { std::cout << text; });
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
  return kDone;
}

int run_validate(const ValidateOptions& options, const CommonOptions& common, unsigned threads) {
  const std::vector<std::string> names = tables_named(options);
  const std::vector<MeasuredTable> tables = load(names, options);
  Outputs outputs("");
  for (const std::string& name : names) outputs.protect(name);
  for (const std::string& file : options.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  OutputFile* csv = outputs.open(options.csv);
  OutputFile* page = outputs.open(options.markdown);
  OutputFile* html = outputs.open(options.html);
  if (!options.figure.empty() && !options.picture.any())
    throw InputError(
        {Diagnostic{"command line", 0, 0, "", "--picture does nothing without --svg, --png or --pdf"}});
  const ChartFiles picture(options.picture, outputs);
  std::vector<TableResult> results = validate(tables, threads, progress_on_terminal(common));
  mark_fitted(catalog_with(options.calibrations), results);
  const std::vector<LeftOutSummary> summaries = leave_out(names, options, threads, common, results);
  if (json != nullptr) write_validation_json(results, to(*json));
  if (csv != nullptr) write_validation_csv(results, to(*csv));
  if (html != nullptr) write_validation_html(results, to(*html));
  if (page != nullptr) write_validation_page(results, options.command(), page_to(*page, common));
  if (picture.any()) picture.write(validation_scene(results, options.figure));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print(results, summaries);
  return kDone;
}

}  // namespace

Command add_validate(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ValidateOptions>();
  app.add_option(
         "tables", options->arguments,
         "CSV files or names of orrery list measurements (all of them when left out), and key=value for "
         "every row")
      ->type_name(kExperiments);
  add_calibration_files(app, options->calibrations);
  CLI::Option* left_out =
      app.add_option(
             "--leave-out", options->left_out,
             "Also predict rows by fits that have not seen those of their model, stack, gpu or fabric")
          ->type_name("NAMES")
          ->delimiter(',')
          ->check(one_of({kLeftOutNames.begin(), kLeftOutNames.end()}));
  add_output(app, "--json", options->json, "Write the results as JSON (- for standard output)");
  CLI::Option* csv = add_output(app, "--csv", options->csv, "Write a line per row and figure");
  CLI::Option* page =
      add_output(app, "--markdown", options->markdown, "Write a page of Markdown of the results");
  CLI::Option* html =
      add_output(app, "--html", options->html, "Write a page that shows predictions beside measured runs");
  const std::vector<CLI::Option*> pictures =
      add_chart_options(app, options->picture, "predicted over measured figures");
  CLI::Option* figure =
      app.add_option(
             "--picture", options->figure,
             "The figure that is drawn, such as tpot_s; by default step_time_s, or the first measured one")
          ->type_name("KEY");
  CLI::Option* ranking =
      app.add_flag(
             "--ranking", options->ranking,
             "Say instead whether predictions put the right plan first, of plans that were all tried on "
             "one cluster")
          ->excludes(csv)
          ->excludes(page)
          ->excludes(html)
          ->excludes(left_out)
          ->excludes(figure);
  for (CLI::Option* picture : pictures) ranking->excludes(picture);
  return [options, &common, &app] {
    const unsigned threads = threads_of(app, common);
    return options->ranking ? run_ranking(*options, common, threads)
                            : run_validate(*options, common, threads);
  };
}

}  // namespace orrery
