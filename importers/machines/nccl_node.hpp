// The GPUs and NICs of a topology file of NCCL or RCCL (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE).
#pragma once

#include "importers/machines/node_parts.hpp"
#include "importers/machines/xml_tree.hpp"

namespace orrery::importers::machines {

/// Files that users feed to NCCL have `cpu` and `pci` alone: GPUs and NICs are told by their class there.
[[nodiscard]] bool is_hint(const XmlElement& system);
[[nodiscard]] NodeParts nccl_node(const XmlElement& system, const SourceFile& file);
/// Returns the number of PCI functions that have no class and nothing below them, so that nothing tells what
/// they are.
[[nodiscard]] std::size_t nameless_functions(const XmlElement& system);

}  // namespace orrery::importers::machines
