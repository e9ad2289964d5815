// Keeps the GPUs of a cluster that are free, and chooses those of a job by the rules of placement.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "orrery/ids.hpp"
#include "orrery/jobs.hpp"

namespace orrery {

class NodePool {
 public:
  NodePool(std::int64_t nodes, std::int64_t gpus_per_node, std::int64_t nodes_per_leaf);

  /// Returns GPUs for a job in the order of its ranks, without taking them; nullopt: it has to wait. On an
  /// empty cluster every job fits that is no larger.
  [[nodiscard]] std::optional<std::vector<GpuId>> find(std::int64_t gpus, JobPlacement placement) const;
  void take(const std::vector<GpuId>& gpus) { set(gpus, false); }
  void give_back(const std::vector<GpuId>& gpus) { set(gpus, true); }
  [[nodiscard]] bool has(const std::vector<GpuId>& gpus) const;
  [[nodiscard]] std::int64_t free_gpus() const { return free_gpus_; }

 private:
  /// Nodes without a job below a leaf switch.
  struct Leaf {
    std::size_t number = 0;
    std::vector<std::size_t> idle;
  };

  void set(const std::vector<GpuId>& gpus, bool free);
  [[nodiscard]] std::vector<Leaf> leaves() const;
  [[nodiscard]] std::optional<std::vector<std::size_t>> whole_nodes(std::size_t count,
                                                                    JobPlacement placement) const;
  [[nodiscard]] std::optional<std::vector<std::size_t>> below_fewest_leaves(std::size_t count) const;
  /// The node for `gpus` of them; `but`: nodes that are taken.
  [[nodiscard]] std::optional<std::size_t> part_of_node(std::size_t gpus, JobPlacement placement,
                                                        const std::vector<std::size_t>& but) const;
  void append(std::size_t node, std::size_t gpus, std::vector<GpuId>& out) const;

  std::size_t per_node_;
  std::size_t per_leaf_;
  std::vector<bool> free_;               ///< by GPU
  std::vector<std::size_t> free_count_;  ///< by node
  std::int64_t free_gpus_;
  std::size_t idle_nodes_;
};

}  // namespace orrery
