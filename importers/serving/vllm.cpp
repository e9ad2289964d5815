// vLLM: vllm serve, python -m vllm.entrypoints.openai.api_server, and its files of options.
#include <array>

#include "importers/serving/engines.hpp"

namespace orrery::importers::serving {
namespace {

/// Experts are spread over all ranks where it is on: tensor times data.
void read_expert_parallel(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (key.value != true) return draft.ignore(key, "experts are cut as other matrices are");
  std::int64_t ranks = 1;
  for (const char* name : {"tensor_parallel_size", "data_parallel_size"})
    if (const Json& size = all.value(name); size.is_number_integer() && size > 0 && size < 1'000'000)
      ranks *= size.get<std::int64_t>();
  draft.map(key, "plan.expert_parallel", ranks, "over all ranks of tensor and data");
  draft.default_to("plan.expert_tensor_parallel", 1, "experts are whole with --enable-expert-parallel");
}

void read_context_ranks(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (key.value == 1) return draft.ignore(key, "no context parallelism");
  draft.lack(key, "an experiment of serving cannot say context parallelism of this kind; leave it out");
}

void read_overrides(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  draft.ignore(
      key, "changes keys of config.json, which are not followed: change the file, or --set model.KEY=VALUE");
}

void ignore_speculation(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  draft.ignore(key, "what proposes tokens: --set inference.speculative.draft_share=SHARE says its time");
}

const std::array kVllmRows{
    ImportRow{"model_tag", "", read_model_name},
    ImportRow{"data_parallel_size", "plan.data_parallel"},
    ImportRow{"enable_expert_parallel", "", read_expert_parallel},
    ImportRow{"decode_context_parallel_size", "", read_context_ranks},
    ImportRow{"prefill_context_parallel_size", "", read_context_ranks},
    ImportRow{"nnodes", launch::kNodes},
    ImportRow{"quantization", "", read_quantization_name},
    ImportRow{"max_model_len", "", read_length},
    ImportRow{"max_num_batched_tokens", "", read_length},
    ImportRow{"max_num_seqs", "inference.batch_size"},
    ImportRow{"gpu_memory_utilization", "inference.gpu_memory_utilization"},
    ImportRow{"block_size", "inference.block_size"},
    ImportRow{"enable_chunked_prefill", "inference.chunked_prefill"},
    ImportRow{"enable_prefix_caching", "", read_caching},
    ImportRow{"enforce_eager", "", read_eager},
    ImportRow{"cpu_offload_gb", "", read_offload},
    ImportRow{"hf_overrides", "", read_overrides},
    ImportRow{"speculative_config.num_speculative_tokens", "", read_proposed},
    ImportRow{"num_speculative_tokens", "", read_proposed},
    ImportRow{"speculative_config.method", "", ignore_speculation},
    ImportRow{"speculative_config.model", "", ignore_speculation},
    ImportRow{"speculative_config.draft_tensor_parallel_size", "", ignore_speculation},
    ImportRow{"speculative_model", "", ignore_speculation},
    ImportRow{"root_path", "", nullptr, kDoor},
    ImportRow{"api_server_count", "", nullptr, kDoor},
    ImportRow{"ssl_keyfile", "", nullptr, kDoor},
    ImportRow{"ssl_certfile", "", nullptr, kDoor},
    ImportRow{"allowed_origins", "", nullptr, kDoor},
    ImportRow{"uvicorn_log_level", "", nullptr, kDoor},
    ImportRow{"disable_log_requests", "", nullptr, kCode},
    ImportRow{"enable_log_requests", "", nullptr, kCode},
    ImportRow{"disable_log_stats", "", nullptr, kCode},
    ImportRow{"revision", "", nullptr, kCode},
    ImportRow{"seed", "", nullptr, kText},
    ImportRow{"distributed_executor_backend", "", nullptr, kCode},
    ImportRow{"master_addr", "", nullptr, kCode},
    ImportRow{"master_port", "", nullptr, kCode},
    ImportRow{"headless", "", nullptr, kCode},
    ImportRow{"data_parallel_size_local", "", nullptr, kCode},
    ImportRow{"data_parallel_address", "", nullptr, kCode},
    ImportRow{"data_parallel_rpc_port", "", nullptr, kCode},
    ImportRow{"data_parallel_start_rank", "", nullptr, kCode},
    ImportRow{"data_parallel_backend", "", nullptr, kCode},
    ImportRow{"data_parallel_hybrid_lb", "", nullptr, kCode},
    ImportRow{"data_parallel_external_lb", "", nullptr, kCode},
    ImportRow{"swap_space", "", nullptr, "vLLM of today computes again in place of swapping"},
    ImportRow{"config_format", "", nullptr, kText},
    ImportRow{"chat_template_content_format", "", nullptr, kText},
    ImportRow{"enable_auto_tool_choice", "", nullptr, kText},
    ImportRow{"enable_reasoning", "", nullptr, kText},
    ImportRow{"guided_decoding_backend", "", nullptr, kText},
    ImportRow{"generation_config", "", nullptr, kText},
    ImportRow{"override_generation_config", "", nullptr, kText},
    ImportRow{"rope_scaling", "", nullptr, "positions cost the same whatever their angles"},
    ImportRow{"rope_theta", "", nullptr, "positions cost the same whatever their angles"},
    ImportRow{"limit_mm_per_prompt", "", nullptr, "only the language model is simulated"},
    ImportRow{"mm_processor_kwargs", "", nullptr, "only the language model is simulated"},
    ImportRow{"language_model_only", "", nullptr, "only the language model is simulated"},
    ImportRow{"compilation_config", "", nullptr, kKernels},
    ImportRow{"async_scheduling", "", nullptr, kKernels},
    ImportRow{"all2all_backend", "", nullptr, kKernels},
    ImportRow{"disable_custom_all_reduce", "", nullptr, kKernels},
    ImportRow{"max_seq_len_to_capture", "", nullptr, kKernels},
    ImportRow{"cuda_graph_sizes", "", nullptr, kKernels},
    ImportRow{"num_scheduler_steps", "", nullptr, kKernels},
    ImportRow{"use_v2_block_manager", "", nullptr, kKernels},
    ImportRow{"enable_eplb", "", nullptr, "loads of experts are those of plan.token_histogram"},
};

constexpr std::array kVllmShorts{ShortOption{"-tp", "tensor_parallel_size"},
                                 ShortOption{"-pp", "pipeline_parallel_size"},
                                 ShortOption{"-dp", "data_parallel_size"},
                                 ShortOption{"-q", "quantization"},
                                 ShortOption{"-dcp", "decode_context_parallel_size"},
                                 ShortOption{"-ep", "enable_expert_parallel"},
                                 ShortOption{"-dpl", "data_parallel_size_local"},
                                 ShortOption{"-dpa", "data_parallel_address"},
                                 ShortOption{"-O", "compilation_config"},
                                 ShortOption{"-tp_size", "tensor_parallel_size"}};

void complete_vllm(const SourceKeys& /*keys*/, Draft& /*draft*/) {}

}  // namespace

const Engine& vllm() {
  static const Engine engine{
      "vLLM",
      "vllm-2026",
      "model",
      kVllmRows,
      kVllmShorts,
      "max_model_len gpu_memory_utilization served_model_name max_num_seqs "
      "max_num_batched_tokens enable_expert_parallel enable_prefix_caching enforce_eager",
      complete_vllm};
  return engine;
}

}  // namespace orrery::importers::serving
