// Reads TOML of torchtitan. A model stands there by the name of a flavor alone: the catalog has its sizes.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

extern const Importer kTorchtitan;

}  // namespace orrery::importers::frameworks
