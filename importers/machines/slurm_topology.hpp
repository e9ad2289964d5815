// Topologies of Slurm (topology.conf, topology.yaml) and of NVIDIA's topograph: switches above nodes, and
// blocks of nodes. They have no rates.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::machines {

extern const Importer kSlurmTopology;
extern const Importer kTopologyYaml;

}  // namespace orrery::importers::machines
