// Adds up the activations of a block: what is kept from forward to backward, and what is computed again.
#pragma once

#include "orrery/recompute.hpp"
#include "orrery/stage_memory.hpp"

namespace orrery {

class ActivationSum {
 public:
  /// `recomputed`: the modules that are computed again.
  explicit ActivationSum(ModuleSet recomputed) : recomputed_(recomputed) {}

  /// A tensor that those modules make, and every layer that is computed again as a whole.
  void add(ActivationKind kind, Bytes bytes, ModuleSet made_in = {}) {
    const bool again = recomputed_.has(Module::layer) || recomputed_.meets(made_in);
    (again ? again_ : kept_)[kind] += bytes;
  }
  [[nodiscard]] bool recomputes(Module module) const { return recomputed_.has(module); }
  /// The input of the layer.
  void add_input(Bytes bytes) { kept_[ActivationKind::residual] += bytes; }

  [[nodiscard]] const ActivationBytes& kept() const { return kept_; }
  /// Held while the backward pass runs.
  [[nodiscard]] const ActivationBytes& again() const { return again_; }

 private:
  ModuleSet recomputed_;
  ActivationBytes kept_;
  ActivationBytes again_;
};

}  // namespace orrery
