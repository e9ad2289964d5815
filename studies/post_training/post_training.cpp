#include "studies/post_training/post_training.hpp"

#include <fmt/format.h>

#include <utility>

#include "studies/post_training/role_memory.hpp"
#include "studies/post_training/timeline.hpp"

namespace orrery {
namespace {

std::vector<std::string> assumptions_of(const PostTrainingExperiment& experiment) {
  const PostTraining& section = experiment.section();
  std::vector<std::string> out{
      "generation is the serving simulation of the rollout plan with all samples at hand; updates and "
      "forward "
      "passes are training steps of the other roles' plans",
      section.packing ? "samples are packed best fit, the longest first; a step takes as long as the replica "
                        "with most tokens"
                      : "samples are padded to the longest of their update"};
  if (!section.trace.has_value() && section.response.kind == LengthKind::log_normal)
    out.emplace_back(
        "lengths are drawn as log-normal; those of one prompt are as unlike as those of different "
        "prompts");
  if (section.samples_per_prompt > 1 && section.prefix_sharing)
    out.emplace_back("samples of a prompt find its keys and values in the cache, in whole pages");
  if (section.is_streaming())
    out.emplace_back("samples under way keep their keys and values when new weights come");
  if (section.swap_reference)
    out.emplace_back(
        "once a step the actor's weights go to the host, the reference's come from there, and the actor's "
        "come "
        "back");
  if (section.placement != RolePlacement::disaggregated)
    out.emplace_back(
        "states that leave a GPU go over its link to the host and come back once a step; "
        "gradients are dropped");
  return out;
}

/// Says where the time goes, so that a reader sees which side to give GPUs.
void advise(PostTrainingResult& result) {
  if (result.section.placement != RolePlacement::disaggregated || result.steps == 0) return;
  const auto exposed = result.exposed[static_cast<std::size_t>(PostTrainingPhase::generation)];
  const double share = static_cast<double>(exposed) / static_cast<double>(result.duration_ps);
  constexpr double kNoticed = 0.1;
  if (result.section.schedule != RolloutSchedule::synchronous && share > kNoticed)
    result.warnings.push_back(fmt::format(
        "trainers wait {:.0f} % of the time for samples: more GPUs for rollouts, fewer for the actor",
        100 * share));
}

}  // namespace

double PostTrainingResult::generation_share() const {
  return static_cast<double>(phases[static_cast<std::size_t>(PostTrainingPhase::generation)]) /
         static_cast<double>(duration_ps);
}

double PostTrainingResult::mean_staleness() const {
  Int128 sum = 0;
  Int128 count = 0;
  for (std::size_t updates = 0; updates < staleness.size(); ++updates) {
    sum += Int128{staleness[updates]} * static_cast<std::int64_t>(updates);
    count += staleness[updates];
  }
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

PostTrainingResult simulate_post_training(const PostTrainingExperiment& experiment) {
  PostTrainingResult result;
  result.name = experiment.name();
  result.section = experiment.section();
  result.gpus = experiment.gpus();
  result.assumptions = assumptions_of(experiment);
  BatchMaker batches(experiment);
  Batch first = batches.batch(0);
  if (!first.generation.obstacle.empty()) {
    result.feasible = false;
    result.reasons = {"rollout: " + first.generation.obstacle};
    return result;
  }
  MemoryOfRoles memory = memory_of_roles(experiment, first.generation.serving, batches.pricer());
  result.memory = std::move(memory.roles);
  result.reasons = std::move(memory.reasons);
  result.feasible = result.reasons.empty();
  result.sync =
      weight_sync(experiment, memory.parameters, first.generation.serving.weights_bytes, batches.memo());
  const StepSetting setting{experiment, batches, result.sync.total_ps, memory.to_host_ps,
                            memory.from_host_ps};
  if (experiment.section().is_streaming()) {
    result.running = running_samples(first.generation);
    generate_on(setting, result);
  } else if (experiment.section().staleness_bound() == 0) {
    take_turns(setting, std::move(first), result);
  } else {
    generate_ahead(setting, std::move(first), result);
  }
  advise(result);
  return result;
}

}  // namespace orrery
