#include "workloads/weights/weight_traffic.hpp"

#include <algorithm>
#include <vector>

#include "workloads/communicators/wire_width.hpp"

namespace orrery {
namespace {

/// Returns how often ZeRO-3 gathers each chunk.
std::vector<std::int64_t> gathers_by_chunk(const Plan& plan, const Stage& stage) {
  std::vector<std::int64_t> gathers(stage.chunks.size(), 0);
  std::vector<bool> whole(stage.chunks.size(), false);
  for (const Pass& pass : passes_of(plan, stage)) {
    if (!hands_on(pass.kind)) continue;
    const auto chunk = static_cast<std::size_t>(pass.chunk);
    gathers[chunk] += whole[chunk] ? 0 : 1;
    const bool drops = pass.kind != PassKind::forward && plan.reduces_every_micro_batch();
    whole[chunk] = !plan.reshard_after_forward && !drops;
  }
  return gathers;
}

}  // namespace

WeightTraffic weight_traffic(const Experiment& experiment, const Stage& stage) {
  const Plan& plan = experiment.plan;
  if (plan.weight_copies() == 1) return {};
  const WireWidth parameters(plan.wire_precision.parameters, element_bytes(plan.precision), plan.precision);
  const WireWidth gradients(plan.wire_precision.data, gradient_bytes(experiment), plan.precision);
  WeightTraffic traffic;
  traffic.reductions = plan.reduces_every_micro_batch() ? plan.micro_batches_per_copy() : 1;
  traffic.reduced = traffic.reductions * gradients.of(stage.trained());
  if (plan.zero_stage == 1 || plan.zero_stage == 2) {
    traffic.gathers = 1;
    traffic.gathered = parameters.of(stage.trained());
  } else if (plan.zero_stage == 3) {
    const std::vector<std::int64_t> gathers = gathers_by_chunk(plan, stage);
    traffic.gathers = *std::ranges::max_element(gathers);
    for (std::size_t c = 0; c < gathers.size(); ++c) {
      for (const PlacedBlock& block : stage.chunks[c].blocks)
        traffic.gathered += gathers[c] * parameters.of(block.used);
    }
  }
  return traffic;
}

}  // namespace orrery
