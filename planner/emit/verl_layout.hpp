// Writes how the roles of post-training lie on GPUs as settings of verl: of its engine on Megatron Core, or
// of the one on FSDP.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

/// A setting of a role, or where `setting` is "", a key that verl has no setting for.
struct VerlSetting {
  std::string setting;  ///< "actor_rollout_ref.actor.strategy=megatron"
  std::string key;      ///< "plan.tensor_parallel"
  std::string reason;   ///< why there is none
};

/// Returns true if verl would run the plan with FSDP: all is sharded over replicas, and nothing else cut.
[[nodiscard]] bool is_verl_fsdp(const Plan& plan);
/// Returns the settings below `owner`, such as actor_rollout_ref.actor. `trained`: the role has an optimizer.
[[nodiscard]] std::vector<VerlSetting> verl_layout(const std::string& owner, const Experiment& role,
                                                   bool fsdp, bool trained);

}  // namespace orrery
