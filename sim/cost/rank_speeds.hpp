// Gives the speeds of ranks: classes of GPUs, and stragglers, which compute more slowly than their class,
// always or at random from step to step.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/cost/compute_cost.hpp"

namespace orrery {

class RankSpeeds {
 public:
  RankSpeeds() = default;
  /// Rank r is GPU r.
  explicit RankSpeeds(const Experiment& experiment);
  /// Sets the prices of Workload::kernel_sequences on each class of GPU of a mixed cluster.
  void set_prices(std::vector<std::vector<ComputePrice>> prices_of_class) {
    prices_of_class_ = std::move(prices_of_class);
  }

  /// Returns true if all ranks compute alike in all steps.
  [[nodiscard]] bool even() const { return jitter_ == 0 && speed_.empty() && class_of_rank_.empty(); }
  /// Returns the time of a kernel of the rank in that step over its nominal time: (1 + jitter E) / speed,
  /// with E exponential of mean 1, drawn from the seed for every rank and step.
  [[nodiscard]] double factor(std::uint32_t rank, std::int32_t step) const;
  /// Returns the time that the rank needs in that step for kernel sequence `work`, which takes `duration` on
  /// a GPU of class 0.
  [[nodiscard]] Picoseconds duration(std::uint32_t work, Picoseconds duration, std::uint32_t rank,
                                     std::int32_t step) const;
  /// Ranks of different numbers may differ; 0 where all are even.
  [[nodiscard]] std::uint64_t kind(std::uint32_t rank) const;

 private:
  void list_classes(const Cluster& cluster);
  void list_speeds(const Cluster& cluster);
  void number_kinds();

  double jitter_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<double> speed_;                 ///< per rank; empty: all 1
  std::vector<std::uint32_t> class_of_rank_;  ///< of GPU; empty: all of class 0
  std::vector<std::uint64_t> kind_;           ///< per rank; empty: all 0
  std::vector<std::vector<ComputePrice>> prices_of_class_;
};

/// Returns the time of kernels on the slowest of the nodes that wait for each other, over that on a single
/// node: 1 + straggler_share (1/2 + ... + 1/n), the mean of the largest of n exponential delays less that of
/// one.
[[nodiscard]] double slowest_node(const Experiment& experiment);

}  // namespace orrery
