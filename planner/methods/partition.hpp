// States the problem that dynamic and integer programming solve: layers of a model are divided over the
// stages of a pipeline, with the recomputation and the GPUs of each stage. Plain numbers; knows no model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "orrery/units.hpp"

namespace orrery {

/// A stage with its layers on a kind of GPU.
struct StageOption {
  Picoseconds pass_ps = 0;       ///< of a micro-batch forward and backward, with recomputation
  Picoseconds reduction_ps = 0;  ///< of its gradients, where nothing hides it
  std::int64_t recomputed = 0;   ///< of its layers, the first ones
};

struct PartitionProblem {
  std::int64_t layers = 0;
  std::size_t stages = 1;
  std::vector<std::size_t> kinds{1};  ///< per kind of GPU: stages that run on it; their sum is `stages`
  std::int64_t micro_batches = 1;
  /// The fastest way in which stage `stage` on GPUs of `kind` has room for the layers [from, to); nothing
  /// where it has none.
  std::function<std::optional<StageOption>(std::size_t stage, std::size_t kind, std::int64_t from,
                                           std::int64_t to)>
      option;
  Picoseconds least_sum = 0;  ///< of the passes of all stages, at least; 0: unknown
};

struct PlacedStage {
  std::size_t kind = 0;  ///< of GPU
  std::int64_t layers = 0;
  StageOption option;
};

/// The stages of a pipeline, in order; empty: there is no room for the model.
using Partition = std::vector<PlacedStage>;

/// Returns (m - 1) times the slowest stage, plus the sum of all, plus the longest reduction: a pipeline of m
/// micro-batches in which each stage passes them on at once (Narayanan et al. 2021, section 2.2; Zheng et al.
/// 2022, equation 2), messages between stages left out.
[[nodiscard]] Int128 cost_of(const PartitionProblem& problem, const Partition& partition);

/// Returns a partition with a slowest stage that is as fast as possible, by divide_layers(), with kinds of
/// GPU in their order; empty if none was found.
[[nodiscard]] Partition balanced_partition(const PartitionProblem& problem);
/// Returns true if every partition with such a stage costs more than `most`.
[[nodiscard]] bool costs_more(const PartitionProblem& problem, const StageOption& stage, Int128 most);

/// Returns the cheapest partition, by dynamic programming over stages, layers and GPUs that are left. Among
/// equally cheap ones it is always the same.
[[nodiscard]] Partition partition_by_dp(const PartitionProblem& problem);

}  // namespace orrery
