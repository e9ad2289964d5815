#include "sim/run/block_times.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "orrery/rank_grid.hpp"
#include "sim/cost/channel_pricer.hpp"
#include "sim/cost/issue_time.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/channels.hpp"
#include "sim/run/step.hpp"

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
  BlockClock(const Experiment& experiment, const SyncLayout& layout, ModelBlocks& blocks, Memo& memo)
      : plan_(experiment.plan),
        layout_(layout),
        machine_(machine_of(experiment.cluster, memo)),
        pricer_(*machine_->topology, machine_->link_kinds, experiment.plan.collectives,
                experiment.software.split_node_efficiency),
        routed_(experiment.software.split_node_efficiency) {
    model_family(experiment.model.kind).write_steps(experiment, blocks, workload_);
    compute_ = price_kernel_sequences(workload_, experiment);
    speeds_ = speeds_of(experiment, workload_);
    workload_.programs.resize(static_cast<std::size_t>(plan_.pipeline_parallel));
    add_communicators(layout.spec(), workload_);
    channels_ = group_channels(workload_);
  }

  [[nodiscard]] const RankSpeeds& speeds() const { return speeds_; }

  std::vector<std::vector<GpuBlockTimes>> times(const ModelBlocks& blocks) {
    std::vector<std::vector<GpuBlockTimes>> all;
    for (std::size_t stage = 0; stage < workload_.programs.size(); ++stage) {
      auto& of_stage = all.emplace_back();
      for (const std::uint32_t rank : unlike_ranks(stage)) {
        GpuBlockTimes& of_gpu = of_stage.emplace_back(GpuBlockTimes{speeds_.kind(rank), {}});
        for (const Block& block : blocks.kinds) of_gpu.times.push_back(time(block, stage, rank));
      }
    }
    return all;
  }

 private:
  /// A rank of the stage for each kind of GPU that it runs on.
  [[nodiscard]] std::vector<std::uint32_t> unlike_ranks(std::size_t stage) const {
    std::vector<std::uint32_t> ranks;
    std::set<std::uint64_t> kinds;
    for (std::uint32_t rank = 0; rank < workload_.ranks(); ++rank) {
      if (workload_.program_of_rank[rank] != stage) continue;
      if (kinds.insert(speeds_.kind(rank)).second) ranks.push_back(rank);
      if (speeds_.even()) break;
    }
    return ranks;
  }

  Picoseconds time(const Block& block, std::size_t stage, std::uint32_t rank) {
    Picoseconds sum = chain(block.of(PassKind::forward), stage, rank);
    const bool halves = splits_backward(plan_) == BackwardSplit::halves;
    for (const PassKind kind : backward_kinds(halves ? BackwardSplit::halves : BackwardSplit::whole)) {
      if (block.recomputes(kind)) sum = capped_sum(sum, chain(block.recompute, stage, rank));
      sum = capped_sum(sum, chain(block.of(kind), stage, rank));
    }
    return sum;
  }

  Picoseconds chain(const Steps& steps, std::size_t stage, std::uint32_t rank) {
    std::array<Picoseconds, kStreamCount> free{};
    std::vector<Picoseconds> done;
    for (const Step& step : steps.list) {
      const bool sends = step.kind == Op::Kind::communicate;
      Picoseconds& stream =
          free[static_cast<std::size_t>(sends ? stream_of(step.communicator) : Stream::compute)];
      if (step.after >= 0) stream = std::max(stream, done[static_cast<std::size_t>(step.after)]);
      stream =
          capped_sum(stream, sends ? message(step, stage)
                                   : speeds_.duration(step.work, compute_[step.work].duration_ps, rank, 0));
      done.push_back(stream);
    }
    return *std::ranges::max_element(free);
  }

  /// In the slowest communicator.
  Picoseconds message(const Step& step, std::size_t stage) {
    const std::uint32_t channel =
        channels_.channel_of[stage * workload_.slots + layout_.slot(step.communicator)];
    const auto [known, is_new] = messages_.try_emplace({channel, step.work}, 0);
    if (!is_new) return known->second;
    const Message& message = workload_.messages[step.work];
    const ChannelRoutes routes = pricer_.route(workload_, channels_.channels[channel], message);
    for (const RoutedGroup& group : routes.groups)
      known->second = std::max(known->second, routed_.duration_ps(group, message));
    return known->second;
  }

  const Plan& plan_;
  const SyncLayout& layout_;
  std::shared_ptr<const Machine> machine_;
  ChannelPricer pricer_;
  RoutedPricer routed_;
  Workload workload_;
  std::vector<ComputePrice> compute_;
  RankSpeeds speeds_;
  Channels channels_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Picoseconds> messages_;  ///< by channel and message
};

}  // namespace

BlockTimes block_times(const Experiment& experiment, const SyncLayout& layout, Memo& memo) {
  BlockTimes result{model_family(experiment.model.kind).describe(experiment), {}, {}};
  BlockClock clock(experiment, layout, result.blocks, memo);
  result.of_rank = clock.times(result.blocks);
  result.speeds = clock.speeds();
  return result;
}

}  // namespace orrery
