// Execution traces of Chakra (MLCommons): protocol buffers, and two dialects of JSON. A trace has operations
// of one rank and no model, so it is summed up and refused as an experiment.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::simulators {

extern const Importer kChakraTrace;
extern const Importer kChakraJson;

}  // namespace orrery::importers::simulators
