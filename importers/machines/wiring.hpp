// The wiring of a node that links between its GPUs make.
#pragma once

#include <span>
#include <string>

#include "importers/machines/node_parts.hpp"

namespace orrery::importers::machines {

struct FoundWiring {
  std::string kind;      ///< of cluster.node; "" for one GPU
  double links = 0;      ///< of a GPU to its switch, or between two neighbours
  std::string found;     ///< the links in words
  bool nearest = false;  ///< Orrery has no such wiring: kind is the nearest one
};

/// Returns the wiring of the GPUs. Links to the GPU itself, or to nothing in the node, do not count.
[[nodiscard]] FoundWiring wiring_of(std::span<const NodeGpu> gpus);

}  // namespace orrery::importers::machines
