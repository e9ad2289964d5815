// Checks if a plan can compute its loss in chunks, and keep frozen weights in a narrow precision.
#include <fmt/format.h>

#include <string_view>

#include "config/experiment/read_parts.hpp"

namespace orrery {
namespace {

/// Returns the reason why weights cannot be kept narrow: they have to be frozen, and neither gathered nor
/// sharded.
std::string_view obstacle_to_narrow(const Experiment& experiment) {
  if (experiment.model.lora_rank == 0) return "without model.lora_rank: all weights are trained";
  if (experiment.model.experts > 0) return "in models with experts";
  return experiment.plan.zero_stage == 3 ? "with zero_stage 3, which gathers weights as they are computed"
                                         : "";
}

}  // namespace

void check_pieces(const Experiment& experiment, Findings& findings) {
  const Plan& plan = experiment.plan;
  if (plan.loss_chunks > 1 && !experiment.model.attends())
    findings.add("/plan/loss_chunks",
                 fmt::format("found {}, allowed 1 for a model without a vocabulary", plan.loss_chunks));
  const std::string_view obstacle = obstacle_to_narrow(experiment);
  if (plan.frozen_precision != FrozenPrecision::as_computed && !obstacle.empty())
    findings.add(
        "/plan/frozen_precision",
        fmt::format("found {}, allowed as-computed {}",
                    kFrozenPrecisionNames[static_cast<std::size_t>(plan.frozen_precision)], obstacle));
}

}  // namespace orrery
