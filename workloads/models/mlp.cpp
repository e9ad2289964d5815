// A plain chain of matrices, y = W_n ... W_2 W_1 x, whose matrices are cut over the tensor ranks along
// their output (column) or their input (row). What a vector looks like between two matrices decides
// the communication: whole on every rank, cut into slices, or partial sums that must be added up.
//
//   needed \ found   whole        slices           partial sums
//   whole            nothing      all-gather       all-reduce
//   slices           nothing      nothing          reduce-scatter
//
// A column cut needs the whole input and yields slices; a row cut needs slices and yields partial
// sums; the result is wanted whole. The backward pass moves gradients the other way: each
// all-gather becomes a reduce-scatter and the reverse, an all-reduce forward costs nothing backward,
// and the gradient of a whole vector that entered a column cut is a partial sum (Megatron's f and g).
#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

enum class State : std::uint8_t { whole, slices, partial };

class Chain {
 public:
  explicit Chain(const Experiment& experiment)
      : model_(experiment.model),
        plan_(experiment.plan),
        experiment_(experiment),
        tokens_(plan_.micro_batch_size * model_.seq_length),
        element_(element_bytes(plan_.precision)) {}

  [[nodiscard]] ModelBlocks describe() const;
  [[nodiscard]] Steps forward(std::size_t i, Workload& workload) const;
  [[nodiscard]] Steps backward(std::size_t i, PassKind kind, Workload& workload) const;

 private:
  [[nodiscard]] bool cut() const { return plan_.tensor_parallel > 1; }
  [[nodiscard]] std::size_t matrices() const { return model_.widths.size() - 1; }
  /// Columns and rows in turn, as in a transformer's MLP, unless the plan says otherwise.
  [[nodiscard]] bool by_column(std::size_t i) const {
    return plan_.tensor_partition.empty() ? i % 2 == 0 : plan_.tensor_partition[i] == MatrixPartition::column;
  }
  [[nodiscard]] State needs(std::size_t i) const { return by_column(i) ? State::whole : State::slices; }
  [[nodiscard]] State yields(std::size_t i) const { return by_column(i) ? State::slices : State::partial; }
  [[nodiscard]] State wanted_after(std::size_t i) const {
    return i + 1 < matrices() ? needs(i + 1) : State::whole;
  }
  [[nodiscard]] Bytes vector_bytes(std::size_t at) const { return tokens_ * model_.widths[at] * element_; }
  [[nodiscard]] Kernel product(std::size_t i) const;

  std::int32_t convert(StepBuilder& to, State from, State into, Bytes bytes, std::int32_t after) const;
  [[nodiscard]] Block block(std::size_t i) const;
  [[nodiscard]] Boundary boundary_after(std::size_t i) const;
  [[nodiscard]] TotalFlops model_flops() const;

  const Model& model_;
  const Plan& plan_;
  const Experiment& experiment_;
  std::int64_t tokens_;
  Bytes element_;
};

Kernel Chain::product(std::size_t i) const {
  const std::int64_t in = model_.widths[i];
  const std::int64_t out = model_.widths[i + 1];
  if (!cut()) return gemm(tokens_, out, in);
  return by_column(i) ? gemm(tokens_, divide_up(out, plan_.tensor_parallel), in)
                      : gemm(tokens_, out, divide_up(in, plan_.tensor_parallel));
}

std::int32_t Chain::convert(StepBuilder& to, State from, State into, Bytes bytes, std::int32_t after) const {
  if (!cut() || from == into || from == State::whole) return after;
  const auto how = from == State::slices  ? Collective::all_gather
                   : into == State::whole ? Collective::all_reduce
                                          : Collective::reduce_scatter;
  return to.collective(Part::layer, how, bytes, after);
}

Steps Chain::forward(std::size_t i, Workload& workload) const {
  StepBuilder to(experiment_, workload, Phase::forward);
  const std::int32_t out = to.compute(Part::layer, {product(i)}, kBlockInput);
  return std::move(to).finish(convert(to, yields(i), wanted_after(i), vector_bytes(i + 1), out));
}

/// The gradient of a matrix is computed from that of its output, which stays whole where it was made so for
/// the gradient of the input. The first matrix has the gradient of the matrix only.
Steps Chain::backward(std::size_t i, PassKind kind, Workload& workload) const {
  StepBuilder to(experiment_, workload, phase_of(kind));
  if (kind == PassKind::backward_input && i == 0) return std::move(to).finish(kBlockInput);
  // The gradient arrives as the output left: whole where the output was made whole.
  const State arrives = wanted_after(i);
  const State needed = by_column(i) ? State::slices : State::whole;
  std::int32_t ready = kBlockInput;
  const bool first = kind != PassKind::backward_weight || i == 0;
  if (first && arrives == State::slices && needed == State::whole)
    ready = convert(to, State::slices, State::whole, vector_bytes(i + 1), ready);
  const Kernel ahead = product(i);
  std::vector<Kernel> kernels;
  if (hands_on(kind) && i > 0) kernels.push_back(input_gradient(ahead));  // the input data needs no gradient
  if (completes_gradients(kind)) kernels.push_back(weight_gradient(ahead));
  std::int32_t out = to.compute(Part::layer, std::move(kernels), ready);
  // Gradient of the input: a partial sum after a column cut, slices after a row cut.
  if (hands_on(kind) && i > 0 && by_column(i)) {
    const State before = yields(i - 1) == State::slices ? State::slices : State::whole;
    out = convert(to, State::partial, before, vector_bytes(i), out);
  }
  return std::move(to).finish(out);
}

Block Chain::block(std::size_t i) const {
  Block block;
  const std::int64_t ranks = plan_.tensor_parallel;
  const std::int64_t in = model_.widths[i];
  block.parameters = by_column(i) ? in * divide_up(model_.widths[i + 1], ranks)
                                  : divide_up(in, ranks) * model_.widths[i + 1];
  block.tensors = 1;
  const bool sliced = cut() && !by_column(i);
  const Bytes input = tokens_ * (sliced ? divide_up(in, ranks) : in) * element_;
  const std::int64_t out = model_.widths[i + 1];  // its gradient is in slices after a column cut
  block.activations[ActivationKind::mlp] = input;
  block.for_weights = input + tokens_ * (by_column(i) ? divide_up(out, ranks) : out) * element_;
  return block;
}

/// A gradient crosses as the next matrix leaves it: whole only where partial sums had been made whole.
Boundary Chain::boundary_after(std::size_t i) const {
  const bool summed = yields(i) == State::partial && wanted_after(i) == State::whole;
  return {vector_bytes(i + 1), cut() && wanted_after(i) == State::slices, cut() && !summed};
}

/// Every matrix is multiplied forward and for both gradients; the first needs none of its input.
TotalFlops Chain::model_flops() const {
  const std::int64_t tokens = plan_.global_batch_size * model_.seq_length;
  TotalFlops sum = 0;
  for (std::size_t i = 0; i < matrices(); ++i) {
    sum += TotalFlops{2} * tokens * model_.widths[i] * model_.widths[i + 1] * (i == 0 ? 2 : 3);
  }
  return sum;
}

ModelBlocks Chain::describe() const {
  ModelBlocks blocks;
  blocks.boundaries.push_back({vector_bytes(0), false, false});
  for (std::size_t i = 0; i < matrices(); ++i) {
    blocks.kinds.push_back(block(i));
    blocks.layers.push_back(static_cast<std::uint32_t>(i));
    blocks.boundaries.push_back(boundary_after(i));
  }
  blocks.model_flops = model_flops();
  return blocks;
}

}  // namespace

std::int64_t mlp_parameters(const Model& model) {
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < model.widths.size(); ++i) sum += model.widths[i - 1] * model.widths[i];
  return sum;
}

ModelBlocks describe_mlp(const Experiment& experiment) { return Chain(experiment).describe(); }

void write_mlp_steps(const Experiment& experiment, ModelBlocks& blocks, Workload& workload) {
  const Chain chain(experiment);
  const auto matrices =
      static_cast<std::size_t>(experiment.model.layers);  // offloaded ones are kinds behind them
  for (std::size_t i = 0; i < matrices; ++i) {
    blocks.kinds[i].of(PassKind::forward) = chain.forward(i, workload);
    for (const PassKind kind : backward_kinds(splits_backward(experiment.plan)))
      blocks.kinds[i].of(kind) = chain.backward(i, kind, workload);
  }
}

}  // namespace orrery
