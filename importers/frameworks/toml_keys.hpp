// Keys and values of a TOML file, each with its place.
#pragma once

#include "importers/common/source_keys.hpp"

namespace orrery::importers::frameworks {

/// @throws InputError with file, line and column where it is no TOML
[[nodiscard]] SourceKeys toml_keys(const SourceFile& file);

}  // namespace orrery::importers::frameworks
