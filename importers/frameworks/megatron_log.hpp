// Reads logs of Megatron-LM: the block of arguments at their head, with every default, and the times of
// steps.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

extern const Importer kMegatronLog;

}  // namespace orrery::importers::frameworks
