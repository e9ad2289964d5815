#include "importers/frameworks/torchtitan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/frameworks/arguments.hpp"
#include "importers/frameworks/gpus_in_comments.hpp"
#include "importers/frameworks/layer_list.hpp"
#include "importers/frameworks/toml_keys.hpp"

namespace orrery::importers::frameworks {
namespace {

/// Flavors that the catalog has; debug models and others are in torchtitan's code alone.
struct Flavor {
  std::string_view model, flavor, entry;
};
constexpr std::array kFlavors{
    Flavor{"llama3", "8B", "llama3.1-8b"},
    Flavor{"llama3", "70B", "llama3.1-70b"},
    Flavor{"llama3", "405B", "llama3.1-405b"},
    Flavor{"deepseek_v3", "671B", "deepseek-v3"},
    Flavor{"deepseek_v3", "236B", "deepseek-v2"},
    Flavor{"llama4", "17bx16e", "llama4-scout"},
    Flavor{"llama4", "17bx128e", "llama4-maverick"},
    Flavor{"qwen3", "8B", "qwen3-8b"},
    Flavor{"qwen3", "32B", "qwen3-32b"},
    Flavor{"qwen3", "30B-A3B", "qwen3-30b-a3b"},
    Flavor{"qwen3", "235B-A22B", "qwen3-235b-a22b"},
    Flavor{"gpt_oss", "20b", "gpt-oss-20b"},
    Flavor{"gpt_oss", "120b", "gpt-oss-120b"},
};

bool recognises_titan(const SourceFile& file) {
  const auto has = [&file](std::string_view word) {
    return file.text().find(word) != std::string_view::npos;
  };
  return (has("[parallelism]") || has("[training]") || has("[experimental]")) &&
         (has("flavor") || has("_parallel_degree") || has("data_parallel_shard_degree") || has("seq_len"));
}

void read_flavor(LaunchArguments& all) {
  const LaunchArgument* name = all.take("model.name");
  const LaunchArgument* flavor = all.take("model.flavor");
  all.ignore("model.name", "the flavor says which one");
  if (name == nullptr || flavor == nullptr) return;
  const std::string model = text_of(name->value), kind = text_of(flavor->value);
  const auto found =
      std::ranges::find_if(kFlavors, [&](const Flavor& f) { return f.model == model && f.flavor == kind; });
  if (found != kFlavors.end())
    return all.became("model.flavor", "model.base", found->entry, fmt::format("{} {}", model, kind));
  all.answered("model.flavor");
  all.draft().await(
      flavor->source, "model.layers",
      fmt::format("the sizes of {} {} stand in torchtitan's code: give its config.json too, or --set "
                  "model=NAME with one of orrery list models",
                  model, kind));
}

/// The value of a key of the model, in a file before or in the entry of the catalog; null where it is in
/// none.
Json model_value(LaunchArguments& all, const std::string& name) {
  if (const Json& stated = all.draft().value("model." + name); !stated.is_null()) return stated;
  const Json& base = all.draft().value("model.base");
  if (!base.is_string()) return nullptr;
  const Json entry = Json::parse(all.context().catalog.text(CatalogKind::model, base.get<std::string>()),
                                 nullptr, false, true);
  return entry.is_object() && entry.contains(name) ? entry.at(name) : Json();
}

std::int64_t degree(LaunchArguments& all, const char* ours) {
  return whole_number(all.draft().value(ours)).value_or(1);
}

/// FSDP over data_parallel_shard_degree ranks, copies of that over data_parallel_replicate_degree.
void read_replicas(LaunchArguments& all) {
  Draft& draft = all.draft();
  const auto copies = all.take_count("parallelism.data_parallel_replicate_degree").value_or(1);
  const auto shards = all.take_count("parallelism.data_parallel_shard_degree", -1).value_or(-1);
  const bool rest = shards < 1;
  if (rest)
    all.ignore("parallelism.data_parallel_shard_degree", "-1: all GPUs that are left");
  else if (shards < 1 << 22 && copies < 1 << 22)
    all.became("parallelism.data_parallel_shard_degree", "plan.data_parallel", shards * copies,
               "times replicas of the shards");
  all.ignore("parallelism.data_parallel_replicate_degree", "stands with plan.data_parallel");
  const std::string reshard = all.take_text("parallelism.fsdp_reshard_after_forward");
  const bool pipelined = degree(all, "plan.pipeline_parallel") > 1;
  const bool keeps = reshard == "never" || ((reshard.empty() || reshard == "default") && pipelined);
  if (shards == 1)
    return draft.default_to("plan.zero_stage", 0, "data_parallel_shard_degree is 1: nothing is sharded");
  draft.default_to("plan.zero_stage", 3, "FSDP shards parameters");
  if (keeps && !reshard.empty() && reshard != "default")
    all.became("parallelism.fsdp_reshard_after_forward", "plan.reshard_after_forward", false);
  else if (keeps)
    draft.default_to("plan.reshard_after_forward", false,
                     "torchtitan's default with a pipeline: parameters are kept");
  all.ignore("parallelism.fsdp_reshard_after_forward", "parameters are dropped after a forward pass");
  if (copies > 1 && !rest) draft.default_to("plan.zero_group_size", shards, "data_parallel_shard_degree");
  if (copies > 1 && rest) draft.default_to(launch::kShardedCopies, copies, "data_parallel_replicate_degree");
}

void read_degrees_of_titan(LaunchArguments& all) {
  all.map_count("parallelism.tensor_parallel_degree", "plan.tensor_parallel");
  all.map_count("parallelism.pipeline_parallel_degree", "plan.pipeline_parallel");
  all.map_count("parallelism.context_parallel_degree", "plan.context_parallel");
  all.map_count("parallelism.expert_parallel_degree", "plan.expert_parallel");
  all.map_count("parallelism.expert_tensor_parallel_degree", "plan.expert_tensor_parallel");
  const bool experts = degree(all, "plan.expert_parallel") > 1;
  if (experts) all.draft().default_to("plan.expert_tensor_parallel", 1, "torchtitan's default");
  read_replicas(all);
  if (degree(all, "plan.tensor_parallel") > 1) {
    all.draft().default_to("plan.sequence_parallel", true,
                           "tensor parallelism of torchtitan is along the sequence too");
    all.map_flag("parallelism.enable_async_tensor_parallel", "plan.overlap_tensor_chunks");
    const bool chunks = all.draft().value("plan.overlap_tensor_chunks") == true;
    all.draft().default_to(
        "plan.overlap_tensor_parallel", chunks,
        chunks ? "products work chunk by chunk" : "gradients of weights wait for their inputs alone");
    all.draft().default_to("plan.overlap_tensor_chunks", false, "torchtitan's default");
  }
  all.ignore("parallelism.enable_async_tensor_parallel", "no tensor parallelism");
  if (degree(all, "plan.context_parallel") > 1) {
    const std::string rotate = all.take_text("parallelism.context_parallel_rotate_method");
    if (!rotate.empty())
      all.became("parallelism.context_parallel_rotate_method", "plan.context_parallel_type",
                 rotate == "alltoall" ? "ring" : "all-gather");
    all.draft().default_to("plan.context_parallel_type", "all-gather", "torchtitan's default");
  }
  all.ignore("parallelism.context_parallel_rotate_method", "sequences are not shared");
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSchedules{
    {{"gpipe", "gpipe"},
     {"1f1b", "1f1b"},
     {"interleaved1f1b", "interleaved-1f1b"},
     {"zbvzerobubble", "zb-v"},
     {"dualpipev", "dualpipe-v"},
     {"interleavedzerobubble", "interleaved-1f1b"}}};

/// Layers of stages as torchtitan's pipelining deals them: embedding and head weigh as so many layers.
std::vector<std::int64_t> dealt(std::int64_t layers, std::int64_t stages, std::int64_t first,
                                std::int64_t last) {
  const std::int64_t weight = layers + first + last;
  std::vector<std::int64_t> of_stages(static_cast<std::size_t>(stages), weight / stages);
  for (std::int64_t i = 0; i < weight % stages; ++i) ++of_stages[static_cast<std::size_t>(i)];
  of_stages.front() -= first;
  of_stages.back() -= last;
  return of_stages;
}

void read_parts(LaunchArguments& all) {
  const LaunchArgument* parts = all.take("parallelism.module_fqns_per_model_part");
  if (parts == nullptr || !parts->value.is_array()) return;
  std::vector<std::int64_t> layers;
  for (const Json& part : parts->value) {
    if (!part.is_array()) return;
    layers.push_back(
        std::ranges::count_if(part, [](const Json& name) { return text_of(name).starts_with("layers."); }));
  }
  all.became("parallelism.module_fqns_per_model_part", "plan.stage_layers", layers);
  const std::int64_t ranks = degree(all, "plan.pipeline_parallel");
  const auto stages = static_cast<std::int64_t>(layers.size());
  if (stages > ranks && stages % ranks == 0)
    all.draft().default_to("plan.virtual_stages", stages / ranks, "parts / pipeline ranks");
}

void read_pipeline_of_titan(LaunchArguments& all) {
  const std::int64_t ranks = degree(all, "plan.pipeline_parallel");
  if (ranks < 2 || ranks > kMostLayers) return;
  const std::string name = all.take_text("parallelism.pipeline_parallel_schedule");
  const auto known = std::ranges::find(kSchedules, name, [](const auto& row) { return row.first; });
  if (name == "interleavedzerobubble")
    all.refuse("parallelism.pipeline_parallel_schedule", "this schedule is not modelled", "interleaved 1F1B");
  else if (known != kSchedules.end())
    all.became("parallelism.pipeline_parallel_schedule", "plan.pipeline_schedule", known->second);
  else if (!name.empty())
    all.refuse("parallelism.pipeline_parallel_schedule", "this schedule is not modelled", "1F1B");
  all.draft().default_to("plan.pipeline_schedule", "1f1b", "torchtitan's default");
  read_parts(all);
  const auto layers = whole_number(model_value(all, "layers"));
  if (all.draft().has("plan.stage_layers") || !layers || *layers > kMostLayers) return;
  const bool several = name.starts_with("interleaved") || name == "zbvzerobubble" || name == "dualpipev";
  const auto of_stage = all.take_count("parallelism.pipeline_parallel_layers_per_stage");
  const std::int64_t first = std::min(
      all.take_count("parallelism.pipeline_parallel_first_stage_less_layers", 0).value_or(1), kMostLayers);
  const std::int64_t last = std::min(
      all.take_count("parallelism.pipeline_parallel_last_stage_less_layers", 0).value_or(1), kMostLayers);
  const std::int64_t stages = of_stage  ? (*layers + first + last + *of_stage - 1) / *of_stage
                              : several ? 2 * ranks
                                        : ranks;
  if (stages % ranks != 0 || stages > kMostLayers) return;
  if (stages > ranks)
    all.draft().default_to("plan.virtual_stages", stages / ranks, "stages / pipeline ranks");
  const auto of_stages = dealt(*layers, stages, first, last);
  const bool even = std::ranges::all_of(of_stages, [&](std::int64_t n) { return n == of_stages.front(); });
  if (!even)
    all.draft().default_to("plan.stage_layers", of_stages,
                           "as torchtitan deals layers: embedding and head weigh as layers");
}

/// local_batch_size is of a replica and step, cut into micro-batches by a pipeline alone.
void read_batch_of_titan(LaunchArguments& all) {
  all.map_count("training.seq_len", "model.seq_length");
  const char* name =
      all.contains("training.local_batch_size") ? "training.local_batch_size" : "training.batch_size";
  const auto local = all.take_count(name);
  const auto whole = all.take_count("training.global_batch_size", -1);
  if (whole && *whole > 0) all.became("training.global_batch_size", "plan.global_batch_size", *whole);
  all.ignore("training.global_batch_size", "-1: the batches of the replicas");
  if (!local) return;
  const bool pipelined = degree(all, "plan.pipeline_parallel") > 1;
  const auto micro = all.take_count("parallelism.pipeline_parallel_microbatch_size");
  const std::int64_t size = pipelined ? micro.value_or(1) : *local;
  if (pipelined && micro)
    all.became("parallelism.pipeline_parallel_microbatch_size", "plan.micro_batch_size", size);
  else if (!pipelined)
    all.became(name, "plan.micro_batch_size", size);
  else
    all.draft().default_to("plan.micro_batch_size", 1, "torchtitan's default with a pipeline");
  if (!whole || *whole < 1)
    all.draft().default_to(launch::kAccumulation, std::max<std::int64_t>(1, *local / size),
                           "local_batch_size / micro-batch");
  all.ignore(name, "micro-batches of the pipeline cut it");
}

/// All but attention and every other product is computed again, which is modelled for dense layers alone.
void read_selected_operations(LaunchArguments& all, const char* mode, const char* option) {
  all.ignore(mode, "selective_ac_option says what");
  const bool dense = model_value(all, "experts").is_null() && model_value(all, "latent_attention").is_null();
  if (dense) return all.became(option, "plan.recompute.modules", Json::array({"operations"}));
  all.refuse(option, "recomputation by operations is modelled for dense layers alone",
             "norms and activations");
  all.draft().default_to("plan.recompute.modules", Json::array({"norm", "activation"}),
                         "the nearest to operations");
}

void read_checkpointing(LaunchArguments& all) {
  constexpr const char* kMode = "activation_checkpoint.mode";
  constexpr const char* kOption = "activation_checkpoint.selective_ac_option";
  const std::string mode = all.take_text(kMode), option = all.take_text(kOption);
  if (mode == "none" || mode == "full") {
    all.became(kMode, "plan.recompute", mode);
    return all.ignore(kOption, "takes the mode selective");
  }
  if (option == "op") return read_selected_operations(all, kMode, kOption);
  const std::string every = option.empty() ? "2" : option;
  if (every == "1") return all.became(kMode, "plan.recompute", "full");
  if (mode.empty() && !all.contains(kOption))
    return all.draft().default_to(
        "plan.recompute", "full",
        "torchtitan's default is every second layer, which Orrery cannot say: all of them");
  all.refuse(all.contains(kOption) ? kOption : kMode,
             fmt::format("every {}-th layer cannot be recomputed alone", every), "all layers");
  all.became(kMode, "plan.recompute", "full");
}

void read_precision_of_titan(LaunchArguments& all) {
  Draft& draft = all.draft();
  const LaunchArgument* converters = all.take("model.converters");
  const std::string said = converters == nullptr ? "" : text_of(converters->value);
  if (said.find("float8") != std::string::npos)
    all.became("model.converters", "plan.precision", "fp8");
  else if (said.find("mx") != std::string::npos)
    all.became("model.converters", "plan.precision", "mxfp8");
  all.ignore("model.converters", "none that changes the precision");
  const std::string width = all.take_text("training.mixed_precision_param");
  if (!draft.has("plan.precision") && !width.empty())
    all.became("training.mixed_precision_param", "plan.precision", width == "float32" ? "fp32" : "bf16");
  all.ignore("training.mixed_precision_param", "stands with plan.precision");
  draft.default_to("plan.precision", "bf16", "torchtitan's default");
  const std::string sums = all.take_text("training.mixed_precision_reduce");
  if (!sums.empty())
    all.became("training.mixed_precision_reduce", "software.gradient_bytes", sums == "float32" ? 4 : 2);
  if (all.take_flag("training.enable_cpu_offload") == true)
    all.became("training.enable_cpu_offload", "plan.offload", "optimizer",
               "FSDP offloads parameters and gradients too, which Orrery cannot say");
  all.ignore("training.enable_cpu_offload", "nothing is offloaded");
  const std::string optimizer = all.take_text("optimizer.name");
  if (optimizer == "adam" || optimizer == "adamw")
    all.became("optimizer.name", "plan.optimizer", "adam");
  else if (!optimizer.empty())
    all.refuse("optimizer.name", "this optimizer is not modelled", "Adam");
}

/// Workers that average or exchange after many steps.
void read_semi_synchronous(LaunchArguments& all) {
  const std::string method = all.take_text("fault_tolerance.semi_sync_method");
  if (all.take_flag("fault_tolerance.enable") != true || method.empty()) {
    all.ignore("fault_tolerance.enable", "replicas are kept in step by all-reduce");
    return all.ignore("fault_tolerance.semi_sync_method", "takes fault_tolerance.enable");
  }
  all.became("fault_tolerance.semi_sync_method", "data_parallel_sync.method",
             method == "diloco" ? "diloco" : "local-sgd");
  all.map_count("fault_tolerance.sync_steps", "data_parallel_sync.period");
  all.map_count("fault_tolerance.fragment_sync_delay", "data_parallel_sync.delay", 0);
  all.map("fault_tolerance.fragment_update_alpha", "data_parallel_sync.mixing");
  all.ignore("fault_tolerance.enable", "stands with data_parallel_sync.method");
}

std::string_view reason_in_titan(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 30> kReasons{
      {{"job.", "a name and folders"},
       {"profiling.", "logging, which is no part of a step here"},
       {"metrics.", "logging, which is no part of a step here"},
       {"comm.", "how processes start, which changes no step"},
       {"checkpoint.", "checkpoints, which are no part of a step here"},
       {"validation.", "evaluation, which is no part of a step here"},
       {"lr_scheduler.", "learning, which takes no time of its own"},
       {"optimizer.", "learning, which takes no time of its own"},
       {"debug.", "a check, which changes no step"},
       {"experimental.", "code of the user"},
       {"memory_estimation.", "a check, which changes no step"},
       {"fault_tolerance.", "restarts after failures, which are not modelled"},
       {"compile.", "compilation, which the stack has by its version"},
       {"training.compile", "compilation, which the stack has by its version"},
       {"training.steps", "the length of the training changes no step"},
       {"training.max_norm", "learning, which takes no time of its own"},
       {"training.warmup_steps", "learning, which takes no time of its own"},
       {"training.dataset", "data and tokenizer, which change no step here"},
       {"training.gc_", "collection of garbage, which no step here waits for"},
       {"training.seed", "learning, which takes no time of its own"},
       {"training.deterministic", "it changes times, and Orrery cannot say it"},
       {"training.", "detail of the training"},
       {"model.hf_assets_path", "data and tokenizer, which change no step here"},
       {"model.tokenizer_path", "data and tokenizer, which change no step here"},
       {"model.", "detail of the model"},
       {"quantize.", "takes a converter in model.converters"},
       {"float8.", "takes a converter in model.converters"},
       {"mx.", "takes a converter in model.converters"},
       {"activation_checkpoint.", "detail of activation checkpointing"},
       {"parallelism.", "no pipeline, or detail of a parallel dimension"}}};
  for (const auto& [begins, why] : kReasons)
    if (name.starts_with(begins)) return why;
  return "";
}

void read_titan(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  const SourceKeys keys = toml_keys(context.file);
  for (const SourceKey& key : keys.list()) all.add({key.key, key.value, key});
  read_flavor(all);
  read_degrees_of_titan(all);
  read_pipeline_of_titan(all);
  read_batch_of_titan(all);
  read_checkpointing(all);
  read_precision_of_titan(all);
  read_semi_synchronous(all);
  read_gpus_in_comments(context.file, draft);
  const auto steps = all.take_count("training.steps");
  const auto batch = whole_number(draft.value("plan.global_batch_size"));
  if (steps && batch && *steps < 1'000'000'000 && *batch < 1'000'000'000)
    all.became("training.steps", "training.samples", *steps * *batch, "times the global batch");
  draft.default_to("plan.overlap_gradient_reduce", true, "FSDP reduces beside the backward pass");
  draft.default_to("plan.overlap_parameter_gather", true, "FSDP gathers ahead");
  const bool new_names = all.contains("training.local_batch_size");
  draft.default_to("stack", new_names ? "torchtitan-2026" : "torchtitan-2024",
                   "the nearest calibrated version of torchtitan");
  all.rest(reason_in_titan);
}

}  // namespace

const Importer kTorchtitan{{"torchtitan", "TOML of torchtitan"}, recognises_titan, read_titan};

}  // namespace orrery::importers::frameworks
