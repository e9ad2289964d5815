#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apps/commands.hpp"
#include "apps/outputs.hpp"
#include "orrery/error.hpp"
#include "sim/run/run.hpp"
#include "validation/measured_table.hpp"
#include "validation/validate.hpp"
#include "validation/writers.hpp"

namespace orrery {
namespace {

struct ValidateOptions {
  std::vector<std::string> arguments;
  std::string json, csv, markdown;

  /// What wrote the results, for the page.
  [[nodiscard]] std::string command() const {
    std::string text = "orrery validate";
    for (const std::string& argument : arguments) text += " " + argument;
    return text + " --markdown " + markdown;
  }
};

/// Tables first, overrides after: what holds a "=" and is no file is an override.
bool is_override(const std::string& argument) {
  std::error_code ignored;
  return argument.find('=') != std::string::npos && !std::filesystem::exists(argument, ignored);
}

std::vector<std::string> tables_named(const ValidateOptions& options) {
  std::vector<std::string> names;
  std::ranges::copy_if(options.arguments, std::back_inserter(names), std::not_fn(is_override));
  if (names.empty()) {
    for (const ShippedTable& table : shipped_tables()) names.push_back(table.name);
  }
  return names;
}

/// All tables; what is wrong in any of them is reported together.
std::vector<MeasuredTable> load(const std::vector<std::string>& names, const ValidateOptions& options) {
  TableContext context{Catalog::embedded(), menus(), {}};
  std::ranges::copy_if(options.arguments, std::back_inserter(context.overrides), is_override);
  std::vector<MeasuredTable> tables;
  std::vector<Problem> problems;
  for (const std::string& name : names) {
    try {
      tables.push_back(load_measured_table(name, context));
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return tables;
}

Progress progress_on_terminal(const CommonOptions& common) {
  if (common.quiet || isatty(STDERR_FILENO) == 0) return {};
  return [](std::size_t done, std::size_t total) {
    std::fprintf(stderr, "\r%zu of %zu", done, total);
    if (done == total) std::fprintf(stderr, "\r\x1b[K");
  };
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
  app.add_option("--json", options->json, "Write the results as JSON (- for standard output)");
  app.add_option("--csv", options->csv, "Write a line per row and figure");
  app.add_option("--markdown", options->markdown, "Write a page of the results");
  return [options, &common, given = app.get_option("--threads")] {
    const unsigned all = std::max(1U, std::thread::hardware_concurrency());
    return run_validate(*options, common, given->count() > 0 ? common.threads : all);
  };
}

}  // namespace orrery
