#include "config/catalog/calibration_files.hpp"

#include <filesystem>
#include <utility>

#include "config/text/document.hpp"
#include "orrery/error.hpp"

namespace orrery {

Catalog catalog_with(const std::vector<std::string>& files) {
  Catalog catalog = Catalog::embedded();
  std::vector<Diagnostic> diagnostics;
  for (const std::string& file : files) {
    try {
      catalog =
          catalog.with_calibration(read_text(file), file, std::filesystem::path(file).stem().string()).first;
    } catch (const InputError& error) {
      diagnostics.insert(diagnostics.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
  return catalog;
}

}  // namespace orrery
