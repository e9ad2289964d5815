// --calibration FILE: calibrations beside those of the catalog.
#pragma once

#include <string>
#include <vector>

#include "config/catalog/catalog.hpp"

namespace CLI {
class App;
}

namespace orrery {

/// Adds the option; `files` must live as long as `app`.
void add_calibration_files(CLI::App& app, std::vector<std::string>& files);

/// The built-in catalog with the calibrations of `files`, each known by its key `name`, else by the file's
/// name without folder and extension. @throws InputError with what is wrong in any of them.
[[nodiscard]] Catalog catalog_with(const std::vector<std::string>& files);

}  // namespace orrery
