#include "apps/calibration_files.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "config/text/document.hpp"
#include "orrery/error.hpp"

namespace orrery {

void add_calibration_files(CLI::App& app, std::vector<std::string>& files) {
  app.add_option("--calibration", files,
                 "A calibration file that stack and calibration keys may name, as orrery calibrate writes; "
                 "repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Catalog catalog_with(const std::vector<std::string>& files) {
  Catalog catalog = Catalog::embedded();
  std::vector<Problem> problems;
  for (const std::string& file : files) {
    try {
      catalog =
          catalog.with_calibration(read_text(file), file, std::filesystem::path(file).stem().string()).first;
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return catalog;
}

}  // namespace orrery
