#include "importers/frameworks/megatron.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace orrery::importers::frameworks {
namespace {

/// Names of older versions, of Megatron-DeepSpeed, and of arguments that turn something off.
constexpr std::array kSpellings{
    Spelling{"model_parallel_size", "tensor_model_parallel_size"},
    Spelling{"batch_size", "micro_batch_size"},
    Spelling{"num_layers_per_stage", "num_layers_per_virtual_pipeline_stage"},
    Spelling{"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"},
    Spelling{"microbatch_group_size_per_vp_stage", "microbatch_group_size_per_virtual_pipeline_stage"},
    Spelling{"num_layers_in_first_pipeline_stage", "decoder_first_pipeline_num_layers"},
    Spelling{"num_layers_in_last_pipeline_stage", "decoder_last_pipeline_num_layers"},
    Spelling{"activations_checkpoint_granularity", "recompute_granularity"},
    Spelling{"activations_checkpoint_method", "recompute_method"},
    Spelling{"activations_checkpoint_num_layers", "recompute_num_layers"},
    Spelling{"use_custom_fsdp", "use_megatron_fsdp"},
    Spelling{"hybrid_override_pattern", "hybrid_layer_pattern"},
    Spelling{"disable_bias_linear", "add_bias_linear", true},
    Spelling{"no_position_embedding", "add_position_embedding", true},
    Spelling{"no_async_tensor_model_parallel_allreduce", "async_tensor_model_parallel_allreduce", true},
    Spelling{"no_scatter_gather_tensors_in_pipeline", "scatter_gather_tensors_in_pipeline", true},
    Spelling{"share_embeddings_and_output_weights", "untie_embeddings_and_output_weights", true},
    Spelling{"num_moe_experts", "num_experts"},
    Spelling{"moe_expert_parallel_size", "expert_model_parallel_size"},
    Spelling{"use_shared_expert_gate", "moe_shared_expert_gate"},
    Spelling{"gated_linear_unit", "swiglu"},
    Spelling{"topk", "moe_router_topk"},
    Spelling{"bucket_size", "ddp_bucket_size"},
    Spelling{"nproc_per_node", "gpus_per_node"},
    Spelling{"num_gpus", "gpus_per_node"},
    Spelling{"nnodes", "num_nodes"},
    Spelling{"num_machines", "num_nodes"},
    Spelling{"num_processes", "world_size"},
};

/// Names that tell a command that trains: nobody else has many of them.
constexpr std::array<std::string_view, 12> kTelling{
    "num_layers",
    "hidden_size",
    "num_attention_heads",
    "seq_length",
    "micro_batch_size",
    "global_batch_size",
    "tensor_model_parallel_size",
    "max_position_embeddings",
    "bf16",
    "fp16",
    "pipeline_model_parallel_size",
    "expert_model_parallel_size",
};

void read_degrees(LaunchArguments& all) {
  all.map_count("tensor_model_parallel_size", "plan.tensor_parallel");
  all.map_count("pipeline_model_parallel_size", "plan.pipeline_parallel");
  all.map_count("context_parallel_size", "plan.context_parallel");
  all.map_count("expert_model_parallel_size", "plan.expert_parallel");
  all.map_count("expert_tensor_parallel_size", "plan.expert_tensor_parallel");
  all.map_count("data_parallel_size", "plan.data_parallel");
  all.map_flag("sequence_parallel", "plan.sequence_parallel");
}

/// Ulysses of Megatron-DeepSpeed, and how ranks share sequences otherwise.
void read_sequence_sharing(LaunchArguments& all) {
  if (const auto ranks = all.take_count("ds_sequence_parallel_size"); ranks && *ranks > 1) {
    all.became("ds_sequence_parallel_size", "plan.context_parallel", *ranks);
    all.draft().default_to("plan.context_parallel_type", "all-to-all", "DeepSpeed's Ulysses");
  } else {
    all.ignore("ds_sequence_parallel_size", "sequences are not shared");
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes{
      {{"p2p", "ring"}, {"a2a", "all-to-all"}, {"a2a+p2p", "hierarchical"}, {"all_gather", "all-gather"}}};
  const Json& degree = all.draft().value("plan.context_parallel");
  if (!degree.is_number() || degree == 1) {
    all.ignore("cp_comm_type", "sequences are not shared");
    return all.ignore("hierarchical_context_parallel_sizes", "sequences are not shared");
  }
  std::string type = all.take_text("cp_comm_type");
  if (type.starts_with("[\"")) type = type.substr(2, type.find('"', 2) - 2);
  const auto known = std::ranges::find(kTypes, type, [](const auto& row) { return row.first; });
  if (known != kTypes.end()) all.became("cp_comm_type", "plan.context_parallel_type", known->second);
  if (const LaunchArgument* sizes = all.take("hierarchical_context_parallel_sizes"))
    if (const auto inner =
            whole_number(sizes->value.is_array() && !sizes->value.empty() ? sizes->value[0] : Json()))
      all.became("hierarchical_context_parallel_sizes", "plan.hierarchical_context_parallel_size", *inner);
}

void read_overlaps(LaunchArguments& all, const std::string& framework) {
  const bool megatron = !all.contains("zero_stage");
  all.map_flag("overlap_grad_reduce", "plan.overlap_gradient_reduce");
  if (all.draft().value("plan.zero_stage") == 0) {
    all.ignore("overlap_param_gather", "optimizer states are not sharded");
  } else {
    all.map_flag("overlap_param_gather", "plan.overlap_parameter_gather");
    if (megatron) all.draft().default_to("plan.overlap_parameter_gather", false, framework + "'s default");
  }
  all.map_flag("scatter_gather_tensors_in_pipeline", "plan.scatter_gather");
  const Json& tensor = all.draft().value("plan.tensor_parallel");
  if (!tensor.is_number() || tensor == 1) {
    all.ignore("tp_comm_overlap", "no tensor parallelism");
    all.ignore("async_tensor_model_parallel_allreduce", "no tensor parallelism");
  } else {
    all.map_flag("async_tensor_model_parallel_allreduce", "plan.overlap_tensor_parallel");
    all.draft().default_to("plan.overlap_tensor_parallel", true, framework + "'s default");
    if (all.draft().value("plan.sequence_parallel") == true) {
      all.map_flag("tp_comm_overlap", "plan.overlap_tensor_chunks");
      all.draft().default_to("plan.overlap_tensor_chunks", false, framework + "'s default");
    }
    all.ignore("tp_comm_overlap", "takes sequence parallelism");
  }
  if (megatron) all.draft().default_to("plan.overlap_gradient_reduce", false, framework + "'s default");
}

void read_order(LaunchArguments& all) {
  const auto swapped = all.take_flag("use_tp_pp_dp_mapping");
  if (swapped == true) return all.became("use_tp_pp_dp_mapping", "plan.rank_order", "tp-cp-ep-pp-dp");
  all.ignore("use_tp_pp_dp_mapping", "ranks are in the usual order");
}

void read_graphs(LaunchArguments& all) {
  const std::string by = all.take_text("cuda_graph_impl");
  const std::string scope = all.take_text("cuda_graph_scope") + all.take_text("cuda_graph_modules");
  const bool captured = !by.empty() && by != "none";
  const bool whole = scope.find("full_iteration") != std::string::npos;
  if (captured) all.became("cuda_graph_impl", "plan.cuda_graphs", whole ? "step" : "layers");
  for (const char* old : {"enable_cuda_graph", "external_cuda_graph"})
    if (all.take_flag(old) == true)
      all.became(old, "plan.cuda_graphs", "layers");
    else
      all.ignore(old, "no CUDA graphs");
  if (!captured) all.ignore("cuda_graph_impl", "no CUDA graphs");
  for (const char* scopes : {"cuda_graph_scope", "cuda_graph_modules"})
    all.ignore(scopes, "plan.cuda_graphs says layers or step");
}

/// Software whose calibration is the nearest.
void name_stack(LaunchArguments& all, const std::string& framework) {
  const bool deepspeed = all.contains("zero_stage") || all.contains("deepspeed_config");
  const bool old = all.contains("DDP_impl") || all.contains("checkpoint_activations");
  const char* stack = deepspeed ? "megatron-deepspeed-2023" : old ? "megatron-2022" : "megatron-core-2025";
  all.draft().default_to(
      "stack", stack,
      fmt::format("the nearest calibrated version of {}", deepspeed ? "Megatron-DeepSpeed" : framework));
}

}  // namespace

void add_megatron_argument(const SourceKey& key, std::string_view name, LaunchArguments& all) {
  std::string plain(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  std::ranges::replace(plain, '-', '_');
  all.add(respelled(key, plain, kSpellings.data(), kSpellings.size()));
}

bool is_megatron_argument(std::string_view name) {
  return std::ranges::find(kTelling, name) != kTelling.end();
}

void read_launcher_arguments(LaunchArguments& all) {
  all.map_count("world_size", launch::kGpus);
  all.map_count("gpus_per_node", launch::kGpusPerNode);
  all.map_count("num_nodes", launch::kNodes);
}

void read_megatron_parts(LaunchArguments& all, const std::string& framework) {
  read_launcher_arguments(all);
  read_degrees(all);
  read_sequence_sharing(all);
  read_megatron_model(all, framework);
  read_megatron_experts(all, framework);
  read_megatron_pattern(all);
  read_megatron_pipeline(all);
  read_megatron_batch(all);
  read_megatron_precision(all, framework);
  read_megatron_memory(all, framework);
  read_overlaps(all, framework);
  read_order(all);
  read_graphs(all);
}

void read_megatron_plan(LaunchArguments& all, const std::string& framework) {
  read_degrees(all);
  read_sequence_sharing(all);
  if (whole_number(all.draft().value("plan.expert_parallel")).value_or(1) > 1) read_megatron_dispatch(all);
  read_megatron_pipeline(all);
  read_megatron_precision(all, framework);
  read_megatron_memory(all, framework);
  read_overlaps(all, framework);
  read_order(all);
  read_graphs(all);
}

void read_megatron_arguments(LaunchArguments& all, const std::string& framework) {
  read_megatron_parts(all, framework);
  name_stack(all, framework);
  all.rest(reason_to_ignore);
}

}  // namespace orrery::importers::frameworks
