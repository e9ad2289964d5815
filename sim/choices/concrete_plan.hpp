// Resolves all "auto" values of an experiment's plan. Callers that simulate an experiment or account for its
// memory use it before anything else.
#pragma once

#include "orrery/experiment.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// Returns true if layers of stages, batches of replicas or the ZeRO group are "auto" in the plan.
[[nodiscard]] bool has_auto_values(const Plan& plan);

/// `experiment` with these chosen, in this order.
[[nodiscard]] Experiment with_resolved_values(Experiment experiment, Memo& memo);

/// `use` of the experiment with a concrete plan.
template <class Use>
auto with_resolved_plan(const Experiment& experiment, Memo& memo, Use use) {
  return has_auto_values(experiment.plan) ? use(with_resolved_values(experiment, memo)) : use(experiment);
}

}  // namespace orrery
