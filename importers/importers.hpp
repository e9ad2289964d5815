// The menu of kinds of files that orrery import reads. A kind is a file of code and a row here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "importers/common/importer.hpp"

namespace orrery::importers {

/// Returns the menu. The first row that recognises a file reads it: special kinds stand before general ones.
[[nodiscard]] std::span<const Importer> importers();
[[nodiscard]] std::vector<std::string> importer_names();

}  // namespace orrery::importers
