// Reads config.json of Hugging Face models.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::models {

extern const Importer kHuggingFace;

}  // namespace orrery::importers::models
