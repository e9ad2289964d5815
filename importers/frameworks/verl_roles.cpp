#include "importers/frameworks/verl_roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "importers/frameworks/megatron.hpp"

namespace orrery::importers::frameworks {
namespace {

/// Parts of a role whose keys have names of Megatron Core.
constexpr std::array<std::string_view, 5> kMegatronParts{
    "megatron.override_transformer_config.", "megatron.override_ddp_config.",
    "megatron.override_mcore_model_config.", "optim.override_optimizer_config.", "megatron."};

constexpr std::int64_t kMostRanks = 1'000'000;  ///< that share a sequence

constexpr std::array kDdpNames{
    Spelling{"grad_reduce_in_fp32", "accumulate_allreduce_grads_in_fp32"},
    Spelling{"num_distributed_optimizer_instances", "num_distributed_optimizer_instances"},
};

/// Settings of Megatron's parts that are verl's own.
bool is_of_verl(std::string_view name) {
  constexpr std::array<std::string_view, 12> kOwn{
      "param_offload", "grad_offload", "optimizer_offload",  "use_dist_checkpointing",
      "seed",          "use_mbridge",  "forward_only",       "load_weight",
      "dtype",         "_target_",     "use_remove_padding", "vanilla_mbridge"};
  return std::ranges::find(kOwn, name) != kOwn.end() || name.find('.') != std::string_view::npos ||
         name.starts_with("dist_checkpointing_");
}

/// Hands what verl passes on to Megatron to its reader.
void collect_megatron(const VerlRole& role, LaunchArguments& all, LaunchArguments& part) {
  for (const LaunchArgument& argument : all.list()) {
    if (!argument.name.starts_with(role.theirs)) continue;
    const std::string_view below = std::string_view(argument.name).substr(role.theirs.size());
    const auto owner =
        std::ranges::find_if(kMegatronParts, [below](std::string_view p) { return below.starts_with(p); });
    if (owner == kMegatronParts.end() || &argument != all.find(argument.name)) continue;
    const std::string name(below.substr(owner->size()));
    if (is_of_verl(name) || argument.value.is_object()) continue;
    all.answered(argument.name);
    const LaunchArgument known = respelled(argument.source, name, kDdpNames.data(), kDdpNames.size());
    SourceKey key = argument.source;
    key.value = known.value;
    add_megatron_argument(key, known.name, part);
  }
}

std::string_view reason_of_part(std::string_view name) {
  const std::string_view known = reason_to_ignore(name);
  return known.empty() ? "detail of Megatron Core, which Orrery cannot say" : known;
}

/// The defaults of verl's engine, where they are not Megatron's.
void default_engine(const VerlRole& role, LaunchArguments& part) {
  Draft& draft = part.draft();
  constexpr const char* kDefault = "verl's default";
  draft.default_to("plan.precision", "bf16", kDefault);
  const LaunchArgument* ranks = part.find("tensor_model_parallel_size");
  if (ranks != nullptr && whole_number(ranks->value).value_or(1) > 1)
    draft.default_to("plan.sequence_parallel", true, kDefault);
  if (role.trained && part.take_flag("use_distributed_optimizer") != false)
    draft.default_to("plan.zero_stage", 1, "verl's default: a distributed optimizer");
}

void read_megatron_role(const VerlRole& role, LaunchArguments& all) {
  Draft draft(all.draft().settled_below(role.ours));
  LaunchArguments part(all.context(), draft);
  collect_megatron(role, all, part);
  default_engine(role, part);
  read_megatron_plan(part, "verl");
  part.rest(reason_of_part);
  if (role.trained) return all.draft().adopt(draft, role.ours, {"plan.", "software."});
  all.draft().adopt(draft, role.ours,
                    {"plan.tensor_parallel", "plan.pipeline_parallel", "plan.context_parallel",
                     "plan.expert_parallel", "plan.expert_tensor_parallel", "plan.sequence_parallel",
                     "plan.virtual_stages", "plan.pipeline_schedule", "plan.precision", "plan.dispatcher"});
}

/// Activations are recomputed layer by layer unless the model says otherwise.
void read_checkpointing(const VerlRole& role, LaunchArguments& all) {
  const std::string ours = fmt::format("{}.plan.recompute", role.ours);
  const std::string of_critic = std::string(role.theirs) + "model.enable_gradient_checkpointing";
  const std::string name =
      all.contains(of_critic) ? of_critic : "actor_rollout_ref.model.enable_gradient_checkpointing";
  if (const auto told = all.take_flag(name)) all.became(name, ours, *told ? "full" : "none");
  all.draft().default_to(ours, "full", "verl's default");
}

void read_fsdp_role(const VerlRole& role, LaunchArguments& all) {
  const auto ours = [&role](std::string_view key) { return fmt::format("{}.plan.{}", role.ours, key); };
  const auto theirs = [&role](std::string_view key) { return fmt::format("{}{}", role.theirs, key); };
  Draft& draft = all.draft();
  draft.default_to(ours("zero_stage"), 3, "FSDP shards parameters, gradients and optimizer states");
  draft.default_to(ours("tensor_parallel"), 1, "FSDP without tensor parallelism");
  draft.default_to(ours("precision"), "bf16", "verl's default");
  const auto ranks = all.take_count(theirs("ulysses_sequence_parallel_size"));
  if (ranks && *ranks > 1) {
    all.map_count(theirs("ulysses_sequence_parallel_size"), ours("context_parallel"));
    draft.default_to(ours("context_parallel_type"), "all-to-all", "Ulysses");
  }
  all.ignore(theirs("ulysses_sequence_parallel_size"), "sequences are not shared");
  const auto sharded = all.take_count(theirs("fsdp_config.fsdp_size"), -1);
  if (sharded && *sharded > 1) all.map_count(theirs("fsdp_config.fsdp_size"), ours("zero_group_size"));
  all.ignore(theirs("fsdp_config.fsdp_size"), "all replicas share the states");
  all.map_flag(theirs("fsdp_config.reshard_after_forward"), ours("reshard_after_forward"));
  if (role.trained) read_checkpointing(role, all);
}

}  // namespace

std::int64_t read_verl_role(const VerlRole& role, bool megatron, LaunchArguments& all) {
  megatron ? read_megatron_role(role, all) : read_fsdp_role(role, all);
  const Json& ranks = all.draft().value(fmt::format("{}.plan.context_parallel", role.ours));
  return std::clamp<std::int64_t>(whole_number(ranks).value_or(1), 1, kMostRanks);
}

void read_verl_rollout(LaunchArguments& all) {
  constexpr const char* kDefault = "verl's default";
  const auto theirs = [](std::string_view key) { return fmt::format("actor_rollout_ref.rollout.{}", key); };
  const auto ours = [](std::string_view key) { return fmt::format("post_training.roles.rollout.{}", key); };
  Draft& draft = all.draft();
  const std::string engine = all.take_text(theirs("name"));
  if (engine == "vllm" || engine == "sglang" || engine == "trtllm")
    all.became(theirs("name"), ours("stack"),
               engine == "vllm"     ? "vllm-2025"
               : engine == "sglang" ? "sglang-2025"
                                    : "tensorrt-llm-2025",
               "the nearest calibrated version");
  else if (!engine.empty())
    all.refuse(theirs("name"), fmt::format("{} generates without an engine that is calibrated", engine),
               "vLLM");
  draft.default_to(ours("stack"), "vllm-2025", "the usual engine");
  all.map_count(theirs("tensor_model_parallel_size"), ours("plan.tensor_parallel"));
  draft.default_to(ours("plan.tensor_parallel"), 2, kDefault);
  all.map_count(theirs("pipeline_model_parallel_size"), ours("plan.pipeline_parallel"));
  all.map_count(theirs("expert_parallel_size"), ours("plan.expert_parallel"));
  all.map(theirs("gpu_memory_utilization"), ours("inference.gpu_memory_utilization"));
  draft.default_to(ours("inference.gpu_memory_utilization"), 0.5, kDefault);
  all.map_count(theirs("max_model_len"), ours("inference.max_model_len"));
  all.map_count(theirs("max_num_seqs"), ours("inference.batch_size"));
  draft.default_to(ours("inference.batch_size"), 1024, kDefault);
  all.map_count(theirs("max_num_batched_tokens"), ours("inference.max_num_batched_tokens"));
  draft.default_to(ours("inference.max_num_batched_tokens"), 8192, kDefault);
  if (all.take_flag(theirs("enforce_eager")) == true)
    all.became(theirs("enforce_eager"), ours("plan.cuda_graphs"), "none");
  all.ignore(theirs("enforce_eager"), "the engine captures CUDA graphs, as usual");
}

}  // namespace orrery::importers::frameworks
