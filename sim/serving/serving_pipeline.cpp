#include "sim/serving/serving_pipeline.hpp"

#include <algorithm>

namespace orrery {
namespace {

Int128& busy_time_of(ServingTimes& times, const IterationBatch& batch) {
  if (batch.decode_requests == 0) return times.prefill_ps;
  return batch.prompt_tokens == 0 ? times.decode_ps : times.mixed_ps;
}

void add(const StageWork& time, ServingWork& work) {
  work.products_ps += time.products_ps;
  work.attention_ps += time.attention_ps;
  work.kernels_ps += time.kernels_ps;
  work.launch_ps += time.launch_ps;
  for (std::size_t d = 0; d < kDimensionCount; ++d) work.messages_ps[d] += time.messages_ps[d];
}

/// The requests of a batch that decode, with a token each.
IterationBatch without_speculation(const IterationBatch& batch) {
  IterationBatch plain;
  plain.decode_requests = batch.decode_requests;
  plain.decode_tokens = batch.decode_requests;
  plain.decode_context = batch.decode_context - (batch.decode_tokens - batch.decode_requests);
  plain.results = batch.decode_requests;
  return plain;
}

}  // namespace

ServingPipeline::ServingPipeline(IterationCost& cost, const Speculation& speculation)
    : cost_(cost), speculation_(speculation), free_at_(cost.stages()), spans_(cost.stages()) {}

Picoseconds ServingPipeline::stage_ps(std::uint32_t stage, const IterationBatch& batch) {
  const StageWork pass = cost_.stage_work(stage, batch);
  const Picoseconds drafts = drafts_ps(stage, batch);
  add(pass, work_);
  work_.drafts_ps += drafts;
  return pass.total_ps() + drafts;
}

/// The proposals of its part of the draft: one after the other, each a share of a pass without them.
Picoseconds ServingPipeline::drafts_ps(std::uint32_t stage, const IterationBatch& batch) {
  if (speculation_.tokens == 0 || batch.decode_requests == 0) return 0;
  const Picoseconds plain = cost_.stage_ps(stage, without_speculation(batch));
  const double drafts =
      static_cast<double>(speculation_.tokens) * speculation_.draft_share * static_cast<double>(plain);
  return static_cast<Picoseconds>(drafts + 0.5);
}

Picoseconds ServingPipeline::execute(Picoseconds start, const IterationBatch& batch) {
  Int128& busy = busy_time_of(times_, batch);
  Picoseconds message = 0;  // to the stage
  Picoseconds longest = 0;
  for (std::uint32_t stage = 0; stage < stages(); ++stage) {
    const Picoseconds waited = std::max<Picoseconds>(0, start - free_at_[stage]);
    work_.messages_ps[static_cast<std::size_t>(Dimension::pipeline)] += std::min(message, waited);
    start = std::max(start, free_at_[stage]);
    const Picoseconds taken = stage_ps(stage, batch);
    busy += taken;
    longest = std::max(longest, taken);
    spans_[stage] = {start, start + taken};
    start = free_at_[stage] = start + taken;
    if (stage + 1 < stages()) start += message = cost_.handover_ps(stage, batch);
  }
  const Picoseconds between = cost_.between_ps(batch, longest);
  if (stages() == 1) work_.host_ps = times_.host_ps += between;
  return start + between;
}

}  // namespace orrery
