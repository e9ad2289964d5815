#include "workloads/models/attention_kernels.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

void AttentionKernels::add_softmax(std::vector<Kernel>& kernels, std::int64_t scores) const {
  if (fuses_softmax()) return kernels.push_back(elementwise(2 * shape_.element * scores));
  for (const std::int64_t bytes : {shape_.element + 4, Bytes{8}, Bytes{5}, Bytes{8}, 4 + shape_.element})
    kernels.push_back(elementwise(bytes * scores));
}

void AttentionKernels::add_softmax_backward(std::vector<Kernel>& kernels, std::int64_t scores) const {
  if (fuses_softmax()) return kernels.push_back(elementwise(3 * shape_.element * scores));
  for (const std::int64_t bytes : {shape_.element + 4, Bytes{12}, Bytes{9}, Bytes{8}, 4 + shape_.element})
    kernels.push_back(elementwise(bytes * scores));
}

/// A causal mask lets the fused kernel skip half of the products (Dao 2023, section 3.1), packed samples
/// leave blocks on the diagonal. In a window of w each row has w columns: those of its own block of w and of
/// the one before. The first w rows of s see fewer behind a causal mask: w - w^2 / 2s in the mean.
Kernel AttentionKernels::fused() const {
  const auto& s = shape_;
  const std::int64_t rows = plan_.micro_batch_size * s.heads * span_.queries;
  const std::int64_t sample = model_.packed_sample_length > 0 ? model_.packed_sample_length : span_.keys;
  const bool windowed = span_.windowed && model_.window < sample;
  const std::int64_t columns = windowed ? model_.window : sample;
  const std::int64_t block = columns < span_.keys ? columns : span_.queries;
  const std::int64_t asked = query_width(model_, s.own_heads()) + output_width(model_, s.own_heads());
  const std::int64_t moved = span_.queries * asked + span_.keys * key_value_width(model_, s.own_heads());
  const Bytes traffic = plan_.micro_batch_size * moved * s.element + biases();
  Kernel kernel{
      Kernel::Kind::attention, divide_up(rows, block), block, columns, model_.query_dim(), traffic, 0};
  kernel.causal = span_.causal && !windowed;
  const Int128 ranks_and_mask = Int128{plan_.context_parallel} * (kernel.causal ? 2 : 1);
  const Int128 scores = Int128{rows} * core_flops(model_, 1, columns);
  const bool fewer = windowed && span_.causal;
  kernel.flops =
      static_cast<Flops>((fewer ? scores * (2 * sample - columns) / (2 * sample) : scores) / ranks_and_mask);
  if (sample < span_.keys) kernel.more_columns = software_.packed_attention_columns;
  return kernel;
}

/// The i-th token of a sequence has i before and with it, and attends to the best of them.
SparseSpan AttentionKernels::sparse_span() const {
  const std::int64_t length = span_.queries;
  const std::int64_t most = std::min(model_.indexer.top_k, length);
  const std::int64_t chosen = most * (most + 1) / 2 + (length - most) * most;
  const std::int64_t samples = plan_.micro_batch_size;
  return {samples * length, samples * length * (length + 1) / 2, samples * chosen};
}

Bytes AttentionKernels::biases() const {
  return span_.biased ? shape_.heads * span_.queries * span_.keys * shape_.element : 0;
}

AttentionSpan span_of(const Model& model, const LayerContent& content) {
  return {model.seq_length, model.seq_length, model.causal && !content.encodes, content.windowed(),
          model.positions == Positions::relative};
}

std::vector<Kernel> AttentionKernels::forward() const {
  const auto& s = shape_;
  const std::int64_t batch = plan_.micro_batch_size * s.heads;
  if (is_sparse()) return sparse_kernels(model_, s.heads, sparse_span(), s.element);
  if (model_.attention == Attention::flash) return {fused()};
  const std::int64_t scores = batch * span_.queries * span_.keys;
  std::vector<Kernel> kernels{gemm(span_.queries, span_.keys, model_.query_dim(), batch)};
  if (span_.biased) kernels.push_back(elementwise(2 * scores * s.element + biases()));
  add_softmax(kernels, scores);
  if (model_.dropout) kernels.push_back(elementwise(scores * (2 * s.element + 1)));
  kernels.push_back(gemm(span_.queries, model_.value_dim(), span_.keys, batch));
  return kernels;
}

/// `ahead`: of the forward pass.
std::vector<Kernel> AttentionKernels::backward(const std::vector<Kernel>& ahead) const {
  const auto& s = shape_;
  const std::int64_t scores = plan_.micro_batch_size * s.heads * span_.queries * span_.keys;
  if (is_sparse()) return sparse_kernels_backward(model_, s.heads, sparse_span(), s.element);
  if (model_.attention == Attention::flash) {
    Kernel fused = ahead.front();  // five products in place of two: the scores are computed again
    fused.flops = fused.flops / 2 * 5;
    fused.bytes *= 2;
    fused.backward = true;
    return {fused};
  }
  const Kernel& score = ahead.front();
  const Kernel& context = ahead.back();
  std::vector<Kernel> kernels{input_gradient(context), weight_gradient(context)};
  if (model_.dropout) kernels.push_back(elementwise(scores * (2 * s.element + 1)));
  add_softmax_backward(kernels, scores);
  if (span_.biased) kernels.push_back(elementwise(scores * s.element + biases()));
  kernels.push_back(input_gradient(score));
  kernels.push_back(weight_gradient(score));
  return kernels;
}

}  // namespace orrery
