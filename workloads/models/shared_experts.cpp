// Shared experts beside the others, in one go or in two: Megatron-Core (--moe-shared-expert-overlap) runs the
// first product while tokens travel to their experts and the second one while they come back, and backward
// the other way round.
#include <utility>

#include "workloads/models/transformer.hpp"

namespace orrery {

ExpertLayer Transformer::experts() const {
  const std::int64_t ffn = ExpertShape(model_, plan_, shape_).shared_ffn;
  if (ffn == 0) return {experiment_, shape_, {}};
  const SubBlock shared = shared_experts_sub_block(experiment_, shape_, ffn);
  return {experiment_, shape_,
          [this, shared](StepBuilder& to, PassKind kind, MlpPart part, std::int32_t after) {
            return part == MlpPart::all ? run(to, kind, Part::experts, SubBlocks(&shared, 1), after)
                                        : run_product(to, kind, part, shared, after);
          }};
}

/// Runs a product. The part that runs first gathers the input that sequence parallelism has cut, and backward
/// again for the gradients of weights; the last one reduces the results of the tensor ranks.
std::int32_t Transformer::run_product(StepBuilder& to, PassKind kind, MlpPart part, const SubBlock& sub,
                                      std::int32_t after) const {
  std::int32_t ready = after;
  if (part == MlpPart::first_run) {
    ready = gather_input(to, Part::experts, ready, shape_.residual());
    if (kind == PassKind::backward) ready = gather_input(to, Part::experts, ready, shape_.residual());
  }
  std::vector<Kernel> kernels;
  add_products(kind, part, sub, kernels);
  const std::int32_t done = to.compute(Part::experts, std::move(kernels), ready);
  return part == MlpPart::first_run ? done : reduce_output(to, Part::experts, done, shape_.residual());
}

void Transformer::add_products(PassKind kind, MlpPart part, const SubBlock& sub,
                               std::vector<Kernel>& kernels) const {
  const bool starts = part == MlpPart::first_run;
  const auto append = [&](const std::vector<Kernel>& more) {
    kernels.insert(kernels.end(), more.begin(), more.end());
  };
  if (kind == PassKind::forward) {
    if (!starts) {
      products_.add(sub.second, kernels);
      return append(sub.after);
    }
    for (const Weight& weight : sub.first) products_.add(weight, kernels);
    return append(sub.core);
  }
  const bool weights = kind == PassKind::backward;
  if (starts) {
    append(sub.after);
    products_.add_input_gradient(sub.second, kernels);
    if (weights) products_.add_weight_gradient(sub.second, kernels);
    return append(sub.core_backward);
  }
  for (const Weight& weight : sub.first) products_.add_input_gradient(weight, kernels);
  for (const Weight& weight : sub.first)
    if (weights) products_.add_weight_gradient(weight, kernels);
  if (weights) accumulate_products(kernels, trained_in(sub));
  kernels.push_back(as(KernelClass::norm, elementwise(3 * shape_.cut_residual())));
}

}  // namespace orrery
