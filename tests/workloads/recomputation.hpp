// Computes the activations that layers keep and recompute, for the tests of workloads/ and sim/.
#pragma once

#include "workloads/models/expert_shape.hpp"
#include "workloads/models/layer_kinds.hpp"

namespace orrery::test {

/// Bytes that a dense layer keeps from forward to backward.
inline Bytes kept_by_layer(const Experiment& e, ModuleSet recomputed = {}) {
  const TransformerShape shape(e.model, e.plan);
  ActivationSum sum(recomputed);
  shape.add_attention(sum);
  shape.add_mlp(sum);
  return sum.kept().total();
}

/// Returns the FLOPs that a step over `samples` samples spends on recomputation.
inline TotalFlops flops_again(const Model& model, std::int64_t samples, Recompute recompute) {
  Plan plan;
  plan.recompute = recompute;
  plan.global_batch_size = samples;
  return recompute_flops(model, plan, LayerKinds(model, plan));
}

}  // namespace orrery::test
