#include "importers/frameworks/fsdp.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace orrery::importers::frameworks {
namespace {

constexpr std::int64_t kGpusOfNode = 8;  ///< hybrid sharding is within a node

/// A strategy by its name or its number in PyTorch's enumeration.
struct Strategy {
  std::string_view name;
  std::string_view number;
  int stage = 3;
  bool reshards = true;
  bool within_node = false;
};
constexpr std::array kStrategies{
    Strategy{"full_shard", "1"},
    Strategy{"shard_grad_op", "2", 3, false, false},
    Strategy{"no_shard", "3", 0, true, false},
    Strategy{"hybrid_shard", "4", 3, true, true},
    Strategy{"_hybrid_shard_zero2", "5", 3, false, true},
    Strategy{"hybrid_shard_zero2", "5", 3, false, true},
};

void take_strategy(LaunchArguments& all, const std::string& name, const Strategy& strategy) {
  all.became(name, "plan.zero_stage", strategy.stage);
  if (strategy.stage == 3 && !strategy.reshards)
    all.draft().default_to("plan.reshard_after_forward", false,
                           "this strategy keeps parameters until the backward pass");
  if (strategy.within_node)
    all.draft().default_to("plan.zero_group_size", kGpusOfNode,
                           "this strategy shards within a node, of 8 GPUs");
}

/// FSDP2 has a flag where FSDP1 has a strategy; both stand under either name.
void read_strategy(LaunchArguments& all, const std::string& part) {
  for (const std::string& name : {part + "sharding_strategy", part + "reshard_after_forward"}) {
    const std::string text = all.take_text(name);
    if (text.empty()) continue;
    const auto found = std::ranges::find_if(
        kStrategies, [&](const Strategy& s) { return s.name == text || s.number == text; });
    if (found != kStrategies.end()) return take_strategy(all, name, *found);
    const auto reshards = all.take_flag(name);
    if (!reshards) continue;
    all.became(name, "plan.reshard_after_forward", *reshards);
    return all.draft().default_to("plan.zero_stage", 3, "FSDP shards parameters");
  }
  all.draft().default_to("plan.zero_stage", 3, "FSDP's default: FULL_SHARD");
}

}  // namespace

void read_fsdp_config(LaunchArguments& all, const std::string& part) {
  read_strategy(all, part);
  for (const std::string& name : {part + "offload_params", part + "cpu_offload"}) {
    if (all.take_flag(name) == true)
      all.became(name, "plan.offload", "optimizer",
                 "FSDP offloads parameters and gradients too, which Orrery cannot say");
    all.ignore(name, "nothing is offloaded");
  }
  if (all.take_flag(part + "activation_checkpointing") == true)
    all.became(part + "activation_checkpointing", "plan.recompute", "full");
  all.ignore(part + "activation_checkpointing", "nothing is recomputed");
  if (all.take_flag(part + "forward_prefetch") == true)
    all.became(part + "forward_prefetch", "plan.prefetch", 1);
  all.draft().default_to("plan.overlap_gradient_reduce", true, "FSDP reduces beside the backward pass");
  all.draft().default_to("plan.overlap_parameter_gather", true, "FSDP gathers ahead");
}

}  // namespace orrery::importers::frameworks
