#include "planner/methods/usual_space.hpp"

#include <utility>

namespace orrery {
namespace {

/// Sequences of that length are worth sharing.
constexpr std::int64_t kLongSequence = 16'384;

SpaceKey automatic(std::string key) { return {std::move(key), {}, true}; }

}  // namespace

SpaceDescription usual_space(const BaseExperiment& base, const Catalog& catalog, const Menus& menus) {
  const Experiment experiment = experiment_of_any_plan(base, catalog, menus);
  SpaceDescription space;
  // What the other degrees leave.
  space.keys.push_back({"plan.data_parallel", {"null"}});
  space.keys.push_back({"plan.micro_batch_size", {"1", "2", "4", "8"}});
  if (experiment.model.kind == ModelKind::convnet) return space;
  space.keys.push_back(automatic("plan.tensor_parallel"));
  if (experiment.model.kind == ModelKind::mlp) return space;
  space.keys.push_back(automatic("plan.pipeline_parallel"));
  if (experiment.model.experts > 0) space.keys.push_back(automatic("plan.expert_parallel"));
  if (experiment.model.seq_length >= kLongSequence) space.keys.push_back(automatic("plan.context_parallel"));
  space.keys.push_back({"plan.pipeline_schedule", {"interleaved-1f1b"}});
  space.keys.push_back(automatic("plan.virtual_stages"));
  space.keys.push_back(automatic("plan.recompute"));
  space.keys.push_back(automatic("plan.zero_stage"));
  space.keys.push_back({"plan.rank_order", {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"}});
  return space;
}

}  // namespace orrery
