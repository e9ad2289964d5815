// Topology files of NCCL and RCCL: GPU, wiring of a node, NICs. The file ends at the NICs: it has neither
// nodes nor fabric, and hints have no GPU and no speeds of NICs.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::machines {

extern const Importer kNcclTopology;
/// Rings and trees that NCCL found (NCCL_GRAPH_DUMP_FILE), which describe no machine.
extern const Importer kNcclGraphs;

}  // namespace orrery::importers::machines
