#include "importers/frameworks/hf_trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "importers/frameworks/deepspeed.hpp"
#include "importers/frameworks/megatron.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr std::array<std::string_view, 5> kLengths{"cutoff_len", "max_seq_length", "max_seq_len",
                                                   "model_max_length", "block_size"};
constexpr std::array<std::string_view, 5> kMegatronKeys{
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size",
    "use_distributed_optimizer", "context_parallel_size"};

void read_batch(LaunchArguments& all) {
  all.map_count("per_device_train_batch_size", "plan.micro_batch_size");
  all.map_count("per_gpu_train_batch_size", "plan.micro_batch_size");
  all.map_count("gradient_accumulation_steps", launch::kAccumulation);
  for (const std::string_view name : kLengths) all.map_count(name, "model.seq_length");
  all.draft().default_to(launch::kAccumulation, 1, "the trainer's default");
}

void read_precision_of_trainer(LaunchArguments& all) {
  for (const char* name : {"bf16", "fp16"}) {
    if (all.take_flag(name) == true) all.became(name, "plan.precision", name);
    all.ignore(name, "off");
  }
  if (all.take_flag("pure_bf16") == true) all.became("pure_bf16", "plan.precision", "bf16");
}

/// Adapters, and in what the weights beside them are kept.
void read_adapters(LaunchArguments& all) {
  const std::string type = all.take_text("finetuning_type");
  const bool adapts = type == "lora" || (type.empty() && all.contains("lora_rank"));
  if (type == "full" || type.empty()) {
    all.ignore("finetuning_type", "all weights are trained");
  } else if (adapts) {
    all.ignore("finetuning_type", "model.lora_rank says it");
  } else {
    all.refuse("finetuning_type", "training of a few layers is not modelled", "training of all");
  }
  if (!adapts) return;
  all.map_count("lora_rank", "model.lora_rank");
  all.map_count("lora_r", "model.lora_rank");
  all.draft().default_to("model.lora_rank", 8, "the trainer's default");
  const auto bits = all.take_count("quantization_bit");
  if (bits) all.became("quantization_bit", "plan.frozen_precision", *bits == 4 ? "nf4" : "int8");
  if (all.take_flag("load_in_4bit") == true) all.became("load_in_4bit", "plan.frozen_precision", "nf4");
}

void read_memory(LaunchArguments& all, bool factory) {
  if (all.take_flag("gradient_checkpointing") == true)
    all.became("gradient_checkpointing", "plan.recompute", "full");
  if (all.take_flag("disable_gradient_checkpointing") == true)
    all.became("disable_gradient_checkpointing", "plan.recompute", "none");
  if (factory && !all.contains("recompute_granularity"))
    all.draft().default_to("plan.recompute", "full", "LLaMA-Factory's default: gradient checkpointing");
  const std::string attention = all.take_text("flash_attn") + all.take_text("attn_implementation");
  const char* told = all.contains("flash_attn") ? "flash_attn" : "attn_implementation";
  if (!attention.empty() && attention != "auto")
    all.became(told, "model.attention", attention == "disabled" || attention == "eager" ? "core" : "flash");
}

/// FSDP as the trainer is told: "full_shard auto_wrap".
void read_fsdp_words(LaunchArguments& all) {
  const std::string words = all.take_text("fsdp");
  if (words.empty() || words == "false") return;
  const bool whole = words.find("full_shard") != std::string::npos,
             hybrid = words.find("hybrid_shard") != std::string::npos;
  const bool part = words.find("shard_grad_op") != std::string::npos;
  if (whole || hybrid || part) {
    all.became("fsdp", "plan.zero_stage", 3);
    if (part) all.draft().default_to("plan.reshard_after_forward", false, "shard_grad_op keeps parameters");
    if (hybrid) all.draft().default_to("plan.zero_group_size", 8, "hybrid_shard shards within a node");
  }
  if (words.find("offload") != std::string::npos)
    all.draft().default_to("plan.offload", "optimizer", "FSDP's offload, of parameters too");
}

std::string_view reason_in_trainer(std::string_view name) {
  struct Begin {
    std::string_view begins, why;
  };
  constexpr std::array kReasons{
      Begin{"dataset", "data and tokenizer, which change no step here"},
      Begin{"template", "data and tokenizer, which change no step here"},
      Begin{"preprocessing", "data and tokenizer, which change no step here"},
      Begin{"max_samples", "data and tokenizer, which change no step here"},
      Begin{"overwrite", "data and tokenizer, which change no step here"},
      Begin{"train_file", "data and tokenizer, which change no step here"},
      Begin{"media_dir", "data and tokenizer, which change no step here"},
      Begin{"image_", "images, which are not modelled"},
      Begin{"video_", "images, which are not modelled"},
      Begin{"freeze_", "parts for images, which are not modelled"},
      Begin{"output_dir", "checkpoints, which are no part of a step here"},
      Begin{"plot_", "logging, which is no part of a step here"},
      Begin{"report_to", "logging, which is no part of a step here"},
      Begin{"run_name", "logging, which is no part of a step here"},
      Begin{"num_train_epochs", "the length of the training changes no step"},
      Begin{"max_steps", "the length of the training changes no step"},
      Begin{"learning_rate", "learning, which takes no time of its own"},
      Begin{"warmup", "learning, which takes no time of its own"},
      Begin{"max_grad_norm", "learning, which takes no time of its own"},
      Begin{"lora_", "adapters, beside their rank"},
      Begin{"pref_", "learning, which takes no time of its own"},
      Begin{"val_size", "evaluation, which is no part of a step here"},
      Begin{"per_device_eval", "evaluation, which is no part of a step here"},
      Begin{"eval", "evaluation, which is no part of a step here"},
      Begin{"do_", "what the trainer does; a step of training is simulated"},
      Begin{"stage", "what is learned; a step of training is simulated"},
      Begin{"trust_remote_code", "checkpoints, which are no part of a step here"},
      Begin{"resume", "checkpoints, which are no part of a step here"},
      Begin{"deepspeed", "DeepSpeed's file says it: give it too"},
      Begin{"ddp_timeout", "how processes start, which changes no step"},
      Begin{"config_file", "accelerate's file says it: give it too"},
      Begin{"fsdp", "stands with plan.zero_stage"},
      Begin{"optim", "Adam is the usual one"},
      Begin{"enable_liger_kernel", "it changes times, and Orrery cannot say it"},
      Begin{"packing", "sequences are full"},
      Begin{"neat_packing", "sequences are full"},
  };
  for (const Begin& reason : kReasons)
    if (name.starts_with(reason.begins)) return reason.why;
  return reason_to_ignore(name);
}

void read_trainer_arguments(LaunchArguments& all, bool factory) {
  all.map("model_name_or_path", launch::kModel);
  all.map("pretrained_model_name_or_path", launch::kModel);
  read_launcher_arguments(all);
  read_batch(all);
  read_precision_of_trainer(all);
  read_adapters(all);
  read_memory(all, factory);
  read_fsdp_words(all);
  const bool megatron =
      std::ranges::any_of(kMegatronKeys, [&all](std::string_view name) { return all.contains(name); });
  all.map_count("zero_stage", "plan.zero_stage", 0);
  if (megatron) read_megatron_parts(all, "Megatron-LM");
  const bool sharded = all.contains("deepspeed") || all.contains("fsdp") || all.contains("config_file");
  if (!sharded && !megatron)
    all.draft().default_to("plan.overlap_gradient_reduce", true,
                           "DistributedDataParallel reduces beside the pass");
  all.draft().default_to("stack", "huggingface-2023", "the nearest calibrated version of the trainer");
  all.rest(reason_in_trainer);
}

bool recognises_trainer(const SourceFile& file) {
  const auto has = [&file](std::string_view word) {
    return file.text().find(word) != std::string_view::npos;
  };
  return (has("model_name_or_path:") || has("\"model_name_or_path\"")) &&
         (has("per_device_train_batch_size") || has("finetuning_type") || has("cutoff_len"));
}

void read_trainer(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  const SourceKeys keys(context.file);
  for (const SourceKey& key : keys.list()) add_megatron_argument(key, key.key, all);
  read_trainer_arguments(all, keys.contains("finetuning_type") || keys.contains("cutoff_len"));
}

std::string plain_name(const SourceKey& key) {
  std::string name = key.key.substr(std::min(key.key.find_first_not_of('-'), key.key.size()));
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace

bool is_trainer_command(const CommandLine& line) {
  static constexpr std::array<std::string_view, 3> kTells{"per_device_train_batch_size", "model_name_or_path",
                                                          "per_gpu_train_batch_size"};
  return std::ranges::any_of(line.arguments, [](const SourceKey& key) {
    return std::ranges::find(kTells, plain_name(key)) != kTells.end();
  });
}

void read_trainer_command(const CommandLine& line, const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  for (const SourceKey& key : line.arguments) {
    const std::string name = plain_name(key);
    add_megatron_argument(key, name, all);
  }
  read_trainer_arguments(all, false);
}

const Importer kTrainer{{"hf-trainer", "YAML of LLaMA-Factory and of trainers of Hugging Face"},
                        recognises_trainer,
                        read_trainer};

}  // namespace orrery::importers::frameworks
