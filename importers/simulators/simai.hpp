// Files of SimAI (Alibaba): the workload, whose first line is the plan, and the topology, a list of links.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::simulators {

extern const Importer kSimaiWorkload;
extern const Importer kSimaiTopology;

}  // namespace orrery::importers::simulators
