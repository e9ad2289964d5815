// Files of ASTRA-sim: the analytical network, a dimension after the other, and the system. Dimensions are a
// node and a fabric.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::simulators {

extern const Importer kAstraNetwork;
extern const Importer kAstraSystem;

}  // namespace orrery::importers::simulators
