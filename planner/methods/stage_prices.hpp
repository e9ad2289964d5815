// What a stage takes, holds and reduces with a run of layers, of which it computes the first ones again.
// Internal to planner/methods/.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "orrery/experiment.hpp"
#include "sim/bounds/block_times.hpp"
#include "sim/bounds/stage_times.hpp"
#include "sim/step/memo.hpp"
#include "workloads/communicators/communicator_layout.hpp"

namespace orrery {

/// On the GPUs that a cluster has; the plan divides layers over stages of one chunk each.
class StagePrices {
 public:
  /// @param modules  of layers that are computed again
  StagePrices(const Experiment& experiment, ModuleSet modules, Memo& memo);

  /// Of a micro-batch there and back, as StageTimes has it.
  [[nodiscard]] Picoseconds pass(std::size_t stage, std::int64_t from, std::int64_t to,
                                 std::int64_t recomputed) const;
  /// What sums and gathers of weights take that nothing hides.
  [[nodiscard]] Picoseconds reduction(std::size_t stage, std::int64_t from, std::int64_t to);
  [[nodiscard]] bool has_room(std::size_t stage, std::int64_t from, std::int64_t to, std::int64_t recomputed);
  /// Whether the layers [from, to) are all of one kind.
  [[nodiscard]] bool alike(std::int64_t from, std::int64_t to) const;

 private:
  /// Of a stage with such a run of layers: equal runs are priced once.
  using RunKey = std::tuple<std::size_t, std::uint32_t, std::int64_t>;

  [[nodiscard]] Stages divided(std::size_t stage, std::int64_t from, std::int64_t to,
                               std::int64_t recomputed);
  [[nodiscard]] std::uint32_t number_of_run(std::int64_t from, std::int64_t to);

  Experiment experiment_;
  CommunicatorLayout layout_;
  BlockTimes kept_;
  BlockTimes again_;
  StageTimes kept_times_;
  StageTimes again_times_;
  WeightTimes weights_;
  ModelBlocks blocks_;  ///< kinds of kept_, then those of again_; layers as last asked for
  ContentTable runs_;
  std::map<RunKey, bool> room_;
  std::map<RunKey, Picoseconds> reductions_;
};

}  // namespace orrery
