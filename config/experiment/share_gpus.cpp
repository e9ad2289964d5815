#include "config/experiment/share_gpus.hpp"

#include <fmt/format.h>

#include <string>

namespace orrery {
namespace {

using Role = PostTrainingRole;

constexpr std::size_t index(Role role) { return static_cast<std::size_t>(role); }

class GpuShares {
 public:
  GpuShares(const PostTraining& section, const RoleSet& played, std::int64_t total, const Path& path,
            Findings& findings)
      : section_(section), played_(played), total_(total), path_(path), findings_(findings) {
    gpus_.fill(total);
  }

  RoleGpus share(bool own_cluster) {
    if (section_.placement == RolePlacement::disaggregated) give_rollouts_theirs(own_cluster);
    if (section_.placement == RolePlacement::hybrid) give_others_theirs();
    if (findings_.empty()) refuse_idle_keys(own_cluster);
    return gpus_;
  }

 private:
  void refuse(Role role, const std::string& message) {
    const Path roles(path_, "roles");
    const Path keys(roles, kPostTrainingRoleNames[index(role)]);
    findings_.add(Path(keys, "gpus"), message);
  }

  void give_rollouts_theirs(bool own_cluster) {
    const std::int64_t rollouts = section_.gpus[index(Role::rollout)];
    const std::int64_t trainers = section_.gpus[index(Role::actor)];
    if (own_cluster) {
      if (trainers > 0) gpus_.fill(trainers);
      return;
    }
    if (rollouts == 0 && trainers == 0)
      return findings_.add(
          Path(path_, "placement"),
          "found disaggregated without the GPUs of roles.rollout or roles.actor, allowed with "
          "one of them");
    gpus_.fill(trainers > 0 ? trainers : total_ - rollouts);
    gpus_[index(Role::rollout)] = rollouts > 0 ? rollouts : total_ - trainers;
    const std::int64_t actor = gpus_[index(Role::actor)];
    const std::int64_t rollout = gpus_[index(Role::rollout)];
    if (actor < 1 || rollout < 1 || actor + rollout > total_)
      refuse(rollouts > 0 ? Role::rollout : Role::actor,
             fmt::format("found {} GPUs for actor and {} for rollouts, allowed 1 or more for each and {} "
                         "together",
                         actor, rollout, total_));
  }

  void give_others_theirs() {
    std::int64_t left = total_;
    for (const Role role : {Role::reference, Role::critic, Role::reward}) {
      if (!played_[index(role)]) continue;
      const std::int64_t own = section_.gpus[index(role)];
      if (own == 0) refuse(role, "missing, and placement hybrid gives this role GPUs of its own");
      gpus_[index(role)] = own;
      left -= own;
    }
    gpus_[index(Role::actor)] = gpus_[index(Role::rollout)] = left;
    if (left < 1)
      findings_.add(
          Path(path_, "placement"),
          fmt::format("found {} GPUs left for actor and rollouts of {}, allowed 1 or more", left, total_));
  }

  /// Finds GPUs of roles that the placement gives none of their own.
  void refuse_idle_keys(bool own_cluster) {
    for (std::size_t r = 0; r < kPostTrainingRoleCount; ++r) {
      const std::int64_t given = section_.gpus[r];
      if (own_cluster && r == index(Role::rollout) && given > 0)
        refuse(Role::rollout, "found beside a cluster of its own, all of whose GPUs it has");
      if (given == 0 || given == gpus_[r]) continue;
      refuse(static_cast<Role>(r),
             fmt::format("found {}, allowed {} (placement {})", given, gpus_[r],
                         kRolePlacementNames[static_cast<std::size_t>(section_.placement)]));
    }
  }

  const PostTraining& section_;
  const RoleSet& played_;
  std::int64_t total_;
  const Path& path_;
  Findings& findings_;
  RoleGpus gpus_{};
};

}  // namespace

RoleGpus share_gpus(const PostTraining& section, const RoleSet& played, std::int64_t total, bool own_cluster,
                    const Path& path, Findings& findings) {
  return GpuShares(section, played, total, path, findings).share(own_cluster);
}

}  // namespace orrery
