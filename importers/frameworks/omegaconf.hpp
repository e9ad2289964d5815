// Interpolations of OmegaConf and Hydra in YAML: ${model.hidden_size}, ${.name}, ${multiply:${a}, 2}.
#pragma once

#include "importers/common/importer.hpp"
#include "importers/common/source_keys.hpp"

namespace orrery::importers::frameworks {

/// Returns the keys with the interpolations that have a value in their places. Others stay as they are: keys
/// that are in no file, and resolvers other than multiply, add, divide_ceil, divide_floor, oc.env.
[[nodiscard]] SourceKeys interpolated(const SourceKeys& keys, const ImportContext& context);

}  // namespace orrery::importers::frameworks
