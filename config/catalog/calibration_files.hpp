// Calibrations from files, beside those of the catalog. Used by the command line and the library's face.
#pragma once

#include <string>
#include <vector>

#include "config/catalog/catalog.hpp"

namespace orrery {

/// Returns the built-in catalog with the calibrations of `files`, each known by its key `name`, else by the
/// file's name without folder and extension. @throws InputError with all errors in any of them.
[[nodiscard]] Catalog catalog_with(const std::vector<std::string>& files);

}  // namespace orrery
