// Describes the attention of a layer on one rank, for dimensions that share it among ranks.
#pragma once

#include <span>
#include <vector>

#include "workloads/models/step_builder.hpp"
#include "workloads/models/transformer_shape.hpp"

namespace orrery {

struct AttentionWork {
  const Experiment& experiment;
  const TransformerShape& shape;
  Part part = Part::attention;
  /// The kernels for the heads of this rank over whole sequences, as they run if no ranks share them. FLOPs
  /// of fused kernels are the share of one context rank, because those of whole sequences can overflow 64
  /// bits.
  std::span<const Kernel> kernels;
};

}  // namespace orrery
