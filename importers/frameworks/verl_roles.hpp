// How verl lays the roles of post-training out on GPUs: with Megatron Core, with FSDP, or as an engine of
// rollouts.
#pragma once

#include <string>
#include <string_view>

#include "importers/frameworks/arguments.hpp"

namespace orrery::importers::frameworks {

/// A role: where verl has its settings, and where an experiment has its own.
struct VerlRole {
  std::string_view theirs;  ///< "actor_rollout_ref.actor."
  std::string_view ours;    ///< "post_training.roles.actor"
  bool trained = false;     ///< its weights are updated: it has an optimizer and recomputes activations
};

/// Puts the plan of the role into the draft. Returns the ranks that share a sequence.
std::int64_t read_verl_role(const VerlRole& role, bool megatron, LaunchArguments& all);
/// Puts the engine of rollouts into the draft.
void read_verl_rollout(LaunchArguments& all);

}  // namespace orrery::importers::frameworks
