// Memory by Megatron's arguments: sharding, recomputation, offloading, widths.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "importers/frameworks/megatron.hpp"

namespace orrery::importers::frameworks {
namespace {

void read_fsdp(LaunchArguments& all) {
  const std::string strategy = all.take_text("data_parallel_sharding_strategy");
  const char* by = all.contains("data_parallel_sharding_strategy") ? "data_parallel_sharding_strategy"
                                                                   : "use_megatron_fsdp";
  const int stage = strategy == "no_shard" ? 0 : strategy == "optim" ? 1 : strategy == "optim_grads" ? 2 : 3;
  all.became(by, "plan.zero_stage", stage);
  all.ignore("use_megatron_fsdp", "stands with data_parallel_sharding_strategy");
  all.ignore("use_torch_fsdp2", "stands with plan.zero_stage");
  all.ignore("use_distributed_optimizer", "FSDP shards more");
}

void read_sharding(LaunchArguments& all, const std::string& framework) {
  const bool fsdp = all.take_flag("use_megatron_fsdp").value_or(false);
  const bool torch = all.take_flag("use_torch_fsdp2").value_or(false);
  if (all.contains("zero_stage")) {
    all.map_count("zero_stage", "plan.zero_stage", 0);
  } else if (fsdp || torch) {
    read_fsdp(all);
  } else if (all.take_flag("use_distributed_optimizer") == true) {
    all.became("use_distributed_optimizer", "plan.zero_stage", 1);
  }
  all.draft().default_to("plan.zero_stage", 0, framework + " without a distributed optimizer");
  for (const char* idle : {"use_distributed_optimizer", "use_megatron_fsdp", "use_torch_fsdp2",
                           "data_parallel_sharding_strategy"})
    all.ignore(idle, "off, or stands with plan.zero_stage");
  const auto copies = all.take_count("num_distributed_optimizer_instances");
  if (copies && *copies > 1 && all.draft().value("plan.zero_stage") != 0)
    all.became("num_distributed_optimizer_instances", launch::kShardedCopies, *copies);
  all.ignore("num_distributed_optimizer_instances", "one copy over all replicas");
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kModules{
    {{"layernorm", "norm"},
     {"core_attn", "core-attention"},
     {"mla_up_proj", "latent-projection"},
     {"mlp", "mlp"},
     {"moe_act", "activation"},
     {"moe", "experts"}}};

/// Words of a list, or of a text with blanks, commas, brackets.
std::vector<std::string> module_words(const Json& value) {
  std::vector<std::string> words{""};
  for (const char c : text_of(value)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

void read_modules(LaunchArguments& all) {
  const LaunchArgument* modules = all.take("recompute_modules");
  const auto words = modules == nullptr ? std::vector<std::string>{} : module_words(modules->value);
  if (words.empty() || words == std::vector<std::string>{"core_attn"}) {
    all.ignore("recompute_modules", "the attention core, as selective says");
    return all.became("recompute_granularity", "plan.recompute", "selective");
  }
  Json ours = Json::array();
  for (const std::string& word : words) {
    const auto known = std::ranges::find(kModules, word, [](const auto& row) { return row.first; });
    if (known == kModules.end()) {
      all.refuse("recompute_modules", fmt::format("{} alone cannot be recomputed", word),
                 "the other modules");
      continue;
    }
    ours.push_back(known->second);
  }
  all.ignore("recompute_granularity", "recompute_modules names the parts");
  if (!ours.empty()) all.became("recompute_modules", "plan.recompute.modules", ours);
}

void read_whole_layers(LaunchArguments& all, std::string_view told) {
  const std::string method = all.take_text("recompute_method");
  const auto layers = all.take_count("recompute_num_layers", 0);
  const bool block = method == "block";
  if (block && layers == 0) return all.became(told, "plan.recompute", "none", "of no layer");
  if (!block && layers.value_or(1) <= 1) {
    all.became(told, "plan.recompute", "full");
  } else {
    all.became(told, "plan.recompute.modules", Json::array({"layer"}));
    all.became("recompute_method", "plan.recompute.method", block ? "block" : "uniform");
    if (layers) all.became("recompute_num_layers", "plan.recompute.layers", *layers);
  }
  all.ignore("recompute_method", "all layers, one by one");
  all.ignore("recompute_num_layers", "all layers, one by one");
}

/// Old arguments turned it on by a flag, or by the method alone.
void read_recompute(LaunchArguments& all) {
  const std::string granularity = all.take_text("recompute_granularity");
  if (granularity == "selective") return read_modules(all);
  if (granularity == "full") return read_whole_layers(all, "recompute_granularity");
  if (all.take_flag("recompute_activations") == true)
    return all.became("recompute_activations", "plan.recompute", "selective");
  if (all.take_flag("checkpoint_activations") == true) {
    const auto layers = all.take_count("checkpoint_num_layers");
    if (layers.value_or(1) <= 1) return all.became("checkpoint_activations", "plan.recompute", "full");
    all.became("checkpoint_activations", "plan.recompute.modules", Json::array({"layer"}));
    all.became("checkpoint_num_layers", "plan.recompute.layers", *layers);
    return all.draft().default_to("plan.recompute.method", "uniform", "groups of checkpoint_num_layers");
  }
  const std::string method = all.take_text("recompute_method");
  const bool implied = (method == "uniform" || method == "block") && !all.contains("recompute_granularity");
  if (implied) return read_whole_layers(all, "recompute_method");
  for (const char* idle :
       {"recompute_granularity", "recompute_activations", "checkpoint_activations", "recompute_method",
        "recompute_num_layers", "recompute_modules", "checkpoint_num_layers"})
    all.ignore(idle, "nothing is recomputed");
}

void read_offload(LaunchArguments& all) {
  const bool optimizer =
      all.take_flag("optimizer_cpu_offload") == true || all.take_flag("cpu_optimizer") == true;
  const char* told = all.contains("optimizer_cpu_offload") ? "optimizer_cpu_offload" : "cpu_optimizer";
  if (optimizer) {
    all.became(told, "plan.offload", "optimizer");
    if (const LaunchArgument* share = all.take("optimizer_offload_fraction");
        share != nullptr && share->value.is_number())
      all.became("optimizer_offload_fraction", "plan.offload_fraction", share->value);
  }
  const auto layers = all.take_count("cpu_offloading_num_layers", 0);
  const auto of_model = whole_number(all.draft().value("model.layers"));
  const auto stages = whole_number(all.draft().value("plan.pipeline_parallel")).value_or(1);
  if (!optimizer && layers.value_or(0) > 0 && of_model && *of_model >= stages && stages > 0) {
    all.became("cpu_offloading_num_layers", "plan.offload", "activations");
    const double share = static_cast<double>(*layers) / static_cast<double>(*of_model / stages);
    all.draft().default_to("plan.offload_fraction", std::min(share, 1.0), "of the layers of a stage");
  }
  if (all.take_flag("checkpoint_in_cpu") == true)
    all.became("checkpoint_in_cpu", "plan.offload", "activations");
  for (const char* idle : {"optimizer_cpu_offload", "cpu_optimizer", "optimizer_offload_fraction",
                           "cpu_offloading_num_layers", "checkpoint_in_cpu", "cpu_offloading"})
    all.ignore(idle, "nothing is offloaded, or plan.offload says it");
}

void read_optimizer(LaunchArguments& all) {
  const std::string name = all.take_text("optimizer");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNames{{{"adam", "adam"},
                                                                                 {"adamw", "adam"},
                                                                                 {"hybridadam", "adam"},
                                                                                 {"muon", "muon"},
                                                                                 {"dist_muon", "muon"},
                                                                                 {"lion", "lion"}}};
  const LaunchArgument* momentum = all.take("sgd_momentum");
  const bool plain = momentum != nullptr && momentum->value.is_number() && momentum->value == 0;
  const auto known = std::ranges::find(kNames, name, [](const auto& row) { return row.first; });
  if (name == "sgd")
    all.became("optimizer", "plan.optimizer", plain ? "sgd" : "sgd-momentum");
  else if (known != kNames.end())
    all.became("optimizer", "plan.optimizer", known->second);
  else if (!name.empty())
    all.refuse("optimizer", "this optimizer is not modelled", "Adam");
  all.draft().default_to("plan.optimizer", "adam", "the usual one");
  all.ignore("sgd_momentum", "stands with plan.optimizer");
}

/// Widths of the optimizer, with use_precision_aware_optimizer.
void read_states(LaunchArguments& all) {
  const auto width = [&all](const char* name, const char* ours) {
    std::string text = all.take_text(name);
    if (const std::size_t dot = text.rfind('.'); dot != std::string::npos) text = text.substr(dot + 1);
    if (text == "float32") text = "fp32";
    if (text == "float16") text = "fp16";
    if (text == "bfloat16") text = "bf16";
    if (text == "uint8") text = "fp8";
    if (text == "fp32") return all.ignore(name, "32 bits are the default");
    if (!text.empty()) all.became(name, ours, text);
  };
  if (all.take_flag("use_precision_aware_optimizer") == true) {
    width("exp_avg_dtype", "plan.moment_precision");
    width("main_params_dtype", "plan.main_weight_precision");
    all.ignore("exp_avg_sq_dtype", "plan.moment_precision has one width for both moments");
  }
  for (const char* name :
       {"exp_avg_dtype", "exp_avg_sq_dtype", "main_params_dtype", "use_precision_aware_optimizer"})
    all.ignore(name, "stands with the widths of the optimizer");
}

void read_buckets(LaunchArguments& all) {
  Draft& draft = all.draft();
  if (draft.value("plan.overlap_gradient_reduce") != true && all.take_flag("overlap_grad_reduce") != true)
    return all.ignore("ddp_bucket_size", "gradients are reduced at once");
  const auto width = whole_number(draft.value("software.gradient_bytes")).value_or(4);
  const auto gradients = all.take_count("ddp_bucket_size");
  constexpr double kDefault = 40e6;  ///< gradients, as distributed_data_parallel.py has it
  const auto megabytes = [width](double count) { return count * static_cast<double>(width) / 1e6; };
  if (gradients)
    all.became("ddp_bucket_size", "plan.bucket_mb", megabytes(static_cast<double>(*gradients)),
               "gradients x bytes of one");
  else if (!all.contains("zero_stage"))
    draft.default_to("plan.bucket_mb", megabytes(kDefault), "Megatron-LM's default: 40 million gradients");
}

}  // namespace

void read_megatron_memory(LaunchArguments& all, const std::string& framework) {
  read_sharding(all, framework);
  read_recompute(all);
  read_offload(all);
  read_optimizer(all);
  read_states(all);
  read_buckets(all);
}

namespace {

constexpr std::array<const char*, 4> kNarrow{"fp8_format", "fp8", "fp8_hybrid", "fp8_e4m3"};

/// The argument that turns 8 bits on: a format, or a flag; "" where `fp8` itself is off, or none is there.
std::string_view narrow_argument(LaunchArguments& all) {
  const auto off = [&all](const char* name) {
    const LaunchArgument* argument = all.find(name);
    return argument == nullptr || argument->value.is_null() || argument->value == false ||
           argument->value == "none";
  };
  if (all.contains("fp8") && off("fp8")) return "";
  const auto told = std::ranges::find_if(kNarrow, [&](const char* name) { return !off(name); });
  return told == kNarrow.end() ? "" : *told;
}

/// Gradients are kept and reduced in 32 bits with bf16 unless told, in 16 with fp16.
void read_gradient_width(LaunchArguments& all, bool half, const std::string& framework) {
  const bool in_16 = all.take_flag("grad_reduce_in_bf16").value_or(half);
  const bool in_32 = all.take_flag("accumulate_allreduce_grads_in_fp32").value_or(!in_16);
  all.became(
      all.contains("grad_reduce_in_bf16") ? "grad_reduce_in_bf16" : "accumulate_allreduce_grads_in_fp32",
      "software.gradient_bytes", in_32 ? 4 : 2);
  all.draft().default_to("software.gradient_bytes", in_32 ? 4 : 2, framework + "'s default");
}

}  // namespace

void read_megatron_precision(LaunchArguments& all, const std::string& framework) {
  const bool half = all.take_flag("fp16") == true, wide = all.take_flag("bf16") == true;
  const std::string recipe = all.take_text("fp8_recipe");
  const char* narrow = recipe == "mxfp8" ? "mxfp8" : recipe == "blockwise" ? "fp8-blockwise" : "fp8";
  const std::string_view told = narrow_argument(all);
  if (!told.empty() && all.take(told) != nullptr) all.became(told, "plan.precision", narrow, recipe);
  if (!all.take_text("fp4_format").empty()) all.became("fp4_format", "plan.precision", "fp4");
  const char* in = half ? "fp16" : "bf16";
  if (!all.draft().has("plan.precision") && (half || wide)) all.became(in, "plan.precision", in);
  for (const char* other : {"bf16", "fp16", "fp8_format", "fp8", "fp8_hybrid", "fp8_e4m3", "fp8_recipe"})
    all.ignore(other, "off, or stands with plan.precision");
  all.draft().default_to("plan.precision", "fp32", framework + "'s default");
  if (all.draft().value("plan.precision") != "fp32") read_gradient_width(all, half, framework);
  all.ignore("accumulate_allreduce_grads_in_fp32", "gradients have 32 bits");
  all.ignore("grad_reduce_in_bf16", "gradients have 32 bits");
}

}  // namespace orrery::importers::frameworks
