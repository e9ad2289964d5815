// SGLang: python -m sglang.launch_server, and its files of options.
#include <array>

#include "importers/serving/engines.hpp"

namespace orrery::importers::serving {
namespace {

/// Pieces of prompts: -1 is whole prompts.
void read_piece_size(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (!key.value.is_number_integer()) return draft.contradict(key, "allowed is a number of tokens, or -1");
  draft.map(key, "inference.chunked_prefill", key.value > 0);
  if (key.value > 0) draft.map(key, "inference.max_num_batched_tokens", key.value);
}

/// The share of memory for weights and cache; activations lie beside it.
void read_static_share(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  draft.map(key, "inference.gpu_memory_utilization", key.value,
            "SGLang's share leaves activations out, which Orrery counts in");
}

void read_side(const SourceKey& key, const SourceKeys& /*all*/, Draft& draft) {
  if (key.value == "null" || key.value.is_null())
    return draft.ignore(key, "prompts and outputs on the same replicas");
  draft.lack(key,
             "one command of several: --set inference.disaggregated.prefill=N and .decode=M say how many "
             "replicas each side has, with this option left out");
}

const std::array kSglangRows{
    ImportRow{"model_path", "", read_model_name},
    ImportRow{"tp", "plan.tensor_parallel"},
    ImportRow{"tp_size", "plan.tensor_parallel"},
    ImportRow{"pp", "plan.pipeline_parallel"},
    ImportRow{"pp_size", "plan.pipeline_parallel"},
    ImportRow{"dp", "plan.data_parallel"},
    ImportRow{"dp_size", "plan.data_parallel"},
    ImportRow{"data_parallel_size", "plan.data_parallel"},
    ImportRow{"ep", "plan.expert_parallel"},
    ImportRow{"ep_size", "plan.expert_parallel"},
    ImportRow{"expert_parallel_size", "plan.expert_parallel"},
    ImportRow{"enable_dp_attention", "", settle_with_others},
    ImportRow{"nnodes", launch::kNodes},
    ImportRow{"quantization", "", read_quantization_name},
    ImportRow{"context_length", "", read_length},
    ImportRow{"max_running_requests", "inference.batch_size"},
    ImportRow{"chunked_prefill_size", "", read_piece_size},
    ImportRow{"mem_fraction_static", "", read_static_share},
    ImportRow{"page_size", "inference.block_size"},
    ImportRow{"scheduler_recv_interval", "inference.scheduler_recv_interval"},
    ImportRow{"disable_cuda_graph", "", read_eager},
    ImportRow{"cpu_offload_gb", "", read_offload},
    ImportRow{"disable_radix_cache", "", read_caching},
    ImportRow{"enable_hierarchical_cache", "", read_caching},
    ImportRow{"disaggregation_mode", "", read_side},
    ImportRow{"speculative_num_draft_tokens", "", read_proposed},
    ImportRow{"speculative_algorithm", "", nullptr,
              "how tokens are proposed: inference.speculative says how many"},
    ImportRow{"speculative_algo", "", nullptr,
              "how tokens are proposed: inference.speculative says how many"},
    ImportRow{"speculative_num_steps", "", nullptr,
              "speculative_num_draft_tokens says how many are proposed"},
    ImportRow{"speculative_eagle_topk", "", nullptr,
              "speculative_num_draft_tokens says how many are proposed"},
    ImportRow{"speculative_draft_model_path", "", nullptr,
              "what proposes tokens: --set inference.speculative.draft_share=SHARE"},
    ImportRow{"tokenizer_worker_num", "", nullptr, kDoor},
    ImportRow{"log_requests", "", nullptr, kCode},
    ImportRow{"enable_metrics", "", nullptr, kCode},
    ImportRow{"dist_init_addr", "", nullptr, kCode},
    ImportRow{"nccl_init_addr", "", nullptr, kCode},
    ImportRow{"base_gpu_id", "", nullptr, kCode},
    ImportRow{"watchdog_timeout", "", nullptr, kCode},
    ImportRow{"random_seed", "", nullptr, kText},
    ImportRow{"tokenizer_path", "", nullptr, kText},
    ImportRow{"grammar_backend", "", nullptr, kText},
    ImportRow{"sampling_backend", "", nullptr, kText},
    ImportRow{"prefill_attention_backend", "", nullptr, kKernels},
    ImportRow{"decode_attention_backend", "", nullptr, kKernels},
    ImportRow{"moe_a2a_backend", "", nullptr, kKernels},
    ImportRow{"moe_runner_backend", "", nullptr, kKernels},
    ImportRow{"deepep_mode", "", nullptr, kKernels},
    ImportRow{"enable_flashinfer_allreduce_fusion", "", nullptr, kKernels},
    ImportRow{"enable_symm_mem", "", nullptr, kKernels},
    ImportRow{"enable_torch_compile", "", nullptr, kKernels},
    ImportRow{"cuda_graph_max_bs", "", nullptr, kKernels},
    ImportRow{"cuda_graph_bs", "", nullptr, kKernels},
    ImportRow{"disable_overlap_schedule", "", nullptr, kKernels},
    ImportRow{"enable_mixed_chunk", "", nullptr, kKernels},
    ImportRow{"schedule_policy", "", nullptr, kKernels},
    ImportRow{"schedule_conservativeness", "", nullptr, kKernels},
    ImportRow{"max_prefill_tokens", "", nullptr, "chunked_prefill_size is less"},
    ImportRow{"max_total_tokens", "", nullptr, "what the memory holds is computed"},
    ImportRow{"num_continuous_decode_steps", "", nullptr, kKernels},
    ImportRow{"is_embedding", "", nullptr, kText},
};

/// Attention of data-parallel ranks: tp ranks in all, of which each replica has tp / dp.
void complete_sglang(const SourceKeys& keys, Draft& draft) {
  const Json& page = draft.value("inference.block_size");
  if (page.is_null()) draft.default_to("inference.block_size", 1, "the default of SGLang");
  const SourceKey* attention = keys.find("enable_dp_attention");
  const Json tensor = draft.value("plan.tensor_parallel"), data = draft.value("plan.data_parallel");
  default_expert_ranks(draft, tensor);
  if (attention == nullptr) return;
  if (attention->value != true || !tensor.is_number_integer() || !data.is_number_integer())
    return draft.ignore(*attention, "dp and tp say how many ranks attend together");
  const auto ranks = tensor.get<std::int64_t>(), replicas = data.get<std::int64_t>();
  if (replicas < 2 || ranks % replicas != 0) return draft.ignore(*attention, "dp divides no ranks of tp");
  draft.map(*attention, "plan.tensor_parallel", ranks / replicas, "ranks of attention: tp / dp");
}

}  // namespace

const Engine& sglang() {
  static const Engine engine{"SGLang",
                             "sglang-2025",
                             "model_path",
                             kSglangRows,
                             {},
                             "mem_fraction_static model_path chunked_prefill_size max_running_requests "
                             "enable_dp_attention schedule_policy disable_radix_cache",
                             complete_sglang};
  return engine;
}

}  // namespace orrery::importers::serving
