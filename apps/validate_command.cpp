#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/calibration_files.hpp"
#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/progress.hpp"
#include "apps/table_arguments.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "sim/run/run.hpp"
#include "studies/validate/measured_table.hpp"
#include "studies/validate/validate.hpp"
#include "studies/validate/writers.hpp"

namespace orrery {
namespace {

struct ValidateOptions {
  std::vector<std::string> arguments;
  std::vector<std::string> calibrations;
  std::string json, csv, markdown;

  /// What wrote the results, for the page.
  [[nodiscard]] std::string command() const {
    std::string text = "orrery validate";
    for (const std::string& argument : arguments) text += " " + argument;
    for (const std::string& file : calibrations) text += " --calibration " + file;
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

/// All tables; what is wrong in any of them is reported together.
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

void print(const std::vector<TableResult>& results) {
  write_validation_text(results, [](std::string_view text) { std::cout << text; });
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
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
  const std::vector<TableResult> results = validate(tables, threads, progress_on_terminal(common));
  if (json != nullptr) write_validation_json(results, to(*json));
  if (csv != nullptr) write_validation_csv(results, to(*csv));
  if (page != nullptr) write_validation_page(results, options.command(), to(*page));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print(results);
  return kDone;
}

}  // namespace

Command add_validate(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ValidateOptions>();
  app.add_option(
      "tables", options->arguments,
      "CSV files or names of orrery list measurements (all of them when left out), and key=value for "
      "every row");
  add_calibration_files(app, options->calibrations);
  add_output(app, "--json", options->json, "Write the results as JSON (- for standard output)");
  add_output(app, "--csv", options->csv, "Write a line per row and figure");
  add_output(app, "--markdown", options->markdown, "Write a page of the results");
  return [options, &common, &app] { return run_validate(*options, common, threads_of(app, common)); };
}

}  // namespace orrery
