#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/calibration_files.hpp"
#include "apps/outputs.hpp"
#include "apps/progress.hpp"
#include "apps/table_arguments.hpp"
#include "comparison/compare.hpp"
#include "comparison/writers.hpp"
#include "orrery/error.hpp"
#include "sim/io/document.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

struct CompareOptions {
  std::vector<std::string> arguments;
  std::vector<std::string> vary;
  std::vector<std::string> calibrations;
  std::string json, csv;
};

[[noreturn]] void refuse(const std::string& message) {
  throw InputError({Problem{"command line", 0, 0, "", message}});
}

ComparisonRequest request_of(const CompareOptions& options) {
  ComparisonRequest request{
      {}, overrides_among(options.arguments), {}, catalog_with(options.calibrations), menus()};
  for (const std::string& text : options.vary) request.variations.push_back(parse_variation(text));
  const std::vector<std::string> files = tables_among(options.arguments);
  if (files.empty()) refuse("an experiment file is missing");
  if (std::ranges::count(files, "-") > 1) refuse("standard input is named twice");
  for (const std::string& file : files) request.experiments.push_back({file, read_text(file)});
  return request;
}

/// Columns of the terminal; off one, those of the other commands' text.
std::size_t text_columns() {
  constexpr std::size_t kUsual = 100;
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? size.ws_col : kUsual;
}

void print(const Comparison& comparison) {
  write_comparison_text(comparison, text_columns(), colour_on_standard_output(),
                        [](std::string_view text) { std::cout << text; });
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
}

int run_compare(const CompareOptions& options, const CommonOptions& common, unsigned threads) {
  const ComparisonRequest request = request_of(options);
  Outputs outputs("");
  for (const ExperimentText& experiment : request.experiments) outputs.protect(experiment.source);
  for (const std::string& file : options.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  OutputFile* csv = outputs.open(options.csv);
  const Comparison comparison = compare(request, threads, progress_on_terminal(common));
  if (json != nullptr) write_comparison_json(comparison, to(*json));
  if (csv != nullptr) write_comparison_csv(comparison, to(*csv));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print(comparison);
  return std::ranges::any_of(comparison.rows, &ComparedRow::feasible) ? kDone : kInfeasible;
}

}  // namespace

Command add_compare(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("experiments", options->arguments,
                 "JSON or YAML files, - for standard input, and key=value for every one of them");
  app.add_option("--vary", options->vary,
                 "KEY=V1,V2,...: every experiment with each of these values; several make the product")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_calibration_files(app, options->calibrations);
  app.add_option("--json", options->json,
                 "Write the rows with their results as JSON (- for standard output)");
  app.add_option("--csv", options->csv, "Write a line per row");
  return [options, &common, &app] { return run_compare(*options, common, threads_of(app, common)); };
}

}  // namespace orrery
