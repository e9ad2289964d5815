// Says what each role holds on a GPU, whether roles that take turns fit, and what it costs to make room.
#pragma once

#include <string>
#include <vector>

#include "studies/post_training/post_training.hpp"
#include "studies/post_training/training_work.hpp"

namespace orrery {

struct MemoryOfRoles {
  std::vector<RoleMemory> roles;
  std::vector<std::string> reasons;  ///< why they do not fit; none: they do
  Picoseconds to_host_ps = 0;        ///< states of the actor leave before rollouts
  Picoseconds from_host_ps = 0;      ///< and come back after them
  std::int64_t parameters = 0;       ///< of the actor's model
};

/// Returns the time in which a GPU copies states to its host, or from it; 0 where its link is unknown.
[[nodiscard]] Picoseconds to_host_time(const PostTrainingExperiment& experiment, Bytes bytes);
[[nodiscard]] Picoseconds from_host_time(const PostTrainingExperiment& experiment, Bytes bytes);

/// @param rollouts  of a generation, for what the engine holds
[[nodiscard]] MemoryOfRoles memory_of_roles(const PostTrainingExperiment& experiment, const Serving& rollouts,
                                            TrainingPricer& pricer);

}  // namespace orrery
