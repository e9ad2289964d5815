#include "importers/frameworks/nemo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "importers/frameworks/megatron.hpp"
#include "importers/frameworks/omegaconf.hpp"

namespace orrery::importers::frameworks {
namespace {

/// Names that differ from Megatron's.
constexpr std::array kNemoNames{
    Spelling{"bias", "add_bias_linear"},
    Spelling{"qkv_bias", "add_qkv_bias"},
    Spelling{"override_vocab_size", "vocab_size"},
    Spelling{"ub_tp_comm_overlap", "tp_comm_overlap"},
    Spelling{"overlap_grad_sync", "overlap_grad_reduce"},
    Spelling{"overlap_param_sync", "overlap_param_gather"},
    Spelling{"grad_reduce_in_fp32", "accumulate_allreduce_grads_in_fp32"},
    Spelling{"num_query_groups", "num_key_value_heads"},
    Spelling{"devices", "gpus_per_node"},
    Spelling{"share_embeddings_and_output_weights", "untie_embeddings_and_output_weights", true},
};

/// Parts below which keys have names of Megatron Core, the longest first.
constexpr std::array<std::string_view, 22> kParts{"trainer.strategy.ddp.",
                                                  "trainer.strategy.",
                                                  "model.config.transformer_config.",
                                                  "model.config.",
                                                  "model.optim.",
                                                  "model.decoder.",
                                                  "model.data.",
                                                  "optim.config.",
                                                  "mixed_precision.",
                                                  "comm_overlap.",
                                                  "optimizer.",
                                                  "trainer.",
                                                  "model.",
                                                  "train.",
                                                  "ddp.",
                                                  "dist.",
                                                  "dataset.",
                                                  "data.",
                                                  "checkpoint.",
                                                  "rerun_state_machine.",
                                                  "peft.",
                                                  "tokenizer."};

constexpr std::string_view kOverlapOfRanks =
    "how products of tensor ranks overlap; the file of the training says whether they do";

bool recognises_nemo(const SourceFile& file) {
  const auto has = [&file](std::string_view word) {
    return file.text().find(word) != std::string_view::npos;
  };
  const bool yaml = !has("#!/") && !has("MODEL_ARGS:") && !file.text().starts_with('<');
  const bool launcher = has("trainer:") && (has("micro_batch_size:") || has("exp_manager:"));
  const bool bridge = has("model:") && has("tensor_model_parallel_size:") &&
                      (has("ddp:") || has("train:") || has("optimizer:"));
  return yaml &&
         (launcher || bridge || has("nemo.collections") || has("megatron.bridge") || has("qkv_fprop:"));
}

/// The part that a key lies below, and the name there.
std::pair<std::string_view, std::string> split(std::string key) {
  for (const std::string_view root : {"training.", "task.", "cfg.", "config_container."})
    if (key.starts_with(root)) key = key.substr(root.size());
  for (const std::string_view part : kParts)
    if (key.starts_with(part)) return {part, key.substr(part.size())};
  return {"", key};
}

/// Keys of other parts that share a name with one of Megatron's and mean something else.
bool is_of_another_part(std::string_view part, const std::string& name) {
  if (name.find('.') != std::string::npos) return true;
  if (part == "optimizer." || part == "model.optim." || part == "optim.config.")
    return name != "optimizer" && name != "use_distributed_optimizer" && !name.starts_with("overlap_") &&
           name != "sgd_momentum" && !name.starts_with("optimizer_") &&
           name != "use_precision_aware_optimizer" && !name.ends_with("_dtype");
  if (part == "dataset." || part == "data." || part == "model.data.")
    return name != "seq_length" && name != "micro_batch_size" && name != "global_batch_size";
  if (part == "trainer.") return name != "num_nodes" && name != "devices";
  return part == "checkpoint." || part == "tokenizer." || part == "rerun_state_machine." || part == "peft." ||
         part.empty();
}

std::string_view reason_in_nemo(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 40> kReasons{
      {{"hydra", "how the launcher finds files"},
       {"defaults", "files that the launcher adds: give them too"},
       {"run.", "how the launcher starts the job"},
       {"name", "a name"},
       {"restore_from_path", "checkpoints, which are no part of a step here"},
       {"exp_manager", "logging and checkpoints, which are no part of a step here"},
       {"logger", "logging, which is no part of a step here"},
       {"log.", "logging, which is no part of a step here"},
       {"profiling", "logging, which is no part of a step here"},
       {"scheduler", "learning, which takes no time of its own"},
       {"trainer.precision", "stands with plan.precision"},
       {"trainer.plugins", "precision and communication of the trainer"},
       {"trainer.", "how the trainer runs, which changes no step"},
       {"model.optim.", "learning, which takes no time of its own"},
       {"optim.", "learning, which takes no time of its own"},
       {"optimizer.", "learning, which takes no time of its own"},
       {"model.data.", "data and tokenizer, which change no step here"},
       {"model.tokenizer.", "data and tokenizer, which change no step here"},
       {"dataset.", "data and tokenizer, which change no step here"},
       {"data.", "data and tokenizer, which change no step here"},
       {"tokenizer.", "data and tokenizer, which change no step here"},
       {"checkpoint.", "checkpoints, which are no part of a step here"},
       {"rerun_state_machine.", "checks, which the step does not wait for"},
       {"ft.", "restarts after failures, which are not modelled"},
       {"straggler.", "logging, which is no part of a step here"},
       {"nvrx", "restarts after failures, which are not modelled"},
       {"rng.", "learning, which takes no time of its own"},
       {"dist.", "how processes start, which changes no step"},
       {"peft.", "adapters, beside their rank"},
       {"validation", "evaluation, which is no part of a step here"},
       {"model.nsys_profile", "logging, which is no part of a step here"},
       {"model.gc_interval", "collection of garbage, which no step here waits for"},
       {"model.native_amp", "scaling of the loss, which takes no time of its own"},
       {"model.resume", "checkpoints, which are no part of a step here"},
       {"model.fsdp", "torch FSDP, which is off"},
       {"model.apex", "logging, which is no part of a step here"},
       {"comm_overlap.", "detail of the overlap"},
       {"mixed_precision", "stands with plan.precision"},
       {"ddp.", "detail of the reduction of gradients"},
       {"model.", "detail of the model, which Orrery cannot say"}}};
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (const std::string_view known = reason_to_ignore(last); !known.empty()) return known;
  for (const auto& [begins, why] : kReasons)
    if (name.starts_with(begins)) return why;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kNames{
      {{"native_amp_init_scale", "scaling of the loss, which takes no time of its own"},
       {"native_amp_growth_interval", "scaling of the loss, which takes no time of its own"},
       {"pre_process", "the parts of the first and last stage"},
       {"post_process", "the parts of the first and last stage"},
       {"megatron_amp_O2", "parameters in 16 bits with a copy in 32"},
       {"mcore_gpt", "layers of Megatron Core"},
       {"mcore_t5", "layers of Megatron Core"},
       {"transformer_engine", "stands with model.attention"},
       {"layernorm_zero_centered_gamma", "alike in time"},
       {"do_layer_norm_weight_decay", "learning, which takes no time of its own"},
       {"grad_div_ar_fusion", "fusion of kernels, which the stack has by its version"},
       {"grad_allreduce_chunk_size_mb", "detail of the reduction of gradients"},
       {"gradient_as_bucket_view", "detail of memory"},
       {"sharp", "it changes times, and Orrery cannot say it"},
       {"headscale", "alike in time"},
       {"transformer_block_type", "norms before attention and MLP"},
       {"ffn_dropout", "stands with model.dropout"},
       {"resume_from_checkpoint", "checkpoints, which are no part of a step here"}}};
  for (const auto& [known, why] : kNames)
    if (last == known) return why;
  return "how NeMo runs, which changes no step or which Orrery cannot say";
}

/// "bf16-mixed", 16, bf16_mixed, bf16_with_mxfp8_mixed: 16 bits, and what is narrower.
void read_nemo_precision(LaunchArguments& all, std::string_view name) {
  const std::string recipe = all.take_text(name);
  if (recipe.empty()) return;
  const auto says = [&recipe](std::string_view word) { return recipe.find(word) != std::string::npos; };
  const char* ours = says("mxfp8")                             ? "mxfp8"
                     : says("nvfp4")                           ? "fp4"
                     : says("subchannel") || says("blockwise") ? "fp8-blockwise"
                     : says("fp8")                             ? "fp8"
                     : says("bf16")                            ? "bf16"
                     : says("16")                              ? "fp16"
                                                               : "fp32";
  all.became(name, "plan.precision", ours);
}

/// Models of images say so by their sizes, their parts, or the module they come from.
bool is_vision(const SourceKeys& keys) {
  static constexpr std::array<std::string_view, 8> kImages{
      "model.unet_config", "model.vae",   "model.first_stage_config",   "model.vision.",
      "model.patch_dim",   "model.img_h", "model.control_stage_config", "model.nerf"};
  return std::ranges::any_of(keys.list(), [](const SourceKey& key) {
    const auto begins = [&key](std::string_view part) { return key.key.starts_with(part); };
    const std::string text = key.value.is_string() ? key.value.get<std::string>() : "";
    return std::ranges::any_of(kImages, begins) || text.starts_with("nemo.collections.multimodal") ||
           text.starts_with("nemo.collections.vision");
  });
}

void read_activation(LaunchArguments& all) {
  const std::string name = all.take_text("activation") + all.take_text("activation_func");
  const char* told = all.contains("activation") ? "activation" : "activation_func";
  if (name.empty() || all.contains("swiglu"))
    return all.ignore(told, "gated_linear_unit says whether there is a gate");
  all.became(told, "model.gated_mlp", name.find("glu") != std::string::npos);
}

/// The distributed optimizer by its name.
void read_nemo_optimizer(LaunchArguments& all) {
  const std::string name = all.take_text("model.optim.name");
  if (name.empty()) return;
  const bool sharded = name.find("distributed") != std::string::npos;
  all.became("model.optim.name", "plan.zero_stage", sharded ? 1 : 0);
  all.draft().default_to("plan.optimizer", "adam", "the usual one");
}

void read_adapters_of_bridge(LaunchArguments& all) {
  all.map_count("peft.dim", "model.lora_rank");
  all.map("peft.target_modules", "model.lora_targets");
}

/// Encoders and decoders of T5: one width for both.
void read_encoder(LaunchArguments& all) {
  if (!all.contains("model.encoder.num_layers") || !all.contains("num_layers")) return;
  all.map_count("model.encoder.num_layers", "model.encoder_layers");
  all.map_count("seq_length", "model.encoder_seq_length");
  all.map_count("model.data.seq_length_dec", "model.seq_length");
}

/// A vocabulary of a ConfigContainer is padded already, or says that it is not to be.
void settle_padding(LaunchArguments& all) {
  if (all.take_flag("should_pad_vocab") == false)
    all.became("should_pad_vocab", launch::kVocabularyMultiple, 1);
  all.ignore("should_pad_vocab", "vocab_size is padded");
}

void add_nemo_key(const SourceKey& key, LaunchArguments& all) {
  const auto [part, name] = split(key.key);
  if (is_of_another_part(part, name)) {
    all.add({key.key, key.value, key});
    return;
  }
  const LaunchArgument argument = respelled(key, name, kNemoNames.data(), kNemoNames.size());
  if (argument.name != name) {
    if (!key.value.is_null() || !all.contains(argument.name)) all.add(argument);
    return;
  }
  if (key.value.is_null() && all.contains(name)) return all.draft().ignore(key, "no value");
  add_megatron_argument(key, name, all);
}

void read_nemo(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  const SourceKeys keys = interpolated(SourceKeys(context.file), context);
  for (const SourceKey& key : keys.list()) add_nemo_key(key, all);
  if (is_vision(keys)) {
    draft.lack({"model", nullptr, {context.file.path(), 0}},
               "a model of images, which is not modelled: language models are");
    return all.rest(reason_in_nemo);
  }
  if (keys.contains("qkv_fprop.method")) return all.rest([](std::string_view) { return kOverlapOfRanks; });
  read_nemo_precision(all, "trainer.precision");
  read_nemo_precision(all, "mixed_precision");
  read_activation(all);
  read_nemo_optimizer(all);
  read_adapters_of_bridge(all);
  read_encoder(all);
  settle_padding(all);
  if (all.take_flag("transformer_engine") == true)
    all.became("transformer_engine", "model.attention", "flash");
  if (all.contains("model.optim.bucket_cap_mb") && draft.value("plan.overlap_gradient_reduce") != false)
    all.map("model.optim.bucket_cap_mb", "plan.bucket_mb");
  read_megatron_parts(all, "NeMo");
  draft.default_to("stack", all.contains("trainer.precision") ? "nemo-2024" : "megatron-core-2026",
                   "the nearest calibrated version of NeMo");
  all.rest(reason_in_nemo);
}

}  // namespace

const Importer kNemo{
    {"nemo", "YAML of NeMo: Megatron-Bridge, the launcher's, NeMo 2"}, recognises_nemo, read_nemo};

}  // namespace orrery::importers::frameworks
