// InfraGraph (Keysight): devices of components and links, instances of them, and connections. The device that
// has accelerators is the node.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::machines {

extern const Importer kInfragraph;

}  // namespace orrery::importers::machines
