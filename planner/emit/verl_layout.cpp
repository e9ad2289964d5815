#include "planner/emit/verl_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "planner/emit/export_report.hpp"

namespace orrery {
namespace verl {
namespace {

/// Where verl has arguments of Megatron Core; ++ sets keys that its configuration leaves out.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kSections{{
    {"--tensor-model-parallel-size", "megatron."},
    {"--pipeline-model-parallel-size", "megatron."},
    {"--context-parallel-size", "megatron."},
    {"--expert-model-parallel-size", "megatron."},
    {"--expert-tensor-parallel-size", "megatron."},
    {"--sequence-parallel", "megatron."},
    {"--overlap-grad-reduce", "megatron.override_ddp_config."},
    {"--overlap-param-gather", "megatron.override_ddp_config."},
    {"--num-distributed-optimizer-instances", "megatron.override_ddp_config."},
    {"--use-precision-aware-optimizer", "optim.override_optimizer_config."},
    {"--optimizer-cpu-offload", "optim.override_optimizer_config."},
    {"--optimizer-offload-fraction", "optim.override_optimizer_config."},
    {"--recompute-", "megatron.override_transformer_config."},
    {"--moe-", "megatron.override_transformer_config."},
    {"--overlap-moe-expert-parallel-comm", "megatron.override_transformer_config."},
    {"--tp-comm-overlap", "megatron.override_transformer_config."},
    {"--cp-comm-type", "megatron.override_transformer_config."},
    {"--hierarchical-context-parallel-sizes", "megatron.override_transformer_config."},
    {"--pipeline-model-parallel-layout", "megatron.override_transformer_config."},
    {"--cuda-graph-", "megatron.override_transformer_config."},
    {"--fp8-recipe", "megatron.override_transformer_config."},
}};

/// Arguments that have another name there.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRenamed{{
    {"--ddp-bucket-size", "megatron.override_ddp_config.bucket_size"},
    {"--fp8-format", "megatron.override_transformer_config.fp8"},
    {"--decoder-first-pipeline-num-layers",
     "megatron.override_transformer_config.num_layers_in_first_pipeline_stage"},
    {"--decoder-last-pipeline-num-layers",
     "megatron.override_transformer_config.num_layers_in_last_pipeline_stage"},
}};

/// Keys that a role without an optimizer has a use for.
constexpr std::array<std::string_view, 6> kForwardKeys{
    "plan.tensor_parallel", "plan.pipeline_parallel",      "plan.context_parallel",
    "plan.expert_parallel", "plan.expert_tensor_parallel", "plan.sequence_parallel"};

/// Keys that say nothing to a framework, or that the script sets for all roles.
constexpr std::array<std::string_view, 9> kElsewhere{
    "plan.micro_batch_size",    "plan.global_batch_size", "plan.precision",
    "plan.token_imbalance",     "plan.token_histogram",   "plan.sub_seq_length",
    "plan.replica_batch_sizes", "plan.virtual_stages",    "plan.sharding"};

bool holds(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// The name of an argument below a role; "" where verl has no place for it.
std::string place_of(std::string_view argument) {
  for (const auto& [theirs, place] : kRenamed)
    if (argument == theirs) return std::string(place);
  for (const auto& [begins, section] : kSections) {
    if (!argument.starts_with(begins)) continue;
    std::string name(argument.substr(2));
    std::ranges::replace(name, '-', '_');
    return std::string(section) + name;
  }
  return "";
}

std::string shown(const EmitJson& value) {
  if (value.is_boolean()) return value == true ? "True" : "False";
  return shell_quoted(value.is_string() ? value.get<std::string>() : value.dump());
}

class Layout {
 public:
  Layout(const std::string& owner, const Experiment& role, bool trained)
      : owner_(owner), role_(role), trained_(trained) {}

  std::vector<VerlSetting> megatron() {
    set("strategy", "megatron", "plan");
    const ExportReport report(role_, megatron_rows());
    for (const Entry& entry : report.entries())
      if (entry.key.starts_with("plan.") && !holds(kElsewhere, entry.key)) add(entry);
    if (role_.plan.virtual_stages > 1 && role_.plan.stage_layers.empty())
      set("megatron.virtual_pipeline_model_parallel_size", role_.plan.virtual_stages, "plan.virtual_stages");
    if (role_.plan.tensor_parallel > 1 && !role_.plan.sequence_parallel)  // it is on by default
      set("megatron.sequence_parallel", false, "plan.sequence_parallel");
    if (trained_)
      set("megatron.override_ddp_config.grad_reduce_in_fp32", role_.software.gradient_bytes == 4,
          "software.gradient_bytes", true);
    if (trained_ && role_.plan.zero_stage != 1)
      set("megatron.use_distributed_optimizer", false, "plan.zero_stage");
    if (trained_ && role_.plan.zero_stage > 1)
      lack("plan.zero_stage", "Megatron Core shards the states of the optimizer alone");
    return std::move(settings_);
  }

  std::vector<VerlSetting> fsdp() {
    const Plan& plan = role_.plan;
    set("strategy", "fsdp2", "plan.zero_stage");
    set("ulysses_sequence_parallel_size", plan.context_parallel, "plan.context_parallel");
    const bool grouped = plan.zero_group_size > 0 && plan.zero_group_size < plan.data_parallel;
    set("fsdp_config.fsdp_size", grouped ? plan.zero_group_size : -1, "plan.zero_group_size");
    set("fsdp_config.reshard_after_forward", plan.reshard_after_forward, "plan.reshard_after_forward");
    if (trained_) recompute();
    if (plan.context_parallel > 1 && plan.context_parallel_type != ContextParallelType::all_to_all)
      lack("plan.context_parallel_type", "sequences are shared by all-to-all (Ulysses)");
    return std::move(settings_);
  }

 private:
  void set(const std::string& name, const EmitJson& value, std::string_view key, bool added = false) {
    settings_.push_back(
        {fmt::format("{}{}.{}={}", added ? "++" : "", owner_, name, shown(value)), std::string(key), ""});
  }
  void lack(std::string_view key, std::string_view reason) {
    settings_.push_back({"", std::string(key), std::string(reason)});
  }

  void add(const Entry& entry) {
    if (!trained_ && !holds(kForwardKeys, entry.key)) return;
    if (entry.key == "plan.zero_stage" || entry.key == "plan.stage_layers") return add_settings(entry);
    if (entry.fate == Entry::ExportOutcome::lacking) return lack(entry.key, entry.remark);
    add_settings(entry);
  }

  void add_settings(const Entry& entry) {
    for (const Setting& setting : entry.settings) {
      const std::string place = place_of(setting.path);
      const bool engine = place.starts_with("megatron.") && place.find("override") == std::string::npos;
      if (!place.empty()) set(place, setting.value, entry.key, !engine);
    }
  }

  void recompute() {
    const Plan& plan = role_.plan;
    const bool whole = plan.recompute == Recompute::full;
    const std::string of_actor = "actor_rollout_ref.model.enable_gradient_checkpointing=";
    const bool critic = owner_ == "critic";
    settings_.push_back(
        {(critic ? "critic.model.enable_gradient_checkpointing=" : of_actor) + (whole ? "True" : "False"),
         "plan.recompute", ""});
    if (!whole && plan.recompute != Recompute::none)
      lack("plan.recompute", "whole layers are recomputed, or nothing");
  }

  const std::string& owner_;
  const Experiment& role_;
  bool trained_;
  std::vector<VerlSetting> settings_;
};

}  // namespace
}  // namespace verl

bool is_verl_fsdp(const Plan& plan) {
  return plan.zero_stage == 3 && plan.tensor_parallel == 1 && plan.pipeline_parallel == 1 &&
         plan.expert_parallel == 1;
}

std::vector<VerlSetting> verl_layout(const std::string& owner, const Experiment& role, bool fsdp,
                                     bool trained) {
  verl::Layout layout(owner, role, trained);
  return fsdp ? layout.fsdp() : layout.megatron();
}

}  // namespace orrery
