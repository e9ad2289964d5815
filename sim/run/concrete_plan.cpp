#include "sim/run/concrete_plan.hpp"

#include <algorithm>
#include <utility>

#include "sim/run/balance_batches.hpp"
#include "sim/run/balance_stages.hpp"

namespace orrery {

bool is_open(const Plan& plan) { return plan.balance_stages || plan.balance_replica_batches; }

Experiment with_choices(Experiment experiment, Memo& memo) {
  Plan& plan = experiment.plan;
  if (plan.balance_stages) plan.stage_layers = balanced_stage_layers(experiment, memo);
  plan.balance_stages = false;
  if (!plan.balance_replica_batches) return experiment;
  std::vector<std::int64_t> sizes = balanced_replica_batches(experiment, memo);
  plan.balance_replica_batches = false;
  // Equal ones are those of any plan.
  if (std::ranges::count(sizes, sizes.front()) < std::ssize(sizes))
    plan.replica_batch_sizes = std::move(sizes);
  return experiment;
}

}  // namespace orrery
