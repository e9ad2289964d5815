#include "sim/bounds/step_time_bound.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/bounds/block_times.hpp"
#include "sim/bounds/scheduled_passes.hpp"
#include "sim/cost/issue_time.hpp"
#include "workloads/programs/stages.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

/// The least times of the passes of chunks.
class LeastPassTimes {
 public:
  LeastPassTimes(const Experiment& experiment, const LeastTimes& times)
      : experiment_(experiment), times_(times.blocks), stages_(times.stages), weights_(times.weights) {}

  /// Returns the largest bound of any pipeline rank.
  [[nodiscard]] StepTimeBound longest() const {
    StepTimeBound longest;
    for (const Stage& stage : stages_.list()) {
      longest.passes = std::max(longest.passes, passes(stage));
      const LeastWeightTime& weights = weights_[static_cast<std::size_t>(stage.index)];
      longest.weights = std::max(longest.weights, times(weights.moving, experiment_.simulation.steps));
    }
    return longest;
  }

 private:
  [[nodiscard]] Picoseconds passes(const Stage& stage) const {
    const auto [before, after] = around(stage);
    // A pass fills the waits of the one beside it.
    if (experiment_.plan.overlap_expert_parallel)
      return capped_sum(before, capped_sum(busiest_stream(stage), after));
    const Picoseconds exposed = weights_[static_cast<std::size_t>(stage.index)].exposed;
    const Picoseconds own = capped_sum(busy(stage), times(exposed, experiment_.simulation.steps - 1));
    return capped_sum(before, capped_sum(own, std::max(after, exposed)));
  }

  static Picoseconds times(Picoseconds time, std::int64_t count) {
    return static_cast<Picoseconds>(std::min<Int128>(Int128{time} * count, kLongest));
  }

  /// On the fastest GPUs of the rank.
  template <class Time>
  [[nodiscard]] Picoseconds fastest(const Stage& stage, Time time) const {
    Picoseconds least = 0;
    bool first = true;
    for (const GpuBlockTimes& gpu : times_.of_rank[static_cast<std::size_t>(stage.index)]) {
      const Picoseconds found = time(gpu);
      least = first ? found : std::min(least, found);
      first = false;
    }
    return least;
  }

  static LeastBlockTime of(const GpuBlockTimes& gpu, const PlacedBlock& block, PassKind kind) {
    return gpu.least[block.kind][static_cast<std::size_t>(kind)];
  }

  /// Returns the time from the beginning of a pass to its last kernel, or to its output.
  [[nodiscard]] static Picoseconds pass(const GpuBlockTimes& gpu, const Chunk& chunk, PassKind kind,
                                        Picoseconds LeastBlockTime::*until) {
    Picoseconds sum = 0;
    const PlacedBlock& last = kind == PassKind::forward ? chunk.blocks.back() : chunk.blocks.front();
    for (const PlacedBlock& block : chunk.blocks) {
      const LeastBlockTime time = of(gpu, block, kind);
      sum = capped_sum(sum, &block == &last ? time.*until : time.to_next());
    }
    return sum;
  }

  /// Returns the sum of `of_pass` over all passes of the rank.
  template <class OfPass>
  [[nodiscard]] Picoseconds over_passes(const Stage& stage, OfPass of_pass) const {
    const Plan& plan = experiment_.plan;
    const std::int64_t passes = plan.micro_batches_per_copy() * experiment_.simulation.steps;
    return fastest(stage, [&](const GpuBlockTimes& gpu) {
      Int128 sum = 0;
      for (const Chunk& chunk : stage.chunks) {
        if (chunk.blocks.empty()) continue;
        const auto backward = [&](BackwardSplit split) {
          Int128 there = 0;
          for (const PassKind kind : backward_kinds(split)) there += of_pass(gpu, chunk, kind);
          return there;
        };
        const BackwardSplit split = splits_backward(plan);
        Int128 micro_batch = of_pass(gpu, chunk, PassKind::forward);
        micro_batch += split == BackwardSplit::some
                           ? std::min(backward(BackwardSplit::whole), backward(BackwardSplit::halves))
                           : backward(split);
        sum += micro_batch * passes;
      }
      return static_cast<Picoseconds>(std::min<Int128>(sum, kLongest));
    });
  }

  /// All passes of the rank, each until its last kernel.
  [[nodiscard]] Picoseconds busy(const Stage& stage) const {
    return over_passes(stage, [](const GpuBlockTimes& gpu, const Chunk& chunk, PassKind kind) {
      return pass(gpu, chunk, kind, &LeastBlockTime::computing);
    });
  }

  /// Returns the time of the rank's busiest stream.
  [[nodiscard]] Picoseconds busiest_stream(const Stage& stage) const {
    Picoseconds most = 0;
    for (std::size_t stream = 0; stream < kStreamCount; ++stream) {
      const auto on_stream = [stream](const GpuBlockTimes& gpu, const Chunk& chunk, PassKind kind) {
        Picoseconds sum = 0;
        for (const PlacedBlock& block : chunk.blocks)
          sum = capped_sum(sum, of(gpu, block, kind).busy[stream]);
        return sum;
      };
      most = std::max(most, over_passes(stage, on_stream));
    }
    return most;
  }

  /// Returns the time in the virtual stages before the rank's first one: forward before its passes, and
  /// backward after them.
  [[nodiscard]] std::pair<Picoseconds, Picoseconds> around(const Stage& stage) const {
    const bool ends_on_the_way_back = splits_backward(experiment_.plan) == BackwardSplit::whole;
    std::int64_t first = stage.map.virtual_stages();
    for (std::size_t chunk = 0; chunk < stage.chunks.size(); ++chunk)
      first = std::min(first, stage.map.virtual_stage({stage.index, static_cast<std::int64_t>(chunk)}));
    std::pair<Picoseconds, Picoseconds> sums;
    for (std::int64_t s = 0; s < first; ++s) {
      sums.first = capped_sum(sums.first, through(s, PassKind::forward));
      if (ends_on_the_way_back) sums.second = capped_sum(sums.second, through(s, PassKind::backward));
    }
    return sums;
  }

  [[nodiscard]] Picoseconds through(std::int64_t virtual_stage, PassKind kind) const {
    const ChunkPlace at = stages_.list().front().map.place(virtual_stage, 0);
    const Stage& stage = stages_.list()[static_cast<std::size_t>(at.rank)];
    const Chunk& chunk = stage.chunks[static_cast<std::size_t>(at.chunk)];
    if (chunk.blocks.empty()) return 0;
    return fastest(
        stage, [&](const GpuBlockTimes& gpu) { return pass(gpu, chunk, kind, &LeastBlockTime::to_output); });
  }

  static constexpr Picoseconds kLongest = Picoseconds{1} << 62;

  const Experiment& experiment_;
  const BlockTimes& times_;
  const Stages& stages_;
  const std::vector<LeastWeightTime>& weights_;
};

}  // namespace

StepTimeBound least_makespan(const PreparedExperiment& prepared, Memo& memo) {
  const Experiment& experiment = prepared.experiment;
  if (is_asynchronous(experiment)) return {};
  const LeastTimes times = least_times(experiment, prepared.layout, memo);
  return LeastPassTimes(experiment, times).longest();
}

Picoseconds least_scheduled_makespan(const PreparedExperiment& prepared, Memo& memo) {
  const Experiment& experiment = prepared.experiment;
  if (is_asynchronous(experiment)) return 0;
  return scheduled_passes(
      experiment, least_times(experiment, prepared.layout, memo, experiment.plan.overlap_expert_parallel));
}

}  // namespace orrery
