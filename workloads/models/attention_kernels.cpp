#include "workloads/models/attention_kernels.hpp"

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
/// the one before.
Kernel AttentionKernels::fused() const {
  const auto& s = shape_;
  const std::int64_t rows = plan_.micro_batch_size * s.heads * model_.seq_length;
  const std::int64_t sample = windowed_ ? model_.window : model_.attended_length();
  const std::int64_t moved = query_width(model_, s.own_heads()) + key_value_width(model_, s.own_heads()) +
                             output_width(model_, s.own_heads());
  const Bytes traffic = plan_.micro_batch_size * model_.seq_length * moved * s.element;
  Kernel kernel{
      Kernel::Kind::attention, divide_up(rows, sample), sample, sample, model_.query_dim(), traffic, 0};
  kernel.flops = rows * core_flops(model_, 1, sample) / (windowed_ ? 1 : 2);
  kernel.causal = !windowed_;
  if (sample < model_.seq_length) kernel.more_columns = software_.packed_attention_columns;
  return kernel;
}

std::vector<Kernel> AttentionKernels::forward() const {
  const auto& s = shape_;
  const std::int64_t batch = plan_.micro_batch_size * s.heads;
  const std::int64_t n = model_.seq_length;
  if (model_.attention == Attention::flash) return {fused()};
  const Bytes scores = batch * n * n * s.element;
  std::vector<Kernel> kernels{gemm(n, n, model_.query_dim(), batch)};
  add_softmax(kernels, batch * n * n);
  if (model_.dropout) kernels.push_back(elementwise(2 * scores + batch * n * n));
  kernels.push_back(gemm(n, model_.value_dim(), n, batch));
  return kernels;
}

/// `ahead`: of the forward pass.
std::vector<Kernel> AttentionKernels::backward(const std::vector<Kernel>& ahead) const {
  const auto& s = shape_;
  const std::int64_t batch = plan_.micro_batch_size * s.heads;
  const std::int64_t n = model_.seq_length;
  if (model_.attention == Attention::flash) {
    Kernel fused = ahead.front();  // five products in place of two: the scores are computed again
    fused.flops = fused.flops / 2 * 5;
    fused.bytes *= 2;
    fused.backward = true;
    return {fused};
  }
  const Bytes scores = batch * n * n * s.element;
  const Kernel& score = ahead.front();
  const Kernel& context = ahead.back();
  std::vector<Kernel> kernels{input_gradient(context), weight_gradient(context)};
  if (model_.dropout) kernels.push_back(elementwise(2 * scores + batch * n * n));
  add_softmax_backward(kernels, batch * n * n);
  kernels.push_back(input_gradient(score));
  kernels.push_back(weight_gradient(score));
  return kernels;
}

}  // namespace orrery
