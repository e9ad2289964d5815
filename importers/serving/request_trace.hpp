// Reads traces of requests: Azure's, BurstGPT's and Vidur's tables, Mooncake's lines.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::serving {

extern const Importer kRequestTrace;

}  // namespace orrery::importers::serving
