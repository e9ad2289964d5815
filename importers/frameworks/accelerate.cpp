#include "importers/frameworks/accelerate.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "importers/frameworks/arguments.hpp"
#include "importers/frameworks/fsdp.hpp"

namespace orrery::importers::frameworks {
namespace {

bool recognises_accelerate(const SourceFile& file) {
  const auto has = [&file](std::string_view word) {
    return file.text().find(word) != std::string_view::npos;
  };
  return has("compute_environment:") || has("distributed_type:") ||
         (has("num_machines:") && has("num_processes:")) || (has("fsdp_version:") && has("fsdp_"));
}

std::string_view reason_in_accelerate(std::string_view name) {
  constexpr std::string_view kStart = "how processes start, which changes no step";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kReasons{
      {{"compute_environment", kStart},
       {"debug", "a check, which changes no step"},
       {"downcast_bf16", "of TPUs"},
       {"dynamo_config", "compilation, which the stack has by its version"},
       {"distributed_type", "stands with the plan"},
       {"machine_rank", kStart},
       {"main_", kStart},
       {"rdzv_backend", kStart},
       {"same_network", kStart},
       {"tpu_", "of TPUs"},
       {"use_cpu", "GPUs are used"},
       {"gpu_ids", "num_processes says how many"},
       {"enable_cpu_affinity", kStart},
       {"deepspeed_config.", "detail of DeepSpeed"},
       {"fsdp_config.", "detail of FSDP"},
       {"parallelism_config", "detail of the parallel dimensions"},
       {"megatron_lm_config", "detail of Megatron-LM"}}};
  for (const auto& [begins, why] : kReasons)
    if (name.starts_with(begins)) return why;
  return "";
}

void read_processes(LaunchArguments& all) {
  all.map_count("num_processes", launch::kGpus);
  all.map_count("num_machines", launch::kNodes);
  const std::string mixed = all.take_text("mixed_precision");
  if (mixed == "no" || mixed == "false")
    all.became("mixed_precision", "plan.precision", "fp32");
  else if (!mixed.empty())
    all.became("mixed_precision", "plan.precision", mixed);
  if (all.take_flag("use_cpu") == true) all.refuse("use_cpu", "training on CPUs is not modelled", "GPUs");
}

void read_dimensions(LaunchArguments& all) {
  const std::string part = all.contains("parallelism_config.parallelism_config_tp_size")
                               ? "parallelism_config.parallelism_config_"
                               : "parallelism_config_";
  all.map_count(part + "tp_size", "plan.tensor_parallel");
  all.map_count(part + "cp_size", "plan.context_parallel");
  const auto copies = all.take_count(part + "dp_replicate_size");
  const auto shards = all.take_count(part + "dp_shard_size");
  if (shards && copies && *copies > 1) all.became(part + "dp_shard_size", "plan.zero_group_size", *shards);
  all.ignore(part + "dp_shard_size", "FSDP shards over all replicas");
  all.ignore(part + "dp_replicate_size", "stands with plan.zero_group_size");
  if (copies && shards && !all.contains("num_processes")) {
    const auto tensor = whole_number(all.draft().value("plan.tensor_parallel")).value_or(1);
    const auto context = whole_number(all.draft().value("plan.context_parallel")).value_or(1);
    if (*copies * *shards < 1 << 22 && tensor * context < 1 << 22)
      all.draft().default_to(launch::kGpus, *copies * *shards * tensor * context,
                             "the product of the dimensions");
  }
}

void read_deepspeed_part(LaunchArguments& all) {
  all.map_count("deepspeed_config.zero_stage", "plan.zero_stage", 0);
  all.map_count("deepspeed_config.gradient_accumulation_steps", launch::kAccumulation);
  const std::string offload = all.take_text("deepspeed_config.offload_optimizer_device");
  if (!offload.empty() && offload != "none")
    all.became("deepspeed_config.offload_optimizer_device", "plan.offload", "optimizer");
  const std::string weights = all.take_text("deepspeed_config.offload_param_device");
  if (!weights.empty() && weights != "none")
    all.refuse("deepspeed_config.offload_param_device",
               "parameters in the memory of the host are not modelled", "parameters on the GPUs");
  all.ignore("deepspeed_config.deepspeed_config_file", "that file says more: give it too");
}

void read_megatron_part(LaunchArguments& all) {
  const std::string part = "megatron_lm_config.megatron_lm_";
  all.map_count(part + "tp_degree", "plan.tensor_parallel");
  all.map_count(part + "pp_degree", "plan.pipeline_parallel");
  all.map_flag(part + "sequence_parallelism", "plan.sequence_parallel");
  const auto sharded = all.take_flag(part + "use_distributed_optimizer");
  if (sharded) all.became(part + "use_distributed_optimizer", "plan.zero_stage", *sharded ? 1 : 0);
}

void read_accelerate(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  const SourceKeys keys(context.file);
  for (const SourceKey& key : keys.list()) all.add({key.key, key.value, key});
  const std::string type = all.take_text("distributed_type");
  read_processes(all);
  read_dimensions(all);
  if (type == "fsdp" || all.contains("fsdp_config.fsdp_version") ||
      all.contains("fsdp_config.fsdp_sharding_strategy"))
    read_fsdp_config(all, "fsdp_config.fsdp_");
  if (type == "deepspeed") read_deepspeed_part(all);
  if (type == "megatron_lm") read_megatron_part(all);
  if (type == "multi_gpu") {
    draft.default_to("plan.zero_stage", 0, "DistributedDataParallel");
    draft.default_to("plan.overlap_gradient_reduce", true, "DistributedDataParallel reduces beside the pass");
  }
  draft.default_to("stack", "huggingface-2023", "the nearest calibrated version of trainers of Hugging Face");
  all.rest(reason_in_accelerate);
}

}  // namespace

const Importer kAccelerate{{"accelerate", "YAML of Hugging Face's accelerate (FSDP, DeepSpeed)"},
                           recognises_accelerate,
                           read_accelerate};

}  // namespace orrery::importers::frameworks
