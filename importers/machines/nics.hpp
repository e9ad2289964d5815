// The NICs of a node as keys of a fabric.
#pragma once

#include <vector>

#include "importers/machines/node_parts.hpp"

namespace orrery::importers::machines {

/// Maps the NICs of the fastest kind that reach GPUs (RDMA), ports of one card together; the others are
/// ignored by name.
void map_nics(const std::vector<NodeNic>& nics, Draft& draft);

}  // namespace orrery::importers::machines
