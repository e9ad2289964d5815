#include "studies/post_training/role_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace orrery {
namespace {

/// The stage whose GPUs hold most.
const StageMemory& fullest(const Report& report) {
  return *std::ranges::max_element(report.stage_memory, {}, &StageMemory::device);
}

Bytes bytes_that_leave(StateOffload offload, const StageMemory& stage) {
  if (offload == StateOffload::none) return 0;
  return stage.optimizer() + (offload == StateOffload::all ? stage.parameters : 0);
}

Picoseconds host_copy_time(const PostTrainingExperiment& experiment, Bytes bytes, double pageable_gb_per_s) {
  double gb_per_s = experiment.role(PostTrainingRole::actor).cluster.gpu_of_class(0).host_link_gb_per_s;
  if (gb_per_s <= 0) return 0;
  if (experiment.section().host_copies == HostCopies::pageable)
    gb_per_s = std::min(gb_per_s, pageable_gb_per_s);
  return transfer_ps(bytes, static_cast<std::int64_t>(gb_per_s * 1e9));
}

double gigabytes(Bytes bytes) { return static_cast<double>(bytes) / 1e9; }

class RoleMemories {
 public:
  RoleMemories(const PostTrainingExperiment& experiment, const Serving& rollouts, TrainingPricer& pricer)
      : experiment_(experiment), section_(experiment.section()), rollouts_(rollouts), pricer_(pricer) {}

  MemoryOfRoles all() {
    const Report actor = pricer_.largest_update(PostTrainingRole::actor);
    result_.parameters = actor.parameters;
    add_trained(PostTrainingRole::actor, actor);
    add_rollout(actor);
    if (experiment_.has(PostTrainingRole::critic))
      add_trained(PostTrainingRole::critic, pricer_.largest_update(PostTrainingRole::critic));
    for (const PostTrainingRole role : {PostTrainingRole::reference, PostTrainingRole::reward})
      if (experiment_.has(role)) add_frozen(role);
    if (section_.placement != RolePlacement::disaggregated) make_room(actor);
    return std::move(result_);
  }

 private:
  void add_trained(PostTrainingRole role, const Report& report) {
    const StageMemory& stage = fullest(report);
    result_.roles.push_back({role, report.gpus, stage.states(), stage.device(), report.gpu_usable_memory, 0});
    if (!report.feasible)
      result_.reasons.push_back(fmt::format("{}: {}", kPostTrainingRoleNames[static_cast<std::size_t>(role)],
                                            report.reasons.front()));
  }

  void add_rollout(const Report& actor) {
    const Bytes held = rollouts_.weights_bytes + rollouts_.workspace_bytes;
    const Experiment& rollout = experiment_.rollout();
    const bool shared = section_.placement != RolePlacement::disaggregated;
    const Bytes usable = shared ? actor.gpu_usable_memory : account_memory(rollout).gpu_usable_memory;
    result_.roles.push_back({PostTrainingRole::rollout, rollout.plan.gpus(), rollouts_.weights_bytes,
                             held + rollouts_.cache_bytes, usable, 0});
  }

  /// A model that is not trained holds its weights.
  void add_frozen(PostTrainingRole role) {
    const Report report = pricer_.largest_update(role);
    const auto most = std::ranges::max_element(report.stage_memory, {}, &StageMemory::parameters);
    result_.roles.push_back({role, report.gpus, most->parameters,
                             most->parameters + most->workspace.communication, report.gpu_usable_memory, 0});
  }

  /// Takes the way to make room that moves least, where the experiment does not say.
  void make_room(const Report& actor) {
    const StageMemory& stage = fullest(actor);
    const Bytes engine = result_.roles[1].peak;
    const Bytes usable = actor.gpu_usable_memory;
    const auto held = [&](StateOffload offload) {
      return stage.states() - stage.gradients - bytes_that_leave(offload, stage) + engine;
    };
    StateOffload chosen = section_.offload;
    if (chosen == StateOffload::automatic) {
      chosen = StateOffload::none;
      for (const StateOffload more : {StateOffload::optimizer, StateOffload::all})
        if (usable > 0 && held(chosen) > usable) chosen = more;
    }
    if (usable > 0 && held(chosen) > usable)
      result_.reasons.push_back(
          fmt::format("beside rollouts of {:.1f} GB the actor keeps {:.1f} GB of states on a GPU of {:.1f} "
                      "GB that can be "
                      "used: offload them, or give the engine less memory (gpu_memory_utilization)",
                      gigabytes(engine), gigabytes(held(chosen) - engine), gigabytes(usable)));
    const Bytes leaving = bytes_that_leave(chosen, stage);
    result_.roles.front().offloaded = leaving;
    result_.to_host_ps = to_host_time(experiment_, leaving);
    result_.from_host_ps = from_host_time(experiment_, leaving);
  }

  const PostTrainingExperiment& experiment_;
  const PostTraining& section_;
  const Serving& rollouts_;
  TrainingPricer& pricer_;
  MemoryOfRoles result_;
};

}  // namespace

Picoseconds to_host_time(const PostTrainingExperiment& experiment, Bytes bytes) {
  return host_copy_time(experiment, bytes, experiment.section().pageable_out_gb_per_s);
}

Picoseconds from_host_time(const PostTrainingExperiment& experiment, Bytes bytes) {
  return host_copy_time(experiment, bytes, experiment.section().pageable_in_gb_per_s);
}

MemoryOfRoles memory_of_roles(const PostTrainingExperiment& experiment, const Serving& rollouts,
                              TrainingPricer& pricer) {
  return RoleMemories(experiment, rollouts, pricer).all();
}

}  // namespace orrery
