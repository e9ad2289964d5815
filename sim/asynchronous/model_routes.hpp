// Prices a message from one worker to another. Each rank sends its part of the model to the rank at the same
// index of the other worker.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/rank_grid.hpp"
#include "orrery/topology.hpp"
#include "sim/cost/channel_pricer.hpp"
#include "sim/cost/collective_cost.hpp"

namespace orrery {

class ModelRoutes {
 public:
  /// Keeps a reference to the topology.
  /// @param bytes  per pipeline stage: that a rank sends each time
  ModelRoutes(const Experiment& experiment, const Topology& topology, const std::vector<Bytes>& bytes);

  struct RankMessage {
    TransferPrice price;
    Bytes bytes = 0;
  };
  /// One message of each rank; a worker sends none to itself. The messages stay at their address.
  using Way = std::vector<RankMessage>;
  [[nodiscard]] const Way& way(std::uint32_t from, std::uint32_t to);

 private:
  [[nodiscard]] Way make(std::uint32_t from, std::uint32_t to);

  RankGrid grid_;
  std::vector<std::uint32_t> ranks_;  ///< of worker 0
  std::vector<Message> messages_;     ///< of each of them
  CollectivePricer pricer_;
  RoutedPricer adjusts_;
  std::unordered_map<std::uint64_t, std::unique_ptr<const Way>> ways_;
};

/// Returns the time of kernels beside the local steps, per worker: the longest of its ranks', without jitter.
/// @param values  per pipeline stage, each of which moves `bytes_each` of memory traffic
[[nodiscard]] std::vector<Picoseconds> kernel_times(const Experiment& experiment,
                                                    const std::vector<std::int64_t>& values,
                                                    Bytes bytes_each);

}  // namespace orrery
