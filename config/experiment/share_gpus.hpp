// Shares the GPUs of a cluster among the roles of post-training. Internal to config/.
#pragma once

#include <array>
#include <cstdint>

#include "config/text/findings.hpp"
#include "orrery/post_training.hpp"

namespace orrery {

using RoleSet = std::array<bool, kPostTrainingRoleCount>;
using RoleGpus = std::array<std::int64_t, kPostTrainingRoleCount>;

/// Returns the GPUs of each role; roles that take turns have the same ones.
/// @param played  roles that a model plays
/// @param total  GPUs of the cluster
/// @param own_cluster  rollouts have a cluster beside it
/// @param path  leads to the section
RoleGpus share_gpus(const PostTraining& section, const RoleSet& played, std::int64_t total, bool own_cluster,
                    const Path& path, Findings& findings);

}  // namespace orrery
