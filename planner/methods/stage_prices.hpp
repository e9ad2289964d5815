// Computes time, memory and gradient reduction of a stage with a run of layers, of which it recomputes the
// first ones. Internal to planner/methods/.
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

/// Prices stages on the GPUs of a cluster; the plan divides layers over stages of one chunk each.
class StagePrices {
 public:
  /// @param modules  of layers that are computed again
  StagePrices(const Experiment& experiment, ModuleSet modules, Memo& memo);

  /// Returns the time of a micro-batch forward and backward, as StageTimes computes it.
  [[nodiscard]] Picoseconds pass(std::size_t stage, std::int64_t from, std::int64_t to,
                                 std::int64_t recomputed) const;
  /// Returns the exposed time of reductions and gathers of weights.
  [[nodiscard]] Picoseconds reduction(std::size_t stage, std::int64_t from, std::int64_t to);
  [[nodiscard]] bool has_room(std::size_t stage, std::int64_t from, std::int64_t to, std::int64_t recomputed);
  /// Returns true if the layers [from, to) are all of one kind.
  [[nodiscard]] bool alike(std::int64_t from, std::int64_t to) const;

 private:
  /// Identifies a stage with such a run of layers; equal runs are priced once.
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
