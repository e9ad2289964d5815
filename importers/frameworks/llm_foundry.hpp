// Reads YAML of MosaicML's llm-foundry.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

extern const Importer kLlmFoundry;

}  // namespace orrery::importers::frameworks
