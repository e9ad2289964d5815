// Reads YAML of GPT-NeoX: of a model, of a cluster, or both.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

extern const Importer kGptNeox;

}  // namespace orrery::importers::frameworks
