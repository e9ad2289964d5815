#include "sim/run/prepare.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/choices/balance_batches.hpp"
#include "sim/choices/balance_stages.hpp"
#include "sim/run/training_run.hpp"

namespace orrery {
namespace {

/// The group of replicas that the plan proposes or all of them (0): the one with which the step is faster.
std::int64_t faster_zero_group(const Experiment& experiment, Memo& memo) {
  constexpr Figures kTimeAlone{false, false, false, false, false};
  const auto time_with = [&](std::int64_t group) {
    Experiment with = experiment;
    with.plan.zero_group_size = group;
    return simulate_training(PreparedExperiment(std::move(with), memo), kTimeAlone, memo).makespan_ps;
  };
  return time_with(experiment.plan.zero_group_size) < time_with(0) ? experiment.plan.zero_group_size : 0;
}

}  // namespace

Experiment with_resolved_plan(Experiment experiment, Memo& memo) {
  Plan& plan = experiment.plan;
  const bool choose_group = std::exchange(plan.choose_zero_group, false);
  if (plan.balance_stages) plan.stage_layers = balanced_stage_layers(experiment, memo);
  plan.balance_stages = false;
  if (plan.balance_replica_batches) {
    std::vector<std::int64_t> sizes = balanced_replica_batches(experiment, memo);
    plan.balance_replica_batches = false;
    // Equal ones are those of any plan.
    if (std::ranges::count(sizes, sizes.front()) < std::ssize(sizes))
      plan.replica_batch_sizes = std::move(sizes);
  }
  if (choose_group) plan.zero_group_size = faster_zero_group(experiment, memo);
  return experiment;
}

PreparedExperiment prepare(const Experiment& experiment, Memo& memo) {
  return {with_resolved_plan(experiment, memo), memo};
}

}  // namespace orrery
