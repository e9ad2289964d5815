#include "sim/bounds/block_times.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "orrery/rank_grid.hpp"
#include "sim/cost/issue_time.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/step/communicator_prices.hpp"
#include "sim/step/machine.hpp"
#include "workloads/weights/weight_movements.hpp"

namespace orrery {
namespace {

RankSpeeds speeds_of(const Experiment& experiment, const Workload& workload) {
  Experiment steady = experiment;
  steady.software.jitter = 0;
  steady.software.image_loading_jitter = 0;
  RankSpeeds speeds(steady);
  if (experiment.cluster.gpu_classes() > 1)
    speeds.set_prices(price_kernel_sequences_by_class(workload, experiment));
  return speeds;
}

class BlockClock {
 public:
  BlockClock(const Experiment& experiment, const CommunicatorLayout& layout, ModelBlocks& blocks, Memo& memo)
      : plan_(experiment.plan),
        layout_(layout),
        communicators_(experiment, layout, machine_of(experiment.cluster, memo), memo) {
    model_family(experiment.model.kind).write_steps(experiment, blocks, workload_);
    compute_ = price_kernel_sequences(workload_, experiment);
    speeds_ = speeds_of(experiment, workload_);
  }

  [[nodiscard]] const RankSpeeds& speeds() const { return speeds_; }

  std::vector<std::vector<GpuBlockTimes>> times(const ModelBlocks& blocks, bool with_steps = false) {
    std::vector<std::vector<GpuBlockTimes>> all;
    for (std::size_t stage = 0; stage < communicators_.stages(); ++stage) {
      auto& of_stage = all.emplace_back();
      for (const std::uint32_t rank : unlike_ranks(stage)) {
        GpuBlockTimes& of_gpu = of_stage.emplace_back(GpuBlockTimes{speeds_.kind(rank), {}, {}, {}});
        for (const Block& block : blocks.kinds) {
          of_gpu.times.push_back(time(block, stage, rank));
          of_gpu.least.push_back(least(block, stage, rank));
          if (with_steps) of_gpu.steps.push_back(timed(block, stage, rank));
        }
      }
    }
    return all;
  }

  LeastWeightTime weight_time(const Stage& stage, const Experiment& experiment) {
    LeastWeightTime sum;
    Picoseconds gathering = 0;
    Picoseconds reducing = 0;
    for (const WeightMovement& movement : weight_movements(experiment, layout_, stage)) {
      const auto index = static_cast<std::size_t>(stage.index);
      const Int128 all =
          Int128{communicators_.times(movement.message, index, movement.slot).least} * movement.times;
      const auto time = static_cast<Picoseconds>(std::min<Int128>(all, kUnknown));
      Picoseconds& stream = movement.message.collective == Collective::all_gather ? gathering : reducing;
      stream = capped_sum(stream, time);
      if (movement.exposed) sum.exposed = capped_sum(sum.exposed, time);
    }
    sum.moving = std::max(gathering, reducing);
    return sum;
  }

 private:
  static constexpr auto kCompute = static_cast<std::size_t>(Stream::compute);
  static constexpr Picoseconds kUnknown = std::numeric_limits<Picoseconds>::max();

  using MessageTimes = CommunicatorTimes::Range;

  /// A rank of the stage for each kind of GPU that it runs on.
  [[nodiscard]] std::vector<std::uint32_t> unlike_ranks(std::size_t stage) const {
    std::vector<std::uint32_t> ranks;
    std::set<std::uint64_t> kinds;
    const auto& stage_of = communicators_.stage_of_rank();
    for (std::uint32_t rank = 0; rank < stage_of.size(); ++rank) {
      if (stage_of[rank] != stage) continue;
      if (kinds.insert(speeds_.kind(rank)).second) ranks.push_back(rank);
      if (speeds_.even()) break;
    }
    return ranks;
  }

  Picoseconds time(const Block& block, std::size_t stage, std::uint32_t rank) {
    Picoseconds sum = longest(block.of(PassKind::forward), stage, rank);
    const bool halves = splits_backward(plan_) == BackwardSplit::halves;
    for (const PassKind kind : backward_kinds(halves ? BackwardSplit::halves : BackwardSplit::whole)) {
      if (block.recomputes(kind)) sum = capped_sum(sum, longest(block.recompute, stage, rank));
      sum = capped_sum(sum, longest(block.of(kind), stage, rank));
    }
    return sum;
  }

  LeastBlockTimes least(const Block& block, std::size_t stage, std::uint32_t rank) {
    LeastBlockTimes all{};
    for (std::size_t k = 0; k < kPassKindCount; ++k) {
      const Steps& steps = block.of(static_cast<PassKind>(k));
      if (steps.list.empty()) continue;
      const Chain pass = chain(steps, stage, rank, &MessageTimes::least);
      // Recomputation needs no gradient, so messages may overlap it and only its kernels surely precede the
      // pass.
      const Picoseconds again = block.recomputes(static_cast<PassKind>(k))
                                    ? chain(block.recompute, stage, rank, &MessageTimes::least).free[kCompute]
                                    : 0;
      const Picoseconds output =
          steps.output == kBlockInput ? 0 : pass.done[static_cast<std::size_t>(steps.output)];
      all[k] = {capped_sum(again, output), capped_sum(again, pass.free[kCompute]), {}};
      if (block.recomputes(static_cast<PassKind>(k))) add_busy(block.recompute, stage, rank, all[k].busy);
      add_busy(steps, stage, rank, all[k].busy);
    }
    return all;
  }

  TimedBlock timed(const Block& block, std::size_t stage, std::uint32_t rank) {
    TimedBlock all;
    for (std::size_t k = 0; k <= kPassKindCount; ++k) {
      const Steps& steps = k < kPassKindCount ? block.steps[k] : block.recompute;
      all[k].output = steps.output;
      for (const Step& step : steps.list)
        if (step.on_host)
          all[k].list.push_back({0, step.after, static_cast<std::uint8_t>(Stream::host)});
        else
          all[k].list.push_back({duration(step, stage, rank, &MessageTimes::least), step.after,
                                 static_cast<std::uint8_t>(stream_of_step(step))});
    }
    return all;
  }

  [[nodiscard]] static std::size_t stream_of_step(const Step& step) {
    return step.kind == Op::Kind::communicate ? static_cast<std::size_t>(stream_of(step.communicator))
                                              : kCompute;
  }

  Picoseconds duration(const Step& step, std::size_t stage, std::uint32_t rank,
                       Picoseconds MessageTimes::*of) {
    if (step.kind == Op::Kind::communicate) return message(step, stage).*of;
    return speeds_.duration(step.work, compute_[step.work].duration_ps, rank, 0);
  }

  void add_busy(const Steps& steps, std::size_t stage, std::uint32_t rank,
                std::array<Picoseconds, kStreamCount>& busy) {
    for (const Step& step : steps.list) {
      Picoseconds& stream = busy[stream_of_step(step)];
      stream = capped_sum(stream, duration(step, stage, rank, &MessageTimes::least));
    }
  }

  Picoseconds longest(const Steps& steps, std::size_t stage, std::uint32_t rank) {
    const Chain all = chain(steps, stage, rank, &MessageTimes::most);
    return *std::ranges::max_element(all.free);
  }

  /// When steps are done that begin together, and streams with them.
  struct Chain {
    std::array<Picoseconds, kStreamCount> free{};
    std::vector<Picoseconds> done;  ///< per step
  };
  Chain chain(const Steps& steps, std::size_t stage, std::uint32_t rank, Picoseconds MessageTimes::*of) {
    Chain chain;
    for (const Step& step : steps.list) {
      Picoseconds& stream = chain.free[stream_of_step(step)];
      if (step.after >= 0) stream = std::max(stream, chain.done[static_cast<std::size_t>(step.after)]);
      stream = capped_sum(stream, duration(step, stage, rank, of));
      chain.done.push_back(stream);
    }
    return chain;
  }

  MessageTimes message(const Step& step, std::size_t stage) {
    const std::uint16_t slot = layout_.slot(step.communicator);
    const auto [known, is_new] = messages_.try_emplace({communicators_.number(stage, slot), step.work});
    if (is_new) known->second = communicators_.times(workload_.messages[step.work], stage, slot);
    return known->second;
  }

  const Plan& plan_;
  const CommunicatorLayout& layout_;
  CommunicatorTimes communicators_;
  Workload workload_;  ///< steps of blocks
  std::vector<ComputePrice> compute_;
  RankSpeeds speeds_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, MessageTimes> messages_;  ///< by channel and message
};

}  // namespace

WeightTimes weight_times(const Experiment& experiment, const CommunicatorLayout& layout, Memo& memo) {
  const auto blocks = std::make_shared<ModelBlocks>(model_family(experiment.model.kind).describe(experiment));
  const auto clock = std::make_shared<BlockClock>(experiment, layout, *blocks, memo);
  return [blocks, clock, &experiment](const Stage& stage) { return clock->weight_time(stage, experiment); };
}

LeastTimes least_times(const Experiment& experiment, const CommunicatorLayout& layout, Memo& memo,
                       bool with_steps) {
  LeastTimes result{{model_family(experiment.model.kind).describe(experiment), {}, {}}, {}, {}};
  BlockTimes& blocks = result.blocks;
  BlockClock clock(experiment, layout, blocks.blocks, memo);
  blocks.of_rank = clock.times(blocks.blocks, with_steps);
  blocks.speeds = clock.speeds();
  result.stages = Stages(experiment, blocks.blocks);
  for (const Stage& stage : result.stages.list())
    result.weights.push_back(clock.weight_time(stage, experiment));
  return result;
}

BlockTimes block_times(const Experiment& experiment, const CommunicatorLayout& layout, Memo& memo) {
  BlockTimes result{model_family(experiment.model.kind).describe(experiment), {}, {}};
  BlockClock clock(experiment, layout, result.blocks, memo);
  result.of_rank = clock.times(result.blocks);
  result.speeds = clock.speeds();
  return result;
}

}  // namespace orrery
