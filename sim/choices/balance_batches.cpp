#include "sim/choices/balance_batches.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "orrery/rank_grid.hpp"
#include "sim/bounds/stage_times.hpp"
#include "sim/step/replica_graph.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

/// Returns, per replica, the time of its slowest pipeline rank for a micro-batch.
std::vector<Picoseconds> replica_times(const Experiment& experiment, Memo& memo) {
  const Plan& plan = experiment.plan;
  const CommunicatorLayout layout = communicator_layout_of(experiment, memo);
  const BlockTimes priced = block_times(experiment, layout, memo);
  const StageTimes times(plan, priced);
  const auto layers = layers_per_virtual_stage(plan, experiment.model.all_layers());
  const RankGrid grid(plan);
  std::vector<Picoseconds> slowest(static_cast<std::size_t>(plan.data_parallel), 0);
  for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) {
    Picoseconds& of_replica = slowest[static_cast<std::size_t>(grid.place(rank, Axis::data))];
    of_replica = std::max(of_replica,
                          times.of_rank(grid.place(rank, Axis::pipeline), priced.speeds.kind(rank), layers));
  }
  return slowest;
}

struct CachedBatches {
  std::vector<std::int64_t> samples;
  [[nodiscard]] std::size_t bytes() const { return sizeof *this + samples.size() * sizeof(std::int64_t); }
};

}  // namespace

/// Each further micro-batch goes to the replica that would end first with it, which keeps the end of the last
/// as early as it can be.
std::vector<std::int64_t> share_micro_batches(std::int64_t micro_batches,
                                              const std::vector<Picoseconds>& times) {
  std::vector<std::int64_t> shares(times.size(), 1);
  using End = std::tuple<Int128, std::size_t>;  // with one more, and the replica
  std::priority_queue<End, std::vector<End>, std::greater<>> next;
  for (std::size_t replica = 0; replica < times.size(); ++replica)
    next.emplace(Int128{2} * times[replica], replica);
  for (std::int64_t left = micro_batches - static_cast<std::int64_t>(times.size()); left > 0; --left) {
    const std::size_t replica = std::get<1>(next.top());
    next.pop();
    next.emplace(Int128{++shares[replica] + 1} * times[replica], replica);
  }
  return shares;
}

std::vector<std::int64_t> balanced_replica_batches(const Experiment& experiment, Memo& memo) {
  Experiment kept = experiment;
  kept.name.clear();  // changes nothing
  kept.training = {};
  kept.accuracy = {};
  kept.problem = {};
  return memo
      .get<CachedBatches>(
          MemoKind::replica_batches, content_of(kept),
          [&] {
            const Plan& plan = experiment.plan;
            CachedBatches made{share_micro_batches(plan.global_batch_size / plan.micro_batch_size,
                                                   replica_times(experiment, memo))};
            for (std::int64_t& share : made.samples) share *= plan.micro_batch_size;
            return made;
          })
      ->samples;
}

}  // namespace orrery
