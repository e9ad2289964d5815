// Experts from Megatron's arguments: their number and width, which layers have them, how tokens get there.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "importers/frameworks/layer_list.hpp"
#include "importers/frameworks/megatron.hpp"

namespace orrery::importers::frameworks {
namespace {

/// Megatron-DeepSpeed gives a list, [1] where there are none.
std::int64_t number_of_experts(LaunchArguments& all) {
  const LaunchArgument* argument = all.take("num_experts", "model.experts");
  if (argument == nullptr) return 0;
  const Json& value = argument->value;
  const Json& first = value.is_array() && !value.empty() ? value[0] : value;
  const std::int64_t experts = whole_number(first).value_or(0);
  return value.is_array() && experts == 1 ? 0 : experts;
}

void read_expert_widths(LaunchArguments& all) {
  Draft& draft = all.draft();
  all.map_count("moe_ffn_hidden_size", "model.expert_ffn_hidden");
  draft.default_to("model.expert_ffn_hidden", draft.value("model.ffn_hidden"),
                   "Megatron-LM's default: as wide as the MLP");
  const auto width = whole_number(draft.value("model.expert_ffn_hidden"));
  const auto shared = all.take_count("moe_shared_expert_intermediate_size", 0);
  if (!shared || !width || *width < 1) return;
  const std::int64_t count = (*shared + *width / 2) / *width;
  if (count * *width != *shared)
    all.refuse("moe_shared_expert_intermediate_size", "shared experts are as wide as the others",
               fmt::format("{} of {}", std::max<std::int64_t>(count, 1), *width));
  all.became("moe_shared_expert_intermediate_size", "model.shared_experts",
             std::max<std::int64_t>(count, *shared > 0));
  all.map_flag("moe_shared_expert_gate", "model.shared_expert_gate");
}

/// Layers with experts: every n-th one from the first on, or a list in Python.
void read_expert_layers(LaunchArguments& all) {
  const auto layers = whole_number(all.draft().value("model.layers"));
  if (!layers || *layers < 1 || *layers > kMostLayers) return;
  if (const auto interval = all.take_count("expert_interval")) {
    all.became("expert_interval", "model.moe_layer_frequency", *interval);
    return;
  }
  const LaunchArgument* argument = all.take("moe_layer_freq");
  if (argument == nullptr) return;
  const auto list = layers_with_experts(argument->value, *layers);
  if (list.empty() || static_cast<std::int64_t>(list.size()) != *layers) {
    all.draft().contradict(
        argument->source,
        fmt::format("found no list of 0 and 1 for {} layers, such as ([0]*3+[1]*58)", *layers));
    return all.became("moe_layer_freq", "model.moe_layer_frequency", 1);
  }
  const auto regular = regular_layers(list);
  if (regular) {
    all.became("moe_layer_freq", "model.dense_layers", regular->dense);
    all.draft().default_to("model.moe_layer_frequency", regular->frequency, "stands with moe_layer_freq");
  } else {
    all.became("moe_layer_freq", "model.layer_pattern", pattern_of(list));
  }
}

void read_groups(LaunchArguments& all) {
  if (const auto groups = all.take_count("moe_router_num_groups"); groups && *groups > 1) {
    all.became("moe_router_num_groups", "model.expert_groups", *groups);
    all.map_count("moe_router_group_topk", "model.groups_per_token");
  }
  all.ignore("moe_router_num_groups", "one group");
  all.ignore("moe_router_group_topk", "takes moe_router_num_groups");
}

void ignore_experts(LaunchArguments& all) {
  for (const char* name : {"num_experts",
                           "moe_router_topk",
                           "moe_ffn_hidden_size",
                           "moe_shared_expert_intermediate_size",
                           "moe_layer_freq",
                           "expert_interval",
                           "moe_token_dispatcher_type",
                           "moe_enable_deepep",
                           "moe_flex_dispatcher_backend",
                           "moe_expert_capacity_factor",
                           "moe_train_capacity_factor",
                           "moe_router_num_groups",
                           "moe_router_group_topk",
                           "overlap_moe_expert_parallel_comm",
                           "moe_shared_expert_overlap",
                           "moe_shared_expert_gate",
                           "moe_latent_size",
                           "enable_expert_tensor_parallelism",
                           "disable_moe_token_dropping",
                           "moe_token_dropping"})
    all.ignore(name, "the model has no experts");
}

void read_mamba(LaunchArguments& all) {
  all.map_count("mamba_num_heads", "model.mamba2.heads");
  all.map_count("mamba_head_dim", "model.mamba2.head_dim");
  all.map_count("mamba_num_groups", "model.mamba2.groups");
  all.map_count("mamba_state_dim", "model.mamba2.state_dim");
  constexpr const char* kDefault = "Megatron-LM's default";
  all.draft().default_to("model.mamba2.head_dim", 64, kDefault);
  all.draft().default_to("model.mamba2.groups", 8, kDefault);
  all.draft().default_to("model.mamba2.state_dim", 128, kDefault);
  const auto hidden = whole_number(all.draft().value("model.hidden"));
  const auto width = whole_number(all.draft().value("model.mamba2.head_dim"));
  if (hidden && width && *width > 0 && *hidden < 10'000'000)
    all.draft().default_to("model.mamba2.heads", 2 * *hidden / *width,
                           "Megatron-LM's default: 2 hidden / head_dim");
}

/// Experts of Megatron-DeepSpeed are whole on each rank unless it is told otherwise, and drop tokens.
void read_deepspeed_experts(LaunchArguments& all) {
  if (!all.contains("zero_stage")) return;
  const bool cut = all.take_flag("enable_expert_tensor_parallelism").value_or(false);
  if (!cut) all.draft().default_to("plan.expert_tensor_parallel", 1, "Megatron-DeepSpeed's default");
  all.ignore("enable_expert_tensor_parallelism", "stands with plan.expert_tensor_parallel");
  if (all.take_flag("disable_moe_token_dropping") == true)
    all.became("disable_moe_token_dropping", "plan.capacity_factor", 0);
}

}  // namespace

void read_megatron_dispatch(LaunchArguments& all) {
  const std::string type = all.take_text("moe_token_dispatcher_type");
  constexpr const char* kNearest =
      "Orrery cannot say allgather: tokens go straight to their experts, which moves fewer bytes";
  if (type == "flex")
    all.became("moe_token_dispatcher_type", "plan.dispatcher", "deduplicated");
  else if (type.starts_with("alltoall"))
    all.became("moe_token_dispatcher_type", "plan.dispatcher", "all-to-all");
  else if (!type.empty())
    all.ignore("moe_token_dispatcher_type", kNearest);
  else
    all.draft().default_to("plan.dispatcher", "all-to-all", kNearest);
  for (const char* part : {"moe_enable_deepep", "moe_flex_dispatcher_backend"})
    all.ignore(part, "stands with plan.dispatcher");
  for (const char* factor : {"moe_expert_capacity_factor", "moe_train_capacity_factor"})
    if (const LaunchArgument* value = all.take(factor); value != nullptr && value->value.is_number())
      all.became(factor, "plan.capacity_factor", value->value);
  if (all.take_flag("overlap_moe_expert_parallel_comm") == true)
    all.became("overlap_moe_expert_parallel_comm", "plan.overlap_expert_parallel", true);
  if (all.take_flag("moe_shared_expert_overlap") == true)
    all.became("moe_shared_expert_overlap", "plan.overlap_shared_experts", true);
}

void read_megatron_experts(LaunchArguments& all, const std::string&) {
  const LaunchArgument* pattern = all.find("hybrid_layer_pattern");
  const bool unused = pattern != nullptr && pattern->value.is_string() &&
                      text_of(pattern->value).find('E') == std::string::npos;
  const std::int64_t experts = unused ? 0 : number_of_experts(all);
  if (experts < 1) return ignore_experts(all);
  all.became("num_experts", "model.experts", experts);
  all.draft().default_to("model.kind", "moe-transformer", "it has experts");
  all.map_count("moe_router_topk", "model.experts_per_token");
  all.draft().default_to("model.experts_per_token", all.contains("zero_stage") ? 1 : 2,
                         "the framework's default");
  read_expert_widths(all);
  if (!all.contains("hybrid_layer_pattern")) read_expert_layers(all);
  read_deepspeed_experts(all);
  read_megatron_dispatch(all);
  read_groups(all);
  if (const LaunchArgument* latent = all.take("moe_latent_size"); latent != nullptr && latent->value != 0)
    all.refuse("moe_latent_size", "experts that work in a narrower space (latent MoE) are not modelled",
               "experts as wide as the model");
}

void read_megatron_pattern(LaunchArguments& all) {
  const LaunchArgument* argument = all.take("hybrid_layer_pattern");
  if (argument == nullptr) return all.ignore("hybrid_layer_pattern", "all layers alike");
  const HybridPattern pattern = hybrid_pattern(text_of(argument->value));
  if (pattern.letters.empty())
    return all.draft().contradict(argument->source,
                                  "found no letters of layers: M, G, *, -, E, with | and / between");
  all.became("hybrid_layer_pattern", "model.layer_pattern", pattern.letters);
  all.draft().default_to("model.layers", pattern.letters.size(), "the letters of hybrid_layer_pattern");
  if (pattern.stages > 1)
    all.draft().default_to("plan.stage_layers", pattern.stage_layers, "the bars in hybrid_layer_pattern");
  if (pattern.further > 0)
    all.refuse("mtp_num_layers", "layers of multi-token prediction are unlike the last one", "none of them");
  all.map_count("mtp_num_layers", "model.multi_token_prediction", 0);
  if (pattern.letters.find('M') != std::string::npos) read_mamba(all);
}

}  // namespace orrery::importers::frameworks
