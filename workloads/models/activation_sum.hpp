// Adds up the activations of a block: those kept from forward to backward, and those recomputed.
#pragma once

#include "orrery/recompute.hpp"
#include "orrery/stage_memory.hpp"

namespace orrery {

class ActivationSum {
 public:
  /// Bytes of 32 values of 16 bits.
  static constexpr std::int64_t kWide = 64;

  /// `recomputed`: the modules that are computed again. `input_of_32`: bytes in which 32 values of inputs of
  /// products with weights are kept; kWide: as they are. `activated_of_32`: the same of inputs of activation
  /// functions.
  explicit ActivationSum(ModuleSet recomputed, std::int64_t input_of_32 = kWide,
                         std::int64_t activated_of_32 = kWide)
      : recomputed_(recomputed), input_of_32_(input_of_32), activated_of_32_(activated_of_32) {}

  /// A tensor that those modules make, and every layer that is computed again as a whole.
  void add(ActivationKind kind, Bytes bytes, ModuleSet made_in = {}) {
    const bool again = recomputed_.has(Module::layer) || recomputed_.meets(made_in);
    (again ? again_ : kept_)[kind] += bytes;
  }
  /// Adds an activation that only products with weights read: an input, or the gradient of an output that
  /// waits for the gradient of the weights.
  void add_product_input(ActivationKind kind, Bytes bytes, ModuleSet made_in = {}) {
    add(kind, narrows() ? (bytes * input_of_32_ + kWide - 1) / kWide : bytes, made_in);
  }
  /// Adds an input of an activation function.
  void add_activation_input(ActivationKind kind, Bytes bytes, ModuleSet made_in) {
    add(kind, activated_of_32_ == kWide ? bytes : (bytes * activated_of_32_ + kWide - 1) / kWide, made_in);
  }
  /// Returns true if inputs of products are stored in fewer bits than they are computed in.
  [[nodiscard]] bool narrows() const { return input_of_32_ != kWide; }
  [[nodiscard]] bool recomputes(Module module) const { return recomputed_.has(module); }
  /// The input of the layer.
  void add_input(Bytes bytes) { kept_[ActivationKind::residual] += bytes; }

  [[nodiscard]] const ActivationBytes& kept() const { return kept_; }
  /// Held while the backward pass runs.
  [[nodiscard]] const ActivationBytes& again() const { return again_; }

 private:
  ModuleSet recomputed_;
  std::int64_t input_of_32_;
  std::int64_t activated_of_32_;
  ActivationBytes kept_;
  ActivationBytes again_;
};

}  // namespace orrery
