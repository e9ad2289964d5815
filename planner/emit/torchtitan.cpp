// torchtitan: its TOML file. Names as in torchtitan/config/job_config.py of August 2025 (github
// pytorch/torchtitan, between releases 0.1 and 0.2).
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/emit/export_report.hpp"

namespace orrery {
namespace torchtitan_keys {
namespace {

constexpr std::string_view kFlavor = "part of the model's flavor, in torchtitan/models/*/__init__.py";
constexpr std::string_view kAlone = "FSDP has no such choice";
constexpr std::string_view kOfRouter = "the router decides";
constexpr std::string_view kSameKey = "another name for a key above";

/// Catalog models that torchtitan has under a name and a flavor.
constexpr std::array<std::array<std::string_view, 3>, 5> kModels{{
    {"llama3.1-8b", "llama3", "8B"},
    {"llama3.1-70b", "llama3", "70B"},
    {"llama3.1-405b", "llama3", "405B"},
    {"deepseek-v3", "deepseek_v3", "671B"},
    {"llama4-maverick", "llama4", "17bx128e"},
}};

void model_name(const Subject& s, const EmitJson&, Entry& out) {
  const auto found = std::ranges::find(kModels, s.model.name, [](const auto& row) { return row[0]; });
  if (found == kModels.end())
    return out.lacks("add a flavor with the shapes below to torchtitan, and name it in [model]");
  out.set("model.name", (*found)[1]);
  out.set("model.flavor", (*found)[2]);
}

/// Replicas that share parameters: FSDP is data parallelism but without ZeRO.
std::int64_t sharding(const Plan& plan) {
  if (plan.zero_stage == 0) return 1;
  return plan.zero_group_size > 0 ? std::min(plan.zero_group_size, plan.data_parallel) : plan.data_parallel;
}

void data_parallel(const Subject& s, const EmitJson&, Entry& out) {
  out.set("parallelism.data_parallel_shard_degree", sharding(s.plan));
  out.set("parallelism.data_parallel_replicate_degree", s.plan.data_parallel / sharding(s.plan));
}

void zero_stage(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.zero_stage == 0) return out.usual("data_parallel_shard_degree is 1");
  if (s.plan.zero_stage == 1) out.note("FSDP shards gradients too: ZeRO-2 is the nearest");
  if (s.plan.zero_stage == 2) out.note("FSDP that keeps parameters after the forward pass is ZeRO-2");
  const bool drops = s.plan.zero_stage == 3 && s.plan.reshard_after_forward;
  out.set("parallelism.fsdp_reshard_after_forward", drops ? "always" : "never");
}

void group_size(const Subject&, const EmitJson& value, Entry& out) {
  value.is_number() ? out.usual("stands with plan.data_parallel")
                    : out.lacks("the simulator chooses the group: simulate, and emit what it chose");
}

void reshard(const Subject& s, const EmitJson&, Entry& out) {
  s.plan.zero_stage == 3 ? out.usual("stands with plan.zero_stage") : out.idle();
}

void overlaps(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.replicated()) return out.idle();
  value == true ? out.usual() : out.lacks("FSDP always gathers ahead and reduces beside the backward pass");
}

void context_type(const Subject& s, const EmitJson&, Entry& out) {
  if (!s.shares_sequences()) return out.idle();
  switch (s.plan.context_parallel_type) {
    case ContextParallelType::ring:
      return out.set("parallelism.context_parallel_rotate_method", "alltoall");
    case ContextParallelType::all_gather:
      return out.set("parallelism.context_parallel_rotate_method", "allgather");
    default:
      return out.lacks("ranks that share sequences pass keys and values around or gather them");
  }
}

void experts_on(const Subject& s, const EmitJson& value, Entry& out) {
  s.has_experts() ? out.set("parallelism.expert_parallel_degree", value) : out.idle();
}

void expert_tensor(const Subject& s, const EmitJson&, Entry& out) {
  if (!s.has_experts()) return out.idle();
  s.plan.expert_tensor_parallel == 1 ? out.usual() : out.lacks("experts are not cut over tensor ranks");
}

/// Exports a key of models with experts only.
void routing(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.has_experts()) return out.idle();
  const bool usual = value == "all-to-all" || value == 0 || value == false;
  usual ? out.usual() : out.lacks("tokens go straight to their experts, and none is dropped");
}

void sequence_parallel(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.tensor_parallel == 1) return out.idle();
  value == true ? out.usual() : out.lacks("tensor parallelism always comes with sequence parallelism");
}

void micro_batch(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.pipelined()) return out.set("training.local_batch_size", value);
  out.set("parallelism.pipeline_parallel_microbatch_size", value);
  out.set("training.local_batch_size", s.plan.global_batch_size / s.plan.data_parallel);
}

void schedule(const Subject& s, const EmitJson& value, Entry& out) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames{{
      {"gpipe", "GPipe"},
      {"1f1b", "1F1B"},
      {"interleaved-1f1b", "Interleaved1F1B"},
      {"zb-v", "ZBVZeroBubble"},
      {"dualpipe-v", "DualPipeV"},
  }};
  if (!s.pipelined()) return out.idle();
  const auto found =
      std::ranges::find(kNames, value.get<std::string>(), [](const auto& row) { return row.first; });
  if (found == kNames.end()) return out.lacks("PyTorch's pipelining has no schedule of that name");
  out.set("parallelism.pipeline_parallel_schedule", found->second);
}

void virtual_stages(const Subject& s, const EmitJson&, Entry& out) {
  if (!s.pipelined() || !s.plan.stage_layers.empty()) return out.idle();
  const std::int64_t stages = s.plan.pipeline_parallel * s.plan.virtual_stages;
  out.set("parallelism.pipeline_parallel_layers_per_stage", (s.model.layers + stages - 1) / stages);
  out.set("parallelism.pipeline_parallel_first_stage_less_layers", 0);
  out.set("parallelism.pipeline_parallel_last_stage_less_layers", 0);
}

void stage_layers(const Subject& s, const EmitJson& value, Entry& out) {
  if (!value.is_array())
    return out.lacks("the simulator chooses the layers of stages: simulate, and emit what it chose");
  EmitJson parts = EmitJson::array();
  std::int64_t layer = 0;
  for (const std::int64_t layers : s.plan.stage_layers) {
    EmitJson names = EmitJson::array();
    if (parts.empty()) names.push_back("tok_embeddings");
    for (const std::int64_t end = layer + layers; layer < end; ++layer)
      names.push_back("layers." + std::to_string(layer));
    parts.push_back(std::move(names));
  }
  parts.back().push_back("norm");
  parts.back().push_back("output");
  out.set("parallelism.module_fqns_per_model_part", std::move(parts));
}

void recompute(const Subject& s, const EmitJson&, Entry& out) {
  const ModuleSet modules = s.plan.recompute_modules;
  if (s.plan.recompute == Recompute::none) return out.set("activation_checkpoint.mode", "none");
  const bool some = s.plan.recompute_layers > 0 || !s.plan.recompute_stage_layers.empty();
  const bool one_by_one = s.plan.recompute_layers == 1 && s.plan.recompute_method == RecomputeMethod::uniform;
  const bool whole = s.plan.recompute == Recompute::full || modules.has(Module::layer);
  if (whole && (!some || one_by_one)) return out.set("activation_checkpoint.mode", "full");
  if (some || modules != ModuleSet{Module::operations})
    return out.lacks("activation checkpointing is of all layers, of every n-th one or of operations");
  out.set("activation_checkpoint.mode", "selective");
  out.set("activation_checkpoint.selective_ac_option", "op");
}

void overlap_chunks(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.tensor_parallel == 1) return out.idle();
  out.set("parallelism.enable_async_tensor_parallel", value);
  if (value == true) out.set("training.compile", true);
}

void overlap_tensor(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.tensor_parallel == 1) return out.idle();
  value == true ? out.lacks("gradients of weights wait for nothing but their inputs") : out.usual();
}

void cuda_graphs(const Subject&, const EmitJson& value, Entry& out) {
  value == "none" ? out.usual() : out.lacks("no CUDA graphs");
}

void collectives(const Subject& s, const EmitJson&, Entry& out) {
  const bool free = std::ranges::all_of(s.plan.collectives, [](const auto& name) { return name == "auto"; });
  free ? out.usual("NCCL chooses") : out.lacks("NCCL chooses algorithms, for all of a kind by NCCL_ALGO");
}

void rank_order(const Subject&, const EmitJson& value, Entry& out) {
  value == "tp-cp-ep-dp-pp" ? out.usual()
                            : out.lacks("the mesh is tp, cp, dp_shard, dp_replicate, pp, innermost first");
}

void precision(const Subject& s, const EmitJson&, Entry& out) {
  switch (s.plan.precision) {
    case Precision::bf16:
      return out.set("training.mixed_precision_param", "bfloat16");
    case Precision::fp32:
    case Precision::tf32:
      return out.set("training.mixed_precision_param", "float32");
    case Precision::fp8:
      out.set("model.converters", EmitJson::array({"float8"}));
      return out.set("float8.recipe_name", "tensorwise");
    case Precision::mxfp8:
      out.set("model.converters", EmitJson::array({"mx"}));
      return out.set("mx.recipe_name", "mxfp8");
    default:
      return out.lacks("products are in float32, bfloat16, float8 or mxfp8");
  }
}

void optimizer(const Subject& s, const EmitJson&, Entry& out) {
  s.plan.optimizer == Optimizer::adam ? out.set("optimizer.name", "AdamW")
                                      : out.lacks("optimizers are Adam and AdamW");
}

void offload(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.offload == Offload::none) return out.usual();
  if (s.plan.offload == Offload::activations) return out.lacks("activations stay on the GPU");
  out.set("training.enable_cpu_offload", true);
  out.note("with FSDP, of parameters and gradients too");
}

void offload_fraction(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.offload == Offload::none) return out.idle();
  value == 1 ? out.usual() : out.lacks("all is offloaded or nothing");
}

void widths(const Subject&, const EmitJson& value, Entry& out) {
  value == "fp32" ? out.usual() : out.lacks("states of the optimizer and its parameters are in 32 bits");
}

void method(const Subject& s, const EmitJson& value, Entry& out) {
  const DataParallelSync& sync = s.e.data_parallel_sync;
  if (value == "all-reduce") return out.usual();
  if (value != "diloco" && value != "local-sgd") return out.lacks("replicas are kept in step by all-reduce");
  out.set("fault_tolerance.enable", true);
  out.set("fault_tolerance.semi_sync_method", value == "diloco" ? "diloco" : "local_sgd");
  out.set("fault_tolerance.sync_steps", sync.period);
  out.set("fault_tolerance.fragment_sync_delay", sync.delay);
  out.set("fault_tolerance.fragment_update_alpha", sync.mixing);
  out.note("needs torchft");
}

/// Samples over those of a step.
void steps(const Subject& s, std::int64_t samples, Entry& out) {
  out.set("training.steps", (samples + s.plan.global_batch_size - 1) / s.plan.global_batch_size);
}

constexpr KeyRow kRows[] = {
    KeyRow::same("plan.tensor_parallel", "parallelism.tensor_parallel_degree"),
    KeyRow::same("plan.pipeline_parallel", "parallelism.pipeline_parallel_degree"),
    KeyRow::by("plan.data_parallel", data_parallel),
    KeyRow::same("plan.context_parallel", "parallelism.context_parallel_degree"),
    KeyRow::by("plan.context_parallel_type", context_type),
    KeyRow::lacks("plan.hierarchical_context_parallel_size",
                  "ranks that share sequences pass keys and values around or gather them"),
    KeyRow::lacks("plan.sub_seq_length", kSameKey),
    KeyRow::by("plan.expert_parallel", experts_on),
    KeyRow::by("plan.expert_tensor_parallel", expert_tensor),
    KeyRow::by("plan.dispatcher", routing),
    KeyRow::by("plan.capacity_factor", routing),
    KeyRow::lacks("plan.token_imbalance", kOfRouter),
    KeyRow::lacks("plan.token_histogram", kOfRouter),
    KeyRow::by("plan.overlap_expert_parallel", routing),
    KeyRow::by("plan.overlap_shared_experts", routing),
    KeyRow::by("plan.sequence_parallel", sequence_parallel),
    KeyRow::by("plan.micro_batch_size", micro_batch),
    KeyRow::lacks("plan.replica_batch_sizes", "all replicas have equally many samples"),
    KeyRow::same("plan.global_batch_size", "training.global_batch_size"),
    KeyRow::by("plan.pipeline_schedule", schedule),
    KeyRow::by("plan.virtual_stages", virtual_stages),
    KeyRow::lacks("plan.micro_batch_group_size",
                  "the schedule takes pipeline_parallel_degree micro-batches in a row"),
    KeyRow::lacks("plan.warmup_micro_batches", "the warm-up is that of the schedule"),
    KeyRow::by("plan.stage_layers", stage_layers),
    KeyRow::by("plan.recompute", recompute),
    KeyRow::by("plan.zero_stage", zero_stage),
    KeyRow::lacks("plan.sharding", kSameKey),
    KeyRow::by("plan.zero_group_size", group_size),
    KeyRow::lacks("plan.gradient_reduction",
                  "FSDP reduces with each micro-batch, and with the last one of a pipeline"),
    KeyRow::by("plan.reshard_after_forward", reshard),
    KeyRow::lacks("plan.prefetch", kAlone),
    KeyRow::lacks("plan.fsdp_unit_layers", "a unit of FSDP is one layer"),
    KeyRow::by("plan.overlap_gradient_reduce", overlaps),
    KeyRow::by("plan.overlap_parameter_gather", overlaps),
    KeyRow::by("plan.overlap_tensor_parallel", overlap_tensor),
    KeyRow::by("plan.overlap_tensor_chunks", overlap_chunks),
    KeyRow::by("plan.cuda_graphs", cuda_graphs),
    KeyRow::lacks("plan.scatter_gather", "stages send activations as they lie on tensor ranks"),
    KeyRow::lacks("plan.bucket_mb", "FSDP reduces layer by layer"),
    KeyRow::by("plan.collectives", collectives),
    KeyRow::by("plan.rank_order", rank_order),
    KeyRow::by("plan.precision", precision),
    KeyRow::lacks("plan.wire_precision", "gradients travel in float32, all else as it is computed"),
    KeyRow::by("plan.optimizer", optimizer),
    KeyRow::by("plan.offload", offload),
    KeyRow::by("plan.offload_fraction", offload_fraction),
    KeyRow::by("plan.loss_chunks", whole_loss),
    KeyRow::by("plan.frozen_precision", wide_weights),
    KeyRow::by("plan.moment_precision", widths),
    KeyRow::by("plan.main_weight_precision", widths),
    KeyRow::by("model.name", model_name),
    KeyRow::same("model.seq_length", "training.seq_len"),
    KeyRow::by("training.tokens",
               [](const Subject& s, const EmitJson& value, Entry& out) {
                 steps(s, value.get<std::int64_t>() / s.model.seq_length, out);
               }),
    KeyRow::by("training.samples", [](const Subject& s, const EmitJson& value,
                                      Entry& out) { steps(s, value.get<std::int64_t>(), out); }),
    KeyRow::lacks("training.data", "the data are yours"),
    KeyRow::by("data_parallel_sync.method", method),
};

}  // namespace
}  // namespace torchtitan_keys

std::span<const KeyRow> torchtitan_rows() {
  static const std::vector<KeyRow> rows = [] {
    std::vector<KeyRow> all(std::begin(torchtitan_keys::kRows), std::end(torchtitan_keys::kRows));
    for (const KeyRow& row : megatron_model_rows())
      if (std::ranges::find(all, row.key, &KeyRow::key) == all.end())
        all.push_back(KeyRow::lacks(row.key, torchtitan_keys::kFlavor));
    return all;
  }();
  return rows;
}

std::string write_torchtitan(const Experiment& experiment) {
  const ExportReport sheet(experiment, torchtitan_rows());
  return sheet.heading("torchtitan (August 2025)",
                       "Data, tokenizer, learning rate and checkpoints are yours: add them here.") +
         settings_as_toml(sheet) + "\n" + sheet.remainder("torchtitan");
}

}  // namespace orrery
