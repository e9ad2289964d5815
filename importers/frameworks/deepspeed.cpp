#include "importers/frameworks/deepspeed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace orrery::importers::frameworks {
namespace {

struct DeepSpeedReason {
  std::string_view begins;
  std::string_view why;
};

constexpr std::string_view kNotSaid = "it changes times, and Orrery cannot say it";

constexpr std::array kDeepSpeedReasons{
    DeepSpeedReason{"optimizer.params", "learning, which takes no time of its own"},
    DeepSpeedReason{"scheduler", "learning, which takes no time of its own"},
    DeepSpeedReason{"gradient_clipping", "learning, which takes no time of its own"},
    DeepSpeedReason{"prescale_gradients", "learning, which takes no time of its own"},
    DeepSpeedReason{"gradient_predivide_factor", "learning, which takes no time of its own"},
    DeepSpeedReason{"fp16.", "scaling of the loss, which takes no time of its own"},
    DeepSpeedReason{"bf16.", "scaling of the loss, which takes no time of its own"},
    DeepSpeedReason{"amp", "NVIDIA Apex, which Orrery cannot say"},
    DeepSpeedReason{"steps_per_print", "logging, which is no part of a step here"},
    DeepSpeedReason{"wall_clock_breakdown", "logging, which is no part of a step here"},
    DeepSpeedReason{"dump_state", "logging, which is no part of a step here"},
    DeepSpeedReason{"memory_breakdown", "logging, which is no part of a step here"},
    DeepSpeedReason{"flops_profiler", "logging, which is no part of a step here"},
    DeepSpeedReason{"comms_", "logging, which is no part of a step here"},
    DeepSpeedReason{"monitor_config", "logging, which is no part of a step here"},
    DeepSpeedReason{"tensorboard", "logging, which is no part of a step here"},
    DeepSpeedReason{"wandb", "logging, which is no part of a step here"},
    DeepSpeedReason{"csv_monitor", "logging, which is no part of a step here"},
    DeepSpeedReason{"checkpoint", "checkpoints, which are no part of a step here"},
    DeepSpeedReason{"load_universal_checkpoint", "checkpoints, which are no part of a step here"},
    DeepSpeedReason{"zero_allow_untested_optimizer", "a check, which changes no step"},
    DeepSpeedReason{"zero_force_ds_cpu_optimizer", "stands with the offloaded optimizer"},
    DeepSpeedReason{"zero_optimization.offload_optimizer.", "detail of the offloaded optimizer"},
    DeepSpeedReason{"zero_optimization.offload_param.", "detail of offloaded parameters"},
    DeepSpeedReason{"zero_optimization.stage3_gather", "checkpoints, which are no part of a step here"},
    DeepSpeedReason{"zero_optimization.stage3_", "ZeRO-3 in parameters, which plan.prefetch counts in units"},
    DeepSpeedReason{"zero_optimization.sub_group_size", "detail of the optimizer's step"},
    DeepSpeedReason{"zero_optimization.zero_quantized", kNotSaid},
    DeepSpeedReason{"zero_optimization.allgather_bucket_size", "parameters are gathered whole"},
    DeepSpeedReason{"zero_optimization.", "detail of ZeRO"},
    DeepSpeedReason{"compression_training", "quantisation in training, which is not modelled"},
    DeepSpeedReason{"data_efficiency", kNotSaid},
    DeepSpeedReason{"curriculum_learning", kNotSaid},
    DeepSpeedReason{"autotuning", "what the autotuner chooses does not stand in the file"},
    DeepSpeedReason{"elasticity", "what an elastic run gets does not stand in the file"},
    DeepSpeedReason{"eigenvalue", "learning, which takes no time of its own"},
    DeepSpeedReason{"progressive_layer_drop", kNotSaid},
    DeepSpeedReason{"sparse_attention", kNotSaid},
    DeepSpeedReason{"sparse_gradients", kNotSaid},
    DeepSpeedReason{"activation_checkpointing",
                    "how checkpointed activations are kept; the trainer turns them on"},
    DeepSpeedReason{"aio", "reads from disks, which are not modelled"},
    DeepSpeedReason{"hybrid_engine", "of reinforcement learning, which is not modelled"},
    DeepSpeedReason{"pipeline", "the degree of the pipeline stands in code"},
    DeepSpeedReason{"communication_data_type", "stands with plan.wire_precision"},
    DeepSpeedReason{"data_types", "stands with software.gradient_bytes"},
    DeepSpeedReason{"tensor_parallel.", "detail of tensor parallelism"},
    DeepSpeedReason{"seq_parallel_communication_data_type", kNotSaid},
    DeepSpeedReason{"zero_hpz", kNotSaid},
    DeepSpeedReason{"_comment", "a comment"},
};

bool is_auto(const LaunchArgument* argument) { return argument != nullptr && argument->value == "auto"; }

/// A size, or "auto", which another file fills in with `by`.
void read_size(LaunchArguments& all, const char* name, const char* ours, const char* by) {
  const LaunchArgument* argument = all.find(name);
  if (!is_auto(argument)) return all.map_count(name, ours);
  all.answered(name);
  all.draft().await(
      argument->source, ours,
      fmt::format("\"auto\" is filled in by {} of the trainer: give its file too, or --set {}=N", by, ours));
}

void read_sizes(LaunchArguments& all) {
  if (is_auto(all.find("train_batch_size")))
    all.ignore("train_batch_size", "micro-batch x accumulation steps x replicas");
  else
    all.map_count("train_batch_size", "plan.global_batch_size");
  read_size(all, "train_micro_batch_size_per_gpu", "plan.micro_batch_size", "per_device_train_batch_size");
  read_size(all, "gradient_accumulation_steps", launch::kAccumulation, "gradient_accumulation_steps");
  all.map_count("tensor_parallel.autotp_size", "plan.tensor_parallel");
  all.map_count("sequence_parallel_size", "plan.context_parallel");
}

/// fp16 and bf16, each on, off or "auto".
void read_widths_of_products(LaunchArguments& all) {
  const LaunchArgument* open = nullptr;
  for (const auto& [name, ours] : {std::pair{"fp16.enabled", "fp16"}, std::pair{"bf16.enabled", "bf16"},
                                   std::pair{"bfloat16.enabled", "bf16"}, std::pair{"fp16.fp16", "fp16"}}) {
    const LaunchArgument* argument = all.find(name);
    if (argument == nullptr) continue;
    if (is_auto(argument)) {
      if (open != nullptr) all.ignore(name, "the trainer says it");
      if (open == nullptr) open = argument;
      all.answered(name);
    } else if (all.take_flag(name) == true && !all.draft().has("plan.precision")) {
      all.became(name, "plan.precision", ours);
    }
    all.ignore(name, all.draft().has("plan.precision") ? "stands with plan.precision" : "off");
  }
  if (open != nullptr && !all.draft().has("plan.precision"))
    return all.draft().await(
        open->source, "plan.precision",
        "\"auto\" is filled in by bf16 or fp16 of the trainer: give its file too, or --set "
        "plan.precision=bf16");
  all.draft().default_to("plan.precision", "fp32", "DeepSpeed without fp16 and bf16");
}

void read_offloads(LaunchArguments& all) {
  constexpr const char* kOptimizer = "zero_optimization.offload_optimizer.device";
  constexpr const char* kParameters = "zero_optimization.offload_param.device";
  const std::string states = all.take_text(kOptimizer);
  if (states == "nvme")
    all.refuse(kOptimizer, "states of the optimizer on disks are not modelled", "memory of the host");
  if (!states.empty() && states != "none") {
    all.became(kOptimizer, "plan.offload", "optimizer");
    if (const LaunchArgument* ratio = all.take("zero_optimization.offload_optimizer.ratio");
        ratio != nullptr && ratio->value.is_number())
      all.became("zero_optimization.offload_optimizer.ratio", "plan.offload_fraction", ratio->value);
  }
  all.ignore(kOptimizer, "not offloaded");
  const std::string weights = all.take_text(kParameters);
  if (!weights.empty() && weights != "none")
    all.refuse(kParameters, "parameters in the memory of the host are not modelled",
               "parameters on the GPUs");
  all.ignore(kParameters, "not offloaded");
  if (all.take_flag("zero_optimization.cpu_offload") == true)
    all.became("zero_optimization.cpu_offload", "plan.offload", "optimizer");
}

void read_zero(LaunchArguments& all) {
  Draft& draft = all.draft();
  all.map_count("zero_optimization.stage", "plan.zero_stage", 0);
  draft.default_to("plan.zero_stage", 0, "DeepSpeed without zero_optimization");
  const auto stage = whole_number(draft.value("plan.zero_stage")).value_or(0);
  if (stage == 0) {
    draft.default_to("plan.overlap_gradient_reduce", false, "without ZeRO, DeepSpeed reduces after the pass");
  } else {
    all.map_flag("zero_optimization.overlap_comm", "plan.overlap_gradient_reduce");
    draft.default_to("plan.overlap_gradient_reduce", stage == 3, "DeepSpeed's default: with ZeRO-3 alone");
    if (stage < 3)
      draft.default_to("plan.overlap_parameter_gather", false, "parameters are gathered after the step");
  }
  for (const char* group : {"zero_optimization.mics_shard_size", "zero_optimization.zero_hpz_partition_size"})
    if (const auto ranks = all.take_count(group); ranks && *ranks > 1)
      all.became(group, "plan.zero_group_size", *ranks);
  if (!all.contains("zero_optimization.reduce_bucket_size")) return;
  if (is_auto(all.find("zero_optimization.reduce_bucket_size")))
    return all.ignore("zero_optimization.reduce_bucket_size",
                      "the trainer takes the square of the model's width");
  const auto gradients = all.take_count("zero_optimization.reduce_bucket_size");
  const auto width = whole_number(draft.value("software.gradient_bytes")).value_or(2);
  if (gradients && draft.value("plan.overlap_gradient_reduce") == true)
    all.became("zero_optimization.reduce_bucket_size", "plan.bucket_mb",
               static_cast<double>(*gradients) * static_cast<double>(width) / 1e6,
               "gradients x bytes of one");
}

void read_optimizer_type(LaunchArguments& all) {
  const std::string type = all.take_text("optimizer.type");
  if (type.empty()) return;
  if (type.find("1bit") != std::string::npos || type.find("onebit") != std::string::npos ||
      type.starts_with("zeroone"))
    return all.refuse("optimizer.type", "optimizers that compress what they send are not modelled", "Adam");
  const char* ours = type.starts_with("adam") || type == "cpuadam" ? "adam"
                     : type == "lion"                              ? "lion"
                     : type == "sgd"                               ? "sgd-momentum"
                     : type == "muon"                              ? "muon"
                                                                   : "";
  if (*ours == 0) return all.refuse("optimizer.type", "this optimizer is not modelled", "Adam");
  all.became("optimizer.type", "plan.optimizer", ours);
}

void read_types(LaunchArguments& all) {
  const std::string sums = all.take_text("data_types.grad_accum_dtype");
  if (!sums.empty())
    all.became("data_types.grad_accum_dtype", "software.gradient_bytes", sums == "fp32" ? 4 : 2);
  const std::string wire = all.take_text("communication_data_type");
  if (wire == "fp32" || wire == "fp16" || wire == "bf16")
    all.became("communication_data_type", "plan.wire_precision.data", wire);
}

bool recognises_deepspeed(const SourceFile& file) {
  if (file.text().find('{') == std::string_view::npos) return false;
  constexpr std::array<std::string_view, 4> kTells{"\"zero_optimization\"",
                                                   "\"train_micro_batch_size_per_gpu\"",
                                                   "\"train_batch_size\"", "\"gradient_accumulation_steps\""};
  const auto tells = [&file](std::string_view word) {
    return file.text().find(word) != std::string_view::npos;
  };
  return std::ranges::any_of(kTells, tells) && !tells("\"num_attention_heads\"") && !tells("num_layers") &&
         !tells("#!/");
}

void read_deepspeed(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  const SourceKeys keys(context.file);
  for (const SourceKey& key : keys.list()) all.add({key.key, key.value, key});
  read_deepspeed_keys(all);
  draft.default_to("stack", "huggingface-2023", "the nearest calibrated version: trainers with DeepSpeed");
  all.rest(reason_in_deepspeed);
}

}  // namespace

std::string_view reason_in_deepspeed(std::string_view name) {
  for (const DeepSpeedReason& reason : kDeepSpeedReasons)
    if (name.starts_with(reason.begins)) return reason.why;
  return "";
}

void read_deepspeed_keys(LaunchArguments& all) {
  read_sizes(all);
  read_types(all);
  read_widths_of_products(all);
  read_offloads(all);
  read_zero(all);
  read_optimizer_type(all);
}

void read_deepspeed_text(const std::string& text, const ImportContext& context, const FilePlace& place,
                         Draft& draft) {
  const SourceFile file(context.file.path(), text);
  LaunchArguments all(context, draft);
  const SourceKeys keys(file);
  for (SourceKey key : keys.list()) {
    key.place = place;
    all.add({key.key, key.value, key});
  }
  read_deepspeed_keys(all);
  all.rest(reason_in_deepspeed);
}

const Importer kDeepSpeed{{"deepspeed", "DeepSpeed's JSON file"}, recognises_deepspeed, read_deepspeed};

}  // namespace orrery::importers::frameworks
