// Describes the requests that an experiment serves in place of a training step, how they are batched, and the
// KV cache. Made by config/, read by workloads/inference/ (the kernels of an iteration) and sim/serving/ (the
// requests in it).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/precision.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Names the distributions of prompt and output lengths.
enum class LengthKind : std::uint8_t {
  fixed,       ///< all `mean`
  uniform,     ///< integers from `least` to `most`
  log_normal,  ///< of that mean and deviation, cut to `least` and `most`
};
inline constexpr std::array<std::string_view, 3> kLengthKindNames{"fixed", "uniform", "log-normal"};

struct TokenLengths {
  LengthKind kind = LengthKind::fixed;
  std::int64_t mean = 0;  ///< tokens
  double deviation = 0;   ///< log_normal: standard deviation, tokens
  std::int64_t least = 1;
  std::int64_t most = 0;  ///< 0: no limit but the context

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(kind, mean, deviation, least, most);
  }
  friend bool operator==(const TokenLengths&, const TokenLengths&) = default;
};

/// A request of a trace.
struct RequestSpec {
  Picoseconds arrival_ps = 0;
  std::int64_t prompt_tokens = 1;  ///< >= 1
  std::int64_t output_tokens = 1;  ///< >= 1, the first of them made by the prompt's own pass

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(arrival_ps, prompt_tokens, output_tokens);
  }
  friend bool operator==(const RequestSpec&, const RequestSpec&) = default;
};

/// Requests in order of their arrival, shared by all copies of an experiment; or nothing.
class RequestTrace {
 public:
  RequestTrace() = default;
  explicit RequestTrace(std::vector<RequestSpec> requests, std::string file = {})
      : requests_(std::make_shared<const std::vector<RequestSpec>>(std::move(requests))),
        file_(std::move(file)) {}
  [[nodiscard]] bool has_value() const { return requests_ != nullptr; }
  [[nodiscard]] const std::vector<RequestSpec>& operator*() const { return *requests_; }
  /// Returns the file that they were read from; equality ignores it.
  [[nodiscard]] const std::string& file() const { return file_; }
  friend bool operator==(const RequestTrace& a, const RequestTrace& b) {
    return a.requests_ == b.requests_ || (a.has_value() && b.has_value() && *a == *b);
  }

 private:
  std::shared_ptr<const std::vector<RequestSpec>> requests_;
  std::string file_;
};

/// Says when requests enter a batch.
enum class Batching : std::uint8_t {
  fixed,       ///< `batch_size` of them together, the next ones when all have ended
  continuous,  ///< as soon as there is room, between two iterations (Yu et al. 2022, "Orca")
};
inline constexpr std::array<std::string_view, 2> kBatchingNames{"static", "continuous"};

/// Says how weights are stored if not in the precision of the products; they are widened as a product reads
/// them.
enum class WeightStorage : std::uint8_t { as_computed, fp8, int8, fp4, int4 };
inline constexpr std::array<std::string_view, 5> kWeightStorageNames{"as-computed", "fp8", "int8", "fp4",
                                                                     "int4"};

/// Says how the KV cache stores keys and values. int8 has a scale for a tensor (TensorRT-LLM), as fp8 has.
/// Engines differ in int4: a scale and a zero of 16 bits for every 128 values are assumed.
enum class CachePrecision : std::uint8_t { fp32, fp16, bf16, fp8, int8, fp4, int4 };
inline constexpr std::array<std::string_view, 7> kCachePrecisionNames{"fp32", "fp16", "bf16", "fp8",
                                                                      "int8", "fp4",  "int4"};

/// Bytes of 32 values with their share of scales.
[[nodiscard]] constexpr std::int64_t bytes_of_32(CachePrecision precision) {
  switch (precision) {
    case CachePrecision::fp32:
      return bytes_of_32(Precision::fp32);
    case CachePrecision::fp16:
    case CachePrecision::bf16:
      return bytes_of_32(Precision::fp16);
    case CachePrecision::fp8:
    case CachePrecision::int8:
      return 32;
    case CachePrecision::fp4:
      return bytes_of_32(Precision::fp4);
    case CachePrecision::int4:
      break;
  }
  return 16 + 1;
}

/// A small model, or heads of the model itself, that propose tokens which the model then checks in one pass
/// (Leviathan et al. 2023).
struct Speculation {
  std::int64_t tokens = 0;  ///< proposed at a time; 0: none
  double acceptance = 0;    ///< probability that a proposed token, with those before it, is taken
  double draft_share = 0;   ///< time of a proposal over that of a pass of the model with as many requests

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(tokens, acceptance, draft_share);
  }
  friend bool operator==(const Speculation&, const Speculation&) = default;
};

/// Ranks for prompts and ranks for outputs, which get the keys and values over the links between (Zhong et
/// al. 2024, "DistServe").
struct Disaggregation {
  std::int64_t prefill = 0;  ///< replicas of the plan for prompts; 0: every replica does both
  std::int64_t decode = 0;   ///< and for outputs

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(prefill, decode);
  }
  friend bool operator==(const Disaggregation&, const Disaggregation&) = default;
};

/// The most that a latency may be, in seconds, as a mean or a percentile over requests (of inter-token
/// latencies over tokens); 0: no limit. serving.hpp has the figures that they are held against.
struct ServiceLevel {
  double ttft_s = 0, ttft_s_p50 = 0, ttft_s_p90 = 0, ttft_s_p95 = 0, ttft_s_p99 = 0;
  double tpot_s = 0, tpot_s_p50 = 0, tpot_s_p90 = 0, tpot_s_p95 = 0, tpot_s_p99 = 0;
  double inter_token_latency_s = 0, inter_token_latency_s_p50 = 0, inter_token_latency_s_p90 = 0,
         inter_token_latency_s_p95 = 0, inter_token_latency_s_p99 = 0;
  double end_to_end_s = 0, end_to_end_s_p50 = 0, end_to_end_s_p90 = 0, end_to_end_s_p95 = 0,
         end_to_end_s_p99 = 0;

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(ttft_s, ttft_s_p50, ttft_s_p90, ttft_s_p95, ttft_s_p99, tpot_s, tpot_s_p50, tpot_s_p90,
                 tpot_s_p95, tpot_s_p99, inter_token_latency_s, inter_token_latency_s_p50,
                 inter_token_latency_s_p90, inter_token_latency_s_p95, inter_token_latency_s_p99,
                 end_to_end_s, end_to_end_s_p50, end_to_end_s_p90, end_to_end_s_p95, end_to_end_s_p99);
  }
  friend bool operator==(const ServiceLevel&, const ServiceLevel&) = default;
};

struct Inference {
  TokenLengths prompt;
  TokenLengths output;
  Batching batching = Batching::continuous;
  std::int64_t batch_size = 0;  ///< requests in flight on a replica at most; 0: as many as the cache holds
  double requests_per_s =
      0;  ///< arrivals by a Poisson process over all replicas; 0: as many as there is room for at all times
  /// Number of requests in all. 0: one full batch of every replica, ten if lengths are drawn or requests
  /// arrive at a rate, and then at least 1000.
  std::int64_t requests = 0;
  RequestTrace trace;  ///< arrivals and lengths from a file; nothing: drawn by the four above
  /// Prefill long prompts in chunks together with decode (Agrawal et al. 2024); otherwise prefill whole
  /// prompts and pause decode.
  bool chunked_prefill = false;
  /// Tokens of an iteration at most; where prompts go whole those of its prompts, but for a single longer
  /// one. 0: as iteration_tokens() says.
  std::int64_t max_batched_tokens = 0;
  /// A request begins when there are pages for its whole length (TensorRT-LLM's GUARANTEED_NO_EVICT); else
  /// for its prompt, and the youngest gives way where they run out.
  bool guaranteed_no_evict = false;
  /// Passes of decoding from one look for new requests to the next (SGLang); an engine also looks after a
  /// pass with prompts, and where it has nothing to do.
  std::int64_t recv_interval = 1;
  CachePrecision kv_precision = CachePrecision::fp16;
  WeightStorage weights = WeightStorage::as_computed;
  std::int64_t page_tokens = 16;    ///< of the cache (Kwon et al. 2023, "PagedAttention")
  double cache_share = 0.9;         ///< of a GPU's usable memory, for weights, activations and cache together
  std::int64_t context_tokens = 0;  ///< most of a request, prompt and output; 0: Model::seq_length
  double prefix_reuse = 0;          ///< share of every prompt whose keys and values are there already
  Speculation speculation;
  Disaggregation disaggregated;
  double ttft_target_s = 0;  ///< a request counts for goodput where it keeps both; 0: no target
  double tpot_target_s = 0;
  ServiceLevel slo;

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(prompt, output, batching, batch_size, requests_per_s, requests, trace, chunked_prefill,
                 max_batched_tokens, guaranteed_no_evict, recv_interval, kv_precision, weights, page_tokens,
                 cache_share, context_tokens, prefix_reuse, speculation, disaggregated, ttft_target_s,
                 tpot_target_s, slo);
  }
  /// Returns true if a new request arrives whenever one has ended, so that the number in flight stays
  /// constant.
  [[nodiscard]] bool is_closed_loop() const { return !trace.has_value() && requests_per_s == 0; }
  [[nodiscard]] bool is_disaggregated() const { return disaggregated.prefill > 0; }
  /// Tokens of a mean prompt and output, rounded up; each 1 at least.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> mean_lengths() const {
    if (!trace.has_value() || (*trace).empty()) return {prompt.mean, output.mean};
    std::int64_t prompts = 0;
    std::int64_t outputs = 0;
    for (const RequestSpec& request : *trace) {
      prompts += request.prompt_tokens;
      outputs += request.output_tokens;
    }
    const auto count = static_cast<std::int64_t>((*trace).size());
    return {(prompts + count - 1) / count, (outputs + count - 1) / count};
  }
  /// Returns the longest prompt if requests have at most `context` tokens.
  [[nodiscard]] std::int64_t longest_prompt(std::int64_t context) const {
    if (trace.has_value())
      return std::ranges::max_element(*trace, {}, &RequestSpec::prompt_tokens)->prompt_tokens;
    if (prompt.kind == LengthKind::fixed) return prompt.mean;
    return prompt.most > 0 ? std::min(prompt.most, context) : context;
  }
  /// Tokens of an iteration at most, or of its prompts where they go whole: max_batched_tokens, else 2048 in
  /// pieces (the usual max_num_batched_tokens of vLLM), all prompts of a static batch whose size is known, or
  /// `context` and 2048 at least.
  [[nodiscard]] std::int64_t iteration_tokens(std::int64_t context) const {
    constexpr std::int64_t kUsual = 2048;
    if (max_batched_tokens > 0) return max_batched_tokens;
    if (chunked_prefill) return kUsual;
    if (batching == Batching::fixed && batch_size > 0) return batch_size * longest_prompt(context);
    return std::max(context, kUsual);
  }
  friend bool operator==(const Inference&, const Inference&) = default;
};

}  // namespace orrery
