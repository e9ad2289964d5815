// Builds the kernels of the attention of one rank over whole sequences: between the products that make
// queries, keys and values, and the one that takes its output.
#pragma once

#include <vector>

#include "workloads/models/sparse_attention.hpp"
#include "workloads/models/step_builder.hpp"
#include "workloads/models/transformer_shape.hpp"

namespace orrery {

/// Which tokens of a sample meet in attention.
struct AttentionSpan {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  bool causal = true;     ///< keys behind a query are masked
  bool windowed = false;  ///< queries attend to those of the model's window only
  bool biased = false;    ///< each score has a bias by distance
};

/// That of a layer among its own tokens.
[[nodiscard]] AttentionSpan span_of(const Model& model, const LayerContent& content);

class AttentionKernels {
 public:
  /// Keeps references, but of `span`.
  AttentionKernels(const Experiment& experiment, const TransformerShape& shape, const AttentionSpan& span)
      : model_(experiment.model),
        plan_(experiment.plan),
        software_(experiment.software),
        shape_(shape),
        span_(span) {}

  [[nodiscard]] std::vector<Kernel> forward() const;
  /// `ahead`: of the forward pass.
  [[nodiscard]] std::vector<Kernel> backward(const std::vector<Kernel>& ahead) const;

 private:
  [[nodiscard]] Kernel fused() const;
  [[nodiscard]] bool is_sparse() const { return model_.is_sparse(); }
  [[nodiscard]] SparseSpan sparse_span() const;
  /// Returns the bytes of the biases of all scores of a head, which samples share.
  [[nodiscard]] Bytes biases() const;
  [[nodiscard]] Kernel elementwise(Bytes bytes) const { return scaled(bytes, software_.elementwise_traffic); }
  /// Fused, the softmax of unfused attention reads and writes each score once. In pieces (cast to 32
  /// bits, scale, mask, softmax, cast back) it is five kernels, in 32 bits.
  void add_softmax(std::vector<Kernel>& kernels, std::int64_t scores) const;
  void add_softmax_backward(std::vector<Kernel>& kernels, std::int64_t scores) const;
  [[nodiscard]] bool fuses_softmax() const {
    return plan_.micro_batch_size * shape_.heads % software_.fused_softmax_multiple == 0;
  }

  const Model& model_;
  const Plan& plan_;
  const Software& software_;
  const TransformerShape& shape_;
  AttentionSpan span_;
};

}  // namespace orrery
