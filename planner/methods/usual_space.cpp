#include "planner/methods/usual_space.hpp"

#include <algorithm>
#include <utility>

#include "planner/space/base_document.hpp"

namespace orrery {
namespace {

/// Sequences of that length are worth sharing.
constexpr std::int64_t kLongSequence = 16'384;

SpaceKey automatic(std::string key) { return {std::move(key), {}, true}; }

/// How requests are served, beside the degrees: training has other choices.
void add_serving(const Experiment& experiment, SpaceDescription& space) {
  if (experiment.inference->batch_size == 0) space.keys.push_back(automatic("inference.batch_size"));
  if (experiment.inference->batching == Batching::continuous)
    space.keys.push_back(automatic("inference.disaggregated"));
}

}  // namespace

std::string_view usual_objective(const Space& space) {
  const auto of_serving = [](const SpaceKey& key) { return key.key.starts_with("inference"); };
  const bool serves =
      base_document(space.base()).contains("inference") || std::ranges::any_of(space.keys(), of_serving);
  return serves ? "tokens_per_s_per_gpu" : "step_time_s";
}

SpaceDescription usual_space(const BaseExperiment& base, const Catalog& catalog, const Menus& menus) {
  const Experiment experiment = experiment_of_any_plan(base, catalog, menus);
  SpaceDescription space;
  // What the other degrees leave.
  space.keys.push_back({"plan.data_parallel", {"null"}});
  const bool serves = experiment.inference.has_value();
  if (!serves) space.keys.push_back({"plan.micro_batch_size", {"1", "2", "4", "8"}});
  if (experiment.model.kind == ModelKind::convnet) return space;
  space.keys.push_back(automatic("plan.tensor_parallel"));
  if (experiment.model.kind == ModelKind::mlp) return space;
  space.keys.push_back(automatic("plan.pipeline_parallel"));
  if (experiment.model.experts > 0) space.keys.push_back(automatic("plan.expert_parallel"));
  if (experiment.model.seq_length >= kLongSequence) space.keys.push_back(automatic("plan.context_parallel"));
  if (serves) {
    add_serving(experiment, space);
    return space;
  }
  space.keys.push_back({"plan.pipeline_schedule", {"interleaved-1f1b"}});
  space.keys.push_back(automatic("plan.virtual_stages"));
  space.keys.push_back(automatic("plan.recompute"));
  space.keys.push_back(automatic("plan.zero_stage"));
  space.keys.push_back({"plan.rank_order", {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"}});
  return space;
}

}  // namespace orrery
