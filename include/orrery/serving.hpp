// Reports how requests were served: latencies, throughput, KV cache usage, and where the time went. Part of a
// Report; made by sim/serving/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/inference.hpp"
#include "orrery/units.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Holds a figure over requests. A percentile is the nearest rank: the least value that this percentage of
/// the requests does not exceed, always the value of one request.
struct Distribution {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

/// Splits the time of the stages of all replicas; the parts add up to stages * replicas * the duration.
struct ServingTimes {
  Int128 prefill_ps = 0;  ///< iterations with prompts alone
  Int128 decode_ps = 0;   ///< iterations without prompts
  Int128 mixed_ps = 0;    ///< iterations with pieces of prompts beside decoding
  Int128 host_ps = 0;     ///< between iterations; of replicas with several stages it is part of the bubble
  Int128 bubble_ps = 0;   ///< a stage waits while other stages of its replica work
  Int128 idle_ps = 0;     ///< no request of the replica can go on, or there is none

  [[nodiscard]] Int128 busy_ps() const { return prefill_ps + decode_ps + mixed_ps; }
  [[nodiscard]] Int128 total_ps() const { return busy_ps() + host_ps + bubble_ps + idle_ps; }
};

/// Splits the same time by the activity of the GPUs of the stages; the parts add up to
/// ServingTimes::total_ps().
struct ServingWork {
  Int128 products_ps = 0;   ///< products of matrices: weights are read for them
  Int128 attention_ps = 0;  ///< keys and values are read for it
  Int128 kernels_ps = 0;    ///< all other kernels
  Int128 drafts_ps = 0;     ///< proposals of speculative decoding, from any kind of draft
  Int128 launch_ps = 0;     ///< between kernels, and where the host takes longer than the GPU
  /// Collectives, by dimension; of pipeline, messages between stages while the receiver waits for them.
  std::array<Int128, kDimensionCount> messages_ps{};
  Int128 host_ps = 0;    ///< between iterations, as in ServingTimes
  Int128 bubble_ps = 0;  ///< the part of it in ServingTimes that no message between stages takes
  Int128 idle_ps = 0;

  [[nodiscard]] Int128 total_ps() const {
    Int128 sum =
        products_ps + attention_ps + kernels_ps + drafts_ps + launch_ps + host_ps + bubble_ps + idle_ps;
    for (const Int128 one : messages_ps) sum += one;
    return sum;
  }
  ServingWork& operator+=(const ServingWork& more);
};

/// Share of a cache that requests held, over an interval of time.
struct CacheUse {
  Picoseconds until_ps = 0;
  double share = 0;
};

/// Gives the range of a figure's mean in 8 of 10 measured runs that no fit of the stack saw.
struct ServingRange {
  std::string figure;  ///< its key in the result
  double low = 0;
  double high = 0;
};

/// Replicas that are alike, of a run on replicas that are not.
struct ReplicaGroup {
  std::string gpus;  ///< of a replica, in words
  std::int64_t replicas = 0;
  std::int64_t requests = 0;      ///< that ended on them
  std::int64_t cache_tokens = 0;  ///< room of the cache of one
  double ttft_s = 0;              ///< mean over requests whose prompts they computed; 0: none
  double tpot_s = 0;              ///< mean over those of which they made the other tokens; 0: none
  Int128 busy_ps = 0;             ///< of their stages
  Int128 total_ps = 0;            ///< likewise

  [[nodiscard]] double busy_share() const {
    return total_ps > 0 ? static_cast<double>(busy_ps) / static_cast<double>(total_ps) : 0;
  }
};

/// The most requests per second, to three digits, that are served within every limit of the experiment and
/// without a queue that grows.
struct Capacity {
  double requests_per_s = 0;  ///< 0: not even one request in 1,000 s is
  double offered_per_s = 0;   ///< the next rate that was tried, at which they are not
  std::string broken;         ///< the limit that is exceeded there: a key of `inference.slo`, or "queue"
  std::int64_t requests = 0;  ///< of the run at that rate: as many as tell whether the queue grows
  std::int64_t simulations = 0;
};

struct Serving {
  std::int64_t requests = 0;
  std::int64_t replicas = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  Picoseconds duration_ps = 0;  ///< from the beginning to the end of the last request

  Distribution ttft_s;  ///< time to the first token, from the arrival
  Distribution tpot_s;  ///< time per output token after the first; of requests with more than one
  /// Time between two deliveries to a request, one token each without speculation: over all tokens but the
  /// first ones. Percentiles to 0.1 %.
  Distribution inter_token_latency_s;
  Distribution end_to_end_s;  ///< from the arrival to the last token
  Distribution queue_s;       ///< from the arrival to the first iteration

  double arrivals_per_s = 0;      ///< offered; 0: new requests come as old ones end
  double queue_growth_per_s = 0;  ///< of requests in the system, over the second half of the arrivals
  double late_ends_per_s = 0;     ///< requests that ended in that time
  /// True if requests in the system grew by more than chance explains; nullopt if too few arrive to tell.
  std::optional<bool> unstable;
  std::int64_t truncated_requests = 0;  ///< requests whose drawn lengths were cut to the longest allowed
  std::int64_t good_requests = 0;       ///< that kept all targets

  std::int64_t iterations = 0;
  double batch_mean = 0;  ///< requests of an iteration
  std::int64_t batch_most = 0;
  std::int64_t preemptions = 0;  ///< requests that lost their place in the cache and were computed again
  std::int64_t recomputed_tokens = 0;

  std::int64_t cache_tokens = 0;    ///< room of a replica's cache; of the smallest
  Bytes cache_bytes = 0;            ///< the same on a GPU of its fullest stage
  Bytes weights_bytes = 0;          ///< on that GPU
  Bytes workspace_bytes = 0;        ///< on that GPU: activations of the largest iteration
  double cache_mean = 0;            ///< share of it that was held, over time and replicas
  double cache_peak = 0;            ///< of the fullest replica
  std::vector<CacheUse> cache_use;  ///< over time, mean over replicas
  ServingTimes times;
  ServingWork work;
  std::vector<ReplicaGroup> groups;  ///< the fastest first; none where all replicas are alike
  std::optional<Capacity> capacity;  ///< where Figures::capacity asks for it
  std::vector<ServingRange> ranges;  ///< none where no run of the kind was measured

  [[nodiscard]] double duration_s() const { return to_seconds(duration_ps); }
  [[nodiscard]] double requests_per_s() const { return static_cast<double>(requests) / duration_s(); }
  [[nodiscard]] double output_tokens_per_s() const {
    return static_cast<double>(output_tokens) / duration_s();
  }
  [[nodiscard]] double tokens_per_s() const {
    return static_cast<double>(prompt_tokens + output_tokens) / duration_s();
  }
  [[nodiscard]] double goodput_requests_per_s() const {
    return static_cast<double>(good_requests) / duration_s();
  }
  [[nodiscard]] double busy_share() const {
    return static_cast<double>(times.busy_ps()) / static_cast<double>(times.total_ps());
  }
};

/// A limit of `inference.slo`, and the figure that it limits.
struct ServiceLimit {
  std::string_view key;
  double ServiceLevel::*most_s;
  Distribution Serving::*figure;
  double Distribution::*part;
};
inline constexpr std::array<ServiceLimit, 20> kServiceLimits{{
    {"ttft_s", &ServiceLevel::ttft_s, &Serving::ttft_s, &Distribution::mean},
    {"ttft_s_p50", &ServiceLevel::ttft_s_p50, &Serving::ttft_s, &Distribution::p50},
    {"ttft_s_p90", &ServiceLevel::ttft_s_p90, &Serving::ttft_s, &Distribution::p90},
    {"ttft_s_p95", &ServiceLevel::ttft_s_p95, &Serving::ttft_s, &Distribution::p95},
    {"ttft_s_p99", &ServiceLevel::ttft_s_p99, &Serving::ttft_s, &Distribution::p99},
    {"tpot_s", &ServiceLevel::tpot_s, &Serving::tpot_s, &Distribution::mean},
    {"tpot_s_p50", &ServiceLevel::tpot_s_p50, &Serving::tpot_s, &Distribution::p50},
    {"tpot_s_p90", &ServiceLevel::tpot_s_p90, &Serving::tpot_s, &Distribution::p90},
    {"tpot_s_p95", &ServiceLevel::tpot_s_p95, &Serving::tpot_s, &Distribution::p95},
    {"tpot_s_p99", &ServiceLevel::tpot_s_p99, &Serving::tpot_s, &Distribution::p99},
    {"inter_token_latency_s", &ServiceLevel::inter_token_latency_s, &Serving::inter_token_latency_s,
     &Distribution::mean},
    {"inter_token_latency_s_p50", &ServiceLevel::inter_token_latency_s_p50, &Serving::inter_token_latency_s,
     &Distribution::p50},
    {"inter_token_latency_s_p90", &ServiceLevel::inter_token_latency_s_p90, &Serving::inter_token_latency_s,
     &Distribution::p90},
    {"inter_token_latency_s_p95", &ServiceLevel::inter_token_latency_s_p95, &Serving::inter_token_latency_s,
     &Distribution::p95},
    {"inter_token_latency_s_p99", &ServiceLevel::inter_token_latency_s_p99, &Serving::inter_token_latency_s,
     &Distribution::p99},
    {"end_to_end_s", &ServiceLevel::end_to_end_s, &Serving::end_to_end_s, &Distribution::mean},
    {"end_to_end_s_p50", &ServiceLevel::end_to_end_s_p50, &Serving::end_to_end_s, &Distribution::p50},
    {"end_to_end_s_p90", &ServiceLevel::end_to_end_s_p90, &Serving::end_to_end_s, &Distribution::p90},
    {"end_to_end_s_p95", &ServiceLevel::end_to_end_s_p95, &Serving::end_to_end_s, &Distribution::p95},
    {"end_to_end_s_p99", &ServiceLevel::end_to_end_s_p99, &Serving::end_to_end_s, &Distribution::p99},
}};

/// Returns the limits of `slo` that the figures exceed.
[[nodiscard]] std::vector<ServiceLimit> broken_limits(const ServiceLevel& slo, const Serving& serving);

}  // namespace orrery
