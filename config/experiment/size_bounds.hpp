// Computes upper bounds, in floating point, of a step's compute, memory and traffic. Internal to the checks
// of an experiment's size.
#pragma once

#include <cstdint>

#include "orrery/experiment.hpp"

namespace orrery {

[[nodiscard]] inline double real(std::int64_t value) { return static_cast<double>(value); }

struct StepBounds {
  double weights = 0;       ///< of the whole model
  double layer_flops = 0;   ///< of a layer, or the head, on a GPU with a micro-batch
  double flops = 0;         ///< of a step, over all GPUs
  double kept_weights = 0;  ///< bytes of weights, gradients and states that a GPU may send or keep in a step
  double activations = 0;   ///< bytes of activations that a replica may keep in a step
  double sent_by_tensor = 0;   ///< bytes that a GPU sends to its tensor group in a step
  double sent_in_replica = 0;  ///< and to the others of its replica

  [[nodiscard]] double bytes() const { return kept_weights + activations; }
};

/// A weight takes that much with its gradient and states.
inline constexpr double kWeightBytes = 24;
/// The bytes per weight that ZeRO gathers and reduces with each micro-batch: the weight twice, and its
/// gradient.
inline constexpr double kMovedBytes = 12;

/// Returns the number of layers with those of multi-token prediction.
[[nodiscard]] inline double all_layers(const Model& m) {
  return real(m.all_layers() + m.multi_token_prediction);
}

[[nodiscard]] StepBounds bounds_of(const Experiment& experiment);

}  // namespace orrery
