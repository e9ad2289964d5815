#include "config/catalog/calibration_files.hpp"

#include <filesystem>
#include <utility>

#include "config/text/document.hpp"
#include "orrery/error.hpp"

namespace orrery {

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
