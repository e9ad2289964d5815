// Describes one node as a file has it: its GPUs, the links between them, its NICs. map_node() makes keys of
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "importers/common/draft.hpp"
#include "importers/common/gpu_names.hpp"
#include "importers/common/importer.hpp"

namespace orrery::importers::machines {

/// Links of a GPU to one neighbour.
struct NodeLink {
  std::string target;  ///< id of a GPU, or of a switch
  int count = 1;
  bool to_switch = false;
  FilePlace place;
};

/// The way of a GPU to its host, as PCIe counts: giga-transfers a second and lanes.
struct PciSpeed {
  double gt_per_s = 0;  ///< 0: the file gives none
  int lanes = 0;

  [[nodiscard]] bool given() const { return gt_per_s > 0 && lanes > 0; }
  /// One direction, as the catalog counts it: 16 GT/s on 16 lanes are 32 GB/s.
  [[nodiscard]] double gb_per_s() const;
};

struct NodeGpu {
  std::string id;
  GpuGuess guess;
  SourceKey told_by;         ///< the key that tells which GPU it is
  double link_gb_per_s = 0;  ///< of one NVLink or xGMI link, one direction; 0: unknown
  std::vector<NodeLink> links;
  PciSpeed pci;
  FilePlace place;
};

struct NodeNic {
  std::string name;
  std::string card;  ///< what ports of one card have in common; "" where nothing says
  double gbps = 0;   ///< 0: the file gives none
  bool rdma = true;
  bool gpu_direct = true;  ///< reads and writes the memory of GPUs
  FilePlace place;
};

struct NodeParts {
  std::vector<NodeGpu> gpus;
  std::vector<NodeNic> nics;
};

/// Puts the GPUs, their wiring and the NICs of a node into the draft.
void map_node(const NodeParts& node, const ImportContext& context, Draft& draft);

/// Maps the name of a GPU, or says that the catalog lacks it.
void map_gpu(const GpuGuess& guess, const SourceKey& key, Draft& draft);

}  // namespace orrery::importers::machines
