// What the attention of a layer does on one rank, for dimensions that share it among ranks.
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
  /// Of the heads of this rank over whole sequences, as it runs where no ranks share them; but the FLOPs of
  /// fused ones are the share of one context rank, for those of whole sequences can leave 64 bits.
  std::span<const Kernel> kernels;
};

}  // namespace orrery
