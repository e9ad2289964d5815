// Builds the two halves of a transformer layer, attention and MLP, by their kernels on one tensor rank.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/models/transformer_shape.hpp"
#include "workloads/models/weight_products.hpp"

namespace orrery {

/// Describes the forward kernels of a half, and the work of its backward pass beside the products' gradients.
struct SubBlock {
  enum class Half : std::uint8_t { mlp, attention, recurrence };
  std::vector<Kernel> before;  ///< norm: recomputed and differentiated with the block; none in shared experts
  std::vector<Weight> first;   ///< cut by columns
  std::vector<Kernel> inner_norms;  ///< between those and the core
  std::vector<Kernel> inner_norms_backward;
  std::vector<Kernel> core;  ///< between the two products, over whole sequences
  std::vector<Kernel> core_backward;
  std::vector<Kernel> gate;  ///< between the core and the last product, where attention has one
  std::vector<Kernel> gate_backward;
  Weight second;              ///< cut by rows
  std::vector<Kernel> after;  ///< bias, dropout, residual; of shared experts their gate alone
  Half half = Half::mlp;

  [[nodiscard]] bool attends() const { return half == Half::attention; }
};

/// Norm before, bias, dropout and residual after: kernels that a framework fuses more or less.
[[nodiscard]] SubBlock between_norms_and_residual(const Software& software, const TransformerShape& shape,
                                                  bool post_norms);
[[nodiscard]] SubBlock attention_sub_block(const Experiment& experiment, const TransformerShape& shape,
                                           const LayerContent& content);
[[nodiscard]] SubBlock mlp_sub_block(const Experiment& experiment, const TransformerShape& shape);
/// An MLP of that width on this rank, without norm and residual.
[[nodiscard]] SubBlock shared_experts_sub_block(const Experiment& experiment, const TransformerShape& shape,
                                                std::int64_t ffn);

}  // namespace orrery
