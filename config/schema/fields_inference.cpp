// Declares the keys of `inference`. Keys that vLLM has too have its names.
#include "config/schema/fields.hpp"
#include "orrery/serving.hpp"

namespace orrery {
namespace {

constexpr double kMostRequests = 1e7;
constexpr double kMostTargetSeconds = 1e6;

}  // namespace

const std::vector<Field<Inference>>& inference_fields() {
  using I = Inference;
  using T = FieldTable<I>;
  static const std::vector<Field<I>> fields{
      T::nested("prompt_tokens", "tokens of a prompt: a number, or an object with distribution, ..."),
      T::nested("output_tokens",
                "tokens to make for a request: a number, or an object with distribution, ..."),
      T::choice(
          "batching", {kBatchingNames, nullptr, {}},
          +[](I& s, std::size_t i) { s.batching = static_cast<Batching>(i); }, "continuous",
          "when requests enter a batch: all of it together, or each as soon as there is room"),
      T::integer("batch_size", 1, 1e6, &I::batch_size, "as many as the cache holds",
                 "requests in flight on a replica at most"),
      T::number("requests_per_s", "1/s", 1e-6, 1e9, &I::requests_per_s, "as many as there is room for",
                "requests that arrive over all replicas, at random times"),
      T::nested("requests", "how many to serve, or a CSV file with the arrival and the lengths of each"),
      T::flag("chunked_prefill", &I::chunked_prefill,
              "true on vllm- and tensorrt-llm-2025 and -2026 with continuous batching, else false",
              "long prompts go in pieces beside decoding; else whole, while nobody decodes"),
      T::integer(
          "max_num_batched_tokens", 1, kMaxTokens, &I::max_batched_tokens,
          "the engine's: 8192 on stacks of 2025 and 2026, or by GPU 2048 to 16384; else in pieces 2048, or a "
          "longest request and 2048 at least, or all prompts of a static batch",
          "tokens of an iteration at most; where prompts go whole, those of its prompts"),
      T::flag("guaranteed_no_evict", &I::guaranteed_no_evict,
              "true on tensorrt-llm-2025 and -2026, else false",
              "a request begins when the cache has room for its whole length; else for its prompt"),
      T::integer("scheduler_recv_interval", 1, 1e6, &I::recv_interval, "1",
                 "passes of decoding from one look for new requests to the next, as in SGLang"),
      T::choice(
          "kv_precision", {kCachePrecisionNames, nullptr, {}},
          +[](I& s, std::size_t i) { s.kv_precision = static_cast<CachePrecision>(i); }, "16 bits",
          "of the keys and values in the cache"),
      T::choice(
          "weight_precision", {kWeightStorageNames, nullptr, {}},
          +[](I& s, std::size_t i) { s.weights = static_cast<WeightStorage>(i); }, "as-computed",
          "of weights in memory, where they are widened on the way into a product"),
      T::integer("block_size", 1, 65'536, &I::page_tokens, "16", "tokens of a page of the cache"),
      T::number("gpu_memory_utilization", "", 0.01, 1, &I::cache_share, "0.9",
                "share of a GPU's usable memory for weights, activations and cache"),
      T::integer("max_model_len", 2, kMaxTokens, &I::context_tokens, "model.seq_length",
                 "tokens of a request at most, prompt and output"),
      T::number("prefix_reuse", "", 0, 1, &I::prefix_reuse, "0",
                "share of every prompt, its beginning, whose keys and values are in the cache already"),
      T::nested("speculative",
                "an object with num_speculative_tokens, acceptance_rate, draft_share: tokens are proposed"),
      T::nested("disaggregated", "an object with prefill and decode: replicas for prompts and for outputs"),
      T::number("ttft_target_s", "s", 0, kMostTargetSeconds, &I::ttft_target_s, "none",
                "time to the first token that a request has to keep to count for goodput"),
      T::number("tpot_target_s", "s", 0, kMostTargetSeconds, &I::tpot_target_s, "none",
                "time per further token, the same"),
      T::nested("slo",
                "an object with the most that latencies may be, such as ttft_s_p99: {\"ttft_s_p99\": 0.5}"),
  };
  return fields;
}

const Field<Inference>& request_count_field() {
  static const Field<Inference> field =
      FieldTable<Inference>::integer("requests", 1, kMostRequests, &Inference::requests,
                                     "one full batch of every replica; ten where lengths are drawn or "
                                     "requests arrive at a rate, 1000 at least at a rate",
                                     "to serve");
  return field;
}

const std::vector<Field<TokenLengths>>& token_lengths_fields() {
  using L = TokenLengths;
  using T = FieldTable<L>;
  static const std::vector<Field<L>> fields{
      T::choice(
          "distribution", {kLengthKindNames, nullptr, {}},
          +[](L& l, std::size_t i) { l.kind = static_cast<LengthKind>(i); }, "fixed",
          "how lengths are drawn: all mean, integers from min to max, or log-normal within them"),
      T::integer("mean", 1, kMaxTokens, &L::mean, "", "of all; of log-normal lengths before they are cut"),
      T::number("deviation", "", 0, kMaxTokens, &L::deviation, "", "log-normal: standard deviation"),
      T::integer("min", 1, kMaxTokens, &L::least, "1", "least length"),
      T::integer("max", 1, kMaxTokens, &L::most, "what the context leaves", "greatest length"),
  };
  return fields;
}

const std::vector<Field<Speculation>>& speculation_fields() {
  using S = Speculation;
  using T = FieldTable<S>;
  static const std::vector<Field<S>> fields{
      T::integer("num_speculative_tokens", 1, 64, &S::tokens, "", "proposed for each pass of the model"),
      T::number("acceptance_rate", "", 0, 1, &S::acceptance, "",
                "probability that a proposed token is taken where those before it are"),
      T::number("draft_share", "", 0, 10, &S::draft_share, "0",
                "time of a proposal over that of a pass of the model with as many requests"),
  };
  return fields;
}

const std::vector<Field<ServiceLevel>>& service_level_fields() {
  using T = FieldTable<ServiceLevel>;
  static const std::vector<Field<ServiceLevel>> fields = [] {
    constexpr double kLeastLimit = 1e-6;
    std::vector<Field<ServiceLevel>> all;
    for (const ServiceLimit& limit : kServiceLimits)
      all.push_back(T::number(limit.key, "s", kLeastLimit, kMostTargetSeconds, limit.most_s, "none",
                              "the most that this figure of the result may be"));
    return all;
  }();
  return fields;
}

const std::vector<Field<Disaggregation>>& disaggregation_fields() {
  using D = Disaggregation;
  using T = FieldTable<D>;
  static const std::vector<Field<D>> fields{
      T::integer("prefill", 1, kMaxGpus, &D::prefill, "", "replicas of the plan for prompts"),
      T::integer("decode", 1, kMaxGpus, &D::decode, "", "replicas of the plan for outputs"),
  };
  return fields;
}

std::span<const std::string_view> training_plan_keys() {
  static constexpr std::string_view kKeys[] = {
      "micro_batch_size",
      "global_batch_size",
      "replica_batch_sizes",
      "pipeline_schedule",
      "virtual_stages",
      "recompute",
      "zero_stage",
      "sharding",
      "zero_group_size",
      "optimizer",
      "offload",
      "gradient_reduction",
      "overlap_gradient_reduce",
      "bucket_mb",
      "moment_precision",
      "main_weight_precision",
      "overlap_parameter_gather",
      "context_parallel_type",
      "hierarchical_context_parallel_size",
      "overlap_expert_parallel",
      "overlap_shared_experts",
      "sequence_parallel",
      "micro_batch_group_size",
      "warmup_micro_batches",
      "reshard_after_forward",
      "prefetch",
      "fsdp_unit_layers",
      "overlap_tensor_parallel",
      "overlap_tensor_chunks",
      "offload_fraction",
      "loss_chunks",
      "frozen_precision",
  };
  return kKeys;
}

std::span<const std::string_view> training_wire_keys() {
  static constexpr std::string_view kKeys[] = {"tensor",  "tensor_gather", "tensor_reduce", "pipeline",
                                               "context", "data",          "parameters",    "models"};
  return kKeys;
}

std::span<const std::string_view> training_simulation_keys() {
  static constexpr std::string_view kKeys[] = {"network", "folding", "detail", "steps"};
  return kKeys;
}

std::span<const std::string_view> serving_software_keys() {
  static constexpr std::string_view kKeys[] = {
      "cached_attention_share", "front_end_message_us",  "front_end_ms",       "front_end_request_us",
      "grouped_query_reuse",    "iteration_us",          "one_shot_reduce_us", "request_us",
      "weight_read_share",      "widened_product_speed", "widened_read_share",
  };
  return kKeys;
}

std::span<const std::string_view> training_software_keys() {
  static constexpr std::string_view kKeys[] = {
      "backward_issue_us",
      "expert_issue_us",
      "row_slice_issue_us",
      "tensor_skew_us",
      "parameter_issue_us",
      "pass_overhead_us",
      "step_overhead_ms",
      "many_nodes_wait_ms",
      "image_loading_us",
      "image_loading_jitter",
      "dispatch_waits_for_host",
      "forward_bytes_per_logit",
      "backward_bytes_per_logit",
      "optimizer_bytes_per_parameter",
      "accumulation_bytes_per_parameter",
      "fuses_accumulation",
      "fused_softmax_multiple",
      "gradient_bytes",
      "kept_bytes_per_logit",
      "loss_bytes_per_logit",
      "keeps_narrow_inputs",
      "keeps_cast_weights",
      "fuses_expert_mlp",
      "keeps_narrow_activation_inputs",
      "bf16_gradient_memory_bytes",
      "fp16_gradient_memory_bytes",
      "keeps_weight_gradients",
      "eager_layers",
      "fsdp_version",
      "update_gradient_bytes",
      "update_group_parameters",
      "allocator_overhead",
      "context_gb",
      "communicator_mb",
      "memory_error_p10",
      "memory_error_p90",
      "convolution_speed",
      "packed_attention_columns",
      "split_node_efficiency",
      "parameter_gather_efficiency",
      "data_reduce_efficiency",
      "data_reduce_wait_ms",
      "exchange_wait_ms",
      "fusion_buffer_mb",
      "bucket_parameters",
      "bucket_parameters_per_copy",
      "cycle_time_ms",
      "negotiation_us_per_tensor",
      "communication_interference",
      "jitter",
      "overlaps_tensor_parallel",
      "overlaps_parameter_gather",
      "shards_in_nodes",
      "chooses_sharding",
      "tensor_overlap",
      "gathers_tensors",
      "bias_gradient_kernels",
      "expert_bias_kernels",
      "overlaps_gradient_reduce",
      "straggler_share",
      "error_p10_one_node",
      "error_p90_one_node",
      "error_p10_many_nodes",
      "error_p90_many_nodes",
      "error_p10_new_stack",
      "error_p90_new_stack",
      "error_p10_new_gpu",
      "error_p90_new_gpu",
      "error_p10_new_fabric",
      "error_p90_new_fabric",
  };
  return kKeys;
}

}  // namespace orrery
