// Serving with costs in closed form, so that every time is known to the picosecond.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/serving/serve.hpp"

namespace orrery::serving_test {

/// Prompts take `prompt_ps` a token, decoding `pass_ps` a pass, `request_ps` a request and `context_ps` a
/// token that is read; all of it on each stage.
struct LinearCost : IterationCost {
  Picoseconds prompt_ps = 1000;
  Picoseconds pass_ps = 0;
  Picoseconds request_ps = 100;
  Picoseconds context_ps = 0;
  Picoseconds host_ps = 0;
  Picoseconds handover = 0;
  Picoseconds token_transfer_ps = 0;
  std::vector<std::int64_t> speeds{1};  ///< by stage: times are multiplied with it
  std::vector<IterationBatch> seen;     ///< batches of the first stage

  [[nodiscard]] std::uint32_t stages() const override { return static_cast<std::uint32_t>(speeds.size()); }
  /// Counts reads of requests' KV cache as attention, and all other work as products.
  StageWork stage_work(std::uint32_t stage, const IterationBatch& batch) override {
    if (stage == 0) seen.push_back(batch);
    StageWork time;
    time.products_ps =
        speeds[stage] * (prompt_ps * batch.prompt_tokens + (batch.decode_requests > 0 ? pass_ps : 0) +
                         request_ps * batch.decode_requests);
    time.attention_ps = speeds[stage] * context_ps * batch.decode_context;
    return time;
  }
  Picoseconds handover_ps(std::uint32_t, const IterationBatch&) override { return handover; }
  Picoseconds between_ps(const IterationBatch&, Picoseconds) override { return host_ps; }
  Picoseconds transfer_ps(std::uint32_t, std::uint32_t, std::int64_t tokens) override {
    return token_transfer_ps * tokens;
  }
};

/// `count` requests of the same lengths, `batch` in flight.
inline Inference fixed_lengths(std::int64_t prompt, std::int64_t output, std::int64_t batch,
                               std::int64_t count) {
  Inference inference;
  inference.prompt.mean = prompt;
  inference.output.mean = output;
  inference.batch_size = batch;
  inference.requests = count;
  return inference;
}

/// Serves requests with a KV cache of `cache_tokens` tokens on a replica.
inline ServedRun served(const Inference& inference, IterationCost& cost,
                        std::int64_t cache_tokens = 1'000'000, std::int64_t replicas = 1,
                        std::uint64_t seed = 1) {
  return serve({inference, 1'000'000, replicas, {0, 0, 1, cache_tokens}, seed}, cost);
}

/// Checks the laws of every serving run: each request ends once with all its tokens, in the order of its
/// moments; pages are all free again; Little's law; the gaps between its tokens add up to the time from the
/// first to the last; and the times of the stages add up.
inline bool keeps_laws(const ServedRun& run, std::uint32_t stages) {
  Int128 stays = 0;
  Int128 between_tokens = 0;
  bool sound = run.obstacle.empty() && run.pages_left == 0;
  for (const ServedRequest& request : run.requests) {
    sound = sound && request.made == request.spec.output_tokens;
    sound = sound && request.spec.arrival_ps <= request.start_ps &&
            request.start_ps <= request.first_token_ps && request.first_token_ps <= request.end_ps &&
            request.end_ps <= run.serving.duration_ps;
    between_tokens += request.end_ps - request.first_token_ps;
    stays += request.end_ps - request.spec.arrival_ps;
  }
  const ServingTimes& times = run.serving.times;
  sound = sound && stays == run.in_system_ps && between_tokens == run.token_gaps_ps;
  sound = sound && run.serving.work.bubble_ps >= 0 && run.serving.work.total_ps() == times.total_ps();
  sound = sound && times.bubble_ps >= 0 && times.idle_ps >= 0 && (stages > 1 || times.bubble_ps == 0);
  return sound &&
         times.total_ps() == static_cast<Int128>(run.serving.duration_ps) * stages * run.serving.replicas;
}

}  // namespace orrery::serving_test
