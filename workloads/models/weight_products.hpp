// Builds the products with one weight of a layer, forward and backward. With LoRA (Hu et al. 2021) the weight
// is frozen, and an adapter may be trained beside it: one product into r columns and one out of them.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/plan.hpp"
#include "orrery/software.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// A weight by its product on one rank: its input (m x k) by the weight (k x n).
struct Weight {
  Kernel product;
  bool adapted = false;     ///< an adapter stands beside it
  Bytes bias_gradient = 0;  ///< read to add up the gradient of its bias; 0: it has none
};

/// Returns true if weights are cast to the precision of their products once a step, and not for each
/// micro-batch. Weights that are gathered for a layer and freed after it are cast each time.
[[nodiscard]] inline bool weights_cast_once(const Experiment& experiment) {
  return experiment.software.keeps_cast_weights && is_narrow(experiment.plan.precision) &&
         experiment.plan.zero_stage < 3;
}

class WeightProducts {
 public:
  /// `lora_rank`: of adapters; 0: weights are trained. `element`: bytes of an activation; sums move
  /// `elementwise_traffic` times as many. `frozen`: the precision of weights beside adapters. `cast_once`: as
  /// weights_cast_once().
  WeightProducts(std::int64_t lora_rank, Bytes element, FrozenPrecision frozen, bool cast_once,
                 const Software& software)
      : rank_(lora_rank), element_(element), frozen_(frozen), cast_once_(cast_once), software_(software) {}

  void add(const Weight& weight, std::vector<Kernel>& kernels) const;
  void add_input_gradient(const Weight& weight, std::vector<Kernel>& kernels) const;
  /// Adds the gradient of the weight and its bias, or of its adapter if they are frozen.
  void add_weight_gradient(const Weight& weight, std::vector<Kernel>& kernels) const;
  /// Parameters that have a gradient: those of the weight, or of its adapter.
  [[nodiscard]] std::int64_t trained_in(const Weight& weight) const;

 private:
  [[nodiscard]] Kernel sum(std::int64_t values) const;
  void widen(const Weight& weight, std::vector<Kernel>& kernels) const;

  std::int64_t rank_;
  Bytes element_;
  FrozenPrecision frozen_;
  bool cast_once_;
  const Software& software_;
};

}  // namespace orrery
