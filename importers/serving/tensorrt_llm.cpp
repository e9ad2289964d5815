// TensorRT-LLM: trtllm-serve and its files of options (--extra_llm_api_options, --config).
#include <array>

#include "importers/serving/engines.hpp"

namespace orrery::importers::serving {
namespace {

void read_policy(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (key.value == "MAX_UTILIZATION") return draft.map(key, "inference.guaranteed_no_evict", false);
  if (key.value == "GUARANTEED_NO_EVICT") return draft.map(key, "inference.guaranteed_no_evict", true);
  if (key.value == "STATIC_BATCH") return draft.map(key, "inference.batching", "static");
  draft.contradict(key, "allowed are GUARANTEED_NO_EVICT, MAX_UTILIZATION, STATIC_BATCH");
}

void read_share(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  draft.map(key, "inference.gpu_memory_utilization", key.value,
            "TensorRT-LLM's is a share of what weights leave free, Orrery's one of all");
}

void read_graphs(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (key.value == false || key.value.is_null()) return draft.map(key, "plan.cuda_graphs", "none");
  draft.ignore(key, "graphs are launched, as taken");
}

const std::array kTrtRows{
    ImportRow{"tp_size", "plan.tensor_parallel"},
    ImportRow{"pp_size", "plan.pipeline_parallel"},
    ImportRow{"ep_size", "plan.expert_parallel"},
    ImportRow{"moe_expert_parallel_size", "plan.expert_parallel"},
    ImportRow{"moe_tensor_parallel_size", "plan.expert_tensor_parallel"},
    ImportRow{"enable_attention_dp", "", settle_with_others},
    ImportRow{"gpus_per_node", launch::kGpusPerNode},
    ImportRow{"quant_config.quant_algo", "", read_quantization_name},
    ImportRow{"quant_algo", "", read_quantization_name},
    ImportRow{"kv_cache_config.dtype", "", read_cache_dtype},
    ImportRow{"max_batch_size", "inference.batch_size"},
    ImportRow{"max_num_tokens", "inference.max_num_batched_tokens"},
    ImportRow{"max_seq_len", "", read_length},
    ImportRow{"kv_cache_config.free_gpu_memory_fraction", "", read_share},
    ImportRow{"kv_cache_free_gpu_memory_fraction", "", read_share},
    ImportRow{"free_gpu_memory_fraction", "", read_share},
    ImportRow{"kv_cache_config.tokens_per_block", "inference.block_size"},
    ImportRow{"tokens_per_block", "inference.block_size"},
    ImportRow{"kv_cache_config.enable_block_reuse", "", read_caching},
    ImportRow{"enable_chunked_prefill", "inference.chunked_prefill"},
    ImportRow{"enable_chunked_context", "inference.chunked_prefill"},
    ImportRow{"scheduler_config.capacity_scheduler_policy", "", read_policy},
    ImportRow{"capacity_scheduler_policy", "", read_policy},
    ImportRow{"use_cuda_graph", "", read_graphs},
    ImportRow{"cuda_graph_config", "", read_graphs},
    ImportRow{"cuda_graph_config.enable_padding", "", nullptr, kKernels},
    ImportRow{"cuda_graph_config.max_batch_size", "", nullptr, kKernels},
    ImportRow{"cuda_graph_config.batch_sizes", "", nullptr, kKernels},
    ImportRow{"cuda_graph_padding_enabled", "", nullptr, kKernels},
    ImportRow{"cuda_graph_batch_sizes", "", nullptr, kKernels},
    ImportRow{"moe_config.backend", "", nullptr, kKernels},
    ImportRow{"attn_backend", "", nullptr, kKernels},
    ImportRow{"disable_overlap_scheduler", "", nullptr, kKernels},
    ImportRow{"enable_autotuner", "", nullptr, kKernels},
    ImportRow{"use_torch_sampler", "", nullptr, kKernels},
    ImportRow{"torch_compile_config", "", nullptr, kKernels},
    ImportRow{"batch_wait_timeout_ms", "", nullptr, kKernels},
    ImportRow{"speculative_config.num_nextn_predict_layers", "", read_proposed},
    ImportRow{"speculative_config.max_draft_len", "", read_proposed},
    ImportRow{"speculative_config.decoding_type", "", nullptr, "how tokens are proposed"},
    ImportRow{"speculative_config.speculative_model_dir", "", nullptr, "what proposes tokens"},
    ImportRow{"backend", "", nullptr, kKernels},
    ImportRow{"print_iter_log", "", nullptr, kCode},
    ImportRow{"enable_iter_perf_stats", "", nullptr, kCode},
    ImportRow{"num_postprocess_workers", "", nullptr, kDoor},
    ImportRow{"extra_llm_api_options", "", nullptr, "another file of options: give it to orrery import too"},
    ImportRow{"max_beam_width", "", nullptr, "one beam is simulated"},
    ImportRow{"max_input_len", "", nullptr, "max_seq_len bounds requests"},
};

/// Attention of data-parallel ranks: the tensor ranks are replicas that share experts.
void complete_trt(const SourceKeys& keys, Draft& draft) {
  draft.default_to("inference.block_size", 32, "the default of TensorRT-LLM (tokens_per_block)");
  const SourceKey* attention = keys.find("enable_attention_dp");
  const Json tensor = draft.value("plan.tensor_parallel");
  default_expert_ranks(draft, tensor);
  if (attention == nullptr) return;
  if (attention->value != true || !tensor.is_number_integer())
    return draft.ignore(*attention, "tensor ranks attend together");
  draft.map(*attention, "plan.data_parallel", tensor, "each rank attends for its own requests");
  draft.map(*attention, "plan.tensor_parallel", 1, "each rank attends for its own requests");
}

}  // namespace

const Engine& tensorrt_llm() {
  static const Engine engine{
      "TensorRT-LLM",
      "tensorrt-llm-2026",
      "model",
      kTrtRows,
      {},
      "kv_cache_config cuda_graph_config moe_expert_parallel_size enable_attention_dp "
      "max_num_tokens cuda_graph_padding_enabled extra_llm_api_options scheduler_config",
      complete_trt};
  return engine;
}

}  // namespace orrery::importers::serving
