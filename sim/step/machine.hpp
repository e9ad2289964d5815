// A cluster's network as runs use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "orrery/cluster.hpp"
#include "orrery/content_hash.hpp"
#include "orrery/topology.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

struct Machine {
  std::unique_ptr<const Topology> topology;
  std::vector<std::uint32_t> link_kinds;  ///< number_link_kinds()

  [[nodiscard]] std::size_t bytes() const;
};

/// Clusters with equal wiring share it.
/// @throws InputError where the cluster cannot be wired so
[[nodiscard]] std::shared_ptr<const Machine> machine_of(const Cluster& cluster, Memo& memo);

/// The part of a cluster that its topology is made from: all but what its GPUs compute.
[[nodiscard]] ContentHash machine_key(const Cluster& cluster);

}  // namespace orrery
