#include "workloads/models/expert_layer.hpp"

#include <cmath>
#include <utility>

#include "workloads/communicators/expert_load.hpp"
#include "workloads/models/weight_products.hpp"

namespace orrery {
namespace {

/// Share of the pace of NICs that NCCL's all-to-alls reach among several ranks of each of several nodes: 40
/// of the 48 GB/s of other collectives by a NIC of 400 Gb/s. A message goes over NVLink to the GPU on the
/// rail of its receiver and from there, in chunks, beside those for all other ranks (PXN); rings have one
/// connection.
constexpr double kAllToAllShare = 40.0 / 48;

}  // namespace

ExpertLayer::ExpertLayer(const Experiment& experiment, const TransformerShape& shape, SharedExperts shared)
    : model_(experiment.model),
      plan_(experiment.plan),
      software_(experiment.software),
      shape_(shape),
      experts_(model_, plan_, shape),
      shared_(std::move(shared)),
      ranks_in_node_(expert_ranks_in_node(experiment)),
      cast_once_(weights_cast_once(experiment)) {}

std::int32_t ExpertLayer::run(StepBuilder& to, PassKind kind, std::int32_t after) const {
  if (kind == PassKind::forward) return forward(to, after);
  return kind == PassKind::backward_weight ? backward_weight(to, after) : backward(to, kind, after);
}

std::int32_t ExpertLayer::run_again(StepBuilder& to, ModuleSet modules, std::int32_t after) const {
  if (modules.has(Module::experts)) return forward(to, after);
  std::vector<Kernel> kernels;
  if (modules.has(Module::norm))
    kernels.push_back(as(KernelClass::norm, elementwise(2 * shape_.cut_residual())));
  if (modules.has(Module::activation)) {
    add_clamps(kernels);
    kernels.push_back(activation(products()));
    if (experts_.shared_ffn > 0)
      kernels.push_back(activation(mlp_products(model_, shape_.tokens, experts_.shared_ffn)));
  }
  return kernels.empty() ? after : to.compute(Part::experts, std::move(kernels), after);
}

/// Top-k, masks, counts and the like, which move next to nothing.
std::vector<Kernel> ExpertLayer::routing(std::int64_t small) const {
  return std::vector<Kernel>(static_cast<std::size_t>(small), as(KernelClass::routing, memory(0)));
}

MlpProducts ExpertLayer::products() const {
  MlpProducts mlp =
      expert_products(model_, experts_.rows, experts_.rows_per_expert(), experts_.ffn, experts_.experts);
  mlp.first.right_ready = mlp.second.right_ready = cast_once_;
  if (!fuses_mlp()) return mlp;
  mlp.first.at_once = mlp.second.at_once = true;
  mlp.second.left_ready = true;  // cast by the first product, whose result it is
  return mlp;
}

/// Writes the MLP of all experts. Fused, the first product also computes the activation from what it has in
/// registers, and writes it in the precision of the second, as it is and transposed for the gradient.
void ExpertLayer::add_mlp(std::vector<Kernel>& kernels) const {
  MlpProducts mlp = products();
  if (fuses_mlp()) mlp.first.bytes += both_layouts(experts_.rows * experts_.ffn);
  kernels.push_back(mlp.first);
  add_clamps(kernels);
  if (!fuses_mlp()) kernels.push_back(activation(mlp));
  kernels.push_back(mlp.second);
}

/// Writes its gradient but for that of the weights. Fused, the product that would write the gradient of the
/// activation reads what went into it and writes the gradient of that.
void ExpertLayer::add_mlp_gradient(std::vector<Kernel>& kernels) const {
  const MlpProducts mlp = products();
  Kernel of_activation = input_gradient(mlp.second);
  Kernel of_input = input_gradient(mlp.first);
  if (fuses_mlp()) {
    const std::int64_t inputs = mlp_inputs(model_) * experts_.rows * experts_.ffn;
    of_activation.bytes +=
        inputs * shape_.element + both_layouts(inputs) - experts_.rows * experts_.ffn * shape_.element;
    of_input.left_ready = true;
  }
  kernels.push_back(of_activation);
  if (!fuses_mlp())
    kernels.push_back(as(KernelClass::activation, elementwise(mlp.gradient * shape_.element)));
  add_clamp_gradients(kernels);
  kernels.push_back(of_input);
}

/// Megatron-Core bounds what goes into the activation before its fused kernel (fused_bias_geglu.py,
/// weighted_bias_quick_geglu_impl): a clamp of each half, and a copy that joins them.
void ExpertLayer::add_clamps(std::vector<Kernel>& kernels) const {
  if (!clamps()) return;
  for (const Bytes bytes : {2, 2, 4})
    kernels.push_back(as(KernelClass::activation, memory(bytes * activation_inputs())));
}

/// PyTorch's gradient of a clamp compares with each bound (3 bytes a value), joins the results (3) where
/// there are two, and takes the gradient or zero (5). The gated half has one bound and the other half two; a
/// copy (4) joins them.
void ExpertLayer::add_clamp_gradients(std::vector<Kernel>& kernels) const {
  if (!clamps()) return;
  for (const Bytes of_half : {3, 5, 3, 3, 3, 5})
    kernels.push_back(as(KernelClass::activation, memory(of_half * activation_inputs() / 2)));
  kernels.push_back(as(KernelClass::activation, memory(4 * activation_inputs())));
}

/// Bytes of values in the precision of the products, as they are and transposed.
Bytes ExpertLayer::both_layouts(std::int64_t values) const {
  return static_cast<Bytes>(2 * value_bytes(plan_.precision) * static_cast<double>(values));
}

/// Rows that come rank by rank are put in the order of the experts.
std::vector<Kernel> ExpertLayer::sort_rows() const {
  if (!sorts_rows()) return {};
  return {as(KernelClass::permutation, elementwise(2 * experts_.rows * experts_.row))};
}

/// Returns the host time to issue the slices of rows and of their probabilities, there and back: one slice
/// for each expert and rank. If each expert takes a given number of rows, the slices are the axes of one
/// array and cost nothing.
Picoseconds ExpertLayer::slicing_time() const {
  const bool even = plan_.capacity_factor > 0 || plan_.cuda_graphs == CudaGraphs::step;
  if (!sorts_rows() || even) return 0;
  return from_microseconds(software_.row_slice_issue_us) * (4 * model_.experts);
}

Bytes ExpertLayer::copies(double per_token) const { return experts_.copies(per_token) * experts_.row; }

Bytes ExpertLayer::between_nodes() const {
  if (plan_.dispatcher == Dispatcher::hierarchical) return experts_.sent * experts_.row;
  return copies(holders_per_token(model_, plan_.expert_parallel / ranks_in_node_));
}

Bytes ExpertLayer::inside_node() const {
  if (plan_.dispatcher == Dispatcher::hierarchical) return experts_.sent * experts_.row;
  return copies(holders_per_token(model_, plan_.expert_parallel));
}

std::int32_t ExpertLayer::exchange(StepBuilder& to, Bytes bytes, Slot communicator, StepBuilder::Wire wire,
                                   std::int32_t after) const {
  std::int64_t ranks = plan_.expert_parallel;
  if (communicator == Slot::expert_peers) ranks /= ranks_in_node_;
  if (communicator == Slot::expert_node) ranks = ranks_in_node_;
  if (ranks == 1) return after;
  const bool nodes = communicator == Slot::expert && ranks_in_node_ > 1 && ranks > ranks_in_node_;
  return to.collective(Part::experts, Collective::all_to_all, bytes, after, communicator, wire,
                       nodes ? kAllToAllShare : 1);
}

/// Ranks that share the matrices of an expert work on the rows of all of them.
std::int32_t ExpertLayer::share_rows(StepBuilder& to, Collective collective, StepBuilder::Wire wire,
                                     std::int32_t after) const {
  if (plan_.expert_tensor_parallel == 1) return after;
  return to.collective(Part::experts, collective, experts_.rows * experts_.row, after, Slot::expert_tensor,
                       wire);
}

/// Writes the wait for the router. The host must know how many rows each expert receives before it can send
/// them and issue their products.
std::int32_t ExpertLayer::wait_for_router(StepBuilder& to, std::int32_t after) const {
  const bool known = plan_.capacity_factor > 0 || plan_.cuda_graphs == CudaGraphs::step;
  return software_.dispatch_waits_for_host && !known ? to.wait_on_host(Part::experts, after) : after;
}

/// Tokens that have come over the first hop go on over the second while others are on the first: the last
/// chunk of the second follows all of the first.
std::int32_t ExpertLayer::in_chunks(StepBuilder& to, const Hop& first, const Hop& second,
                                    StepBuilder::Wire wire, std::int32_t after) const {
  constexpr Bytes kChunks = 16;
  if (plan_.dispatcher == Dispatcher::hierarchical) {
    const std::int32_t there = exchange(to, first.bytes, first.communicator, wire, after);
    return exchange(to, second.bytes, second.communicator, wire, there);
  }
  const Bytes last = divide_up(second.bytes, kChunks);
  exchange(to, second.bytes - last, second.communicator, wire, after);
  const std::int32_t there = exchange(to, first.bytes, first.communicator, wire, after);
  return exchange(to, last, second.communicator, wire, there);
}

std::int32_t ExpertLayer::dispatch(StepBuilder& to, std::int32_t after) const {
  constexpr StepBuilder::Wire kWire = &WirePrecision::dispatch;
  const std::int32_t at = plan_.dispatcher == Dispatcher::all_to_all
                              ? exchange(to, experts_.sent * experts_.row, Slot::expert, kWire, after)
                              : in_chunks(to, {Slot::expert_peers, between_nodes()},
                                          {Slot::expert_node, inside_node()}, kWire, after);
  return share_rows(to, Collective::all_gather, kWire, at);
}

std::int32_t ExpertLayer::combine(StepBuilder& to, std::int32_t after) const {
  constexpr StepBuilder::Wire kWire = &WirePrecision::combine;
  const std::int32_t at = share_rows(to, Collective::reduce_scatter, kWire, after);
  if (plan_.dispatcher == Dispatcher::all_to_all)
    return exchange(to, experts_.sent * experts_.row, Slot::expert, kWire, at);
  return in_chunks(to, {Slot::expert_node, inside_node()}, {Slot::expert_peers, between_nodes()}, kWire, at);
}

/// Without sequence parallelism all ranks of a tensor group have all tokens. Each routes its part of them
/// (Singh et al. 2023, "duplicate token dropping") and gets the others' results.
std::int32_t ExpertLayer::gather_tokens(StepBuilder& to, std::int32_t after) const {
  if (shape_.tensor == 1 || plan_.sequence_parallel) return after;
  return to.collective(Part::experts, Collective::all_gather, shape_.residual(), after);
}

std::int32_t ExpertLayer::run_shared(StepBuilder& to, PassKind kind, MlpPart part, std::int32_t after) const {
  return shared_ ? shared_(to, kind, part, after) : after;
}

/// Shared experts run before tokens leave, or their first product does while they travel.
ExpertLayer::Sent ExpertLayer::send(StepBuilder& to, PassKind kind, std::int32_t after) const {
  if (!overlaps_shared()) {
    const std::int32_t shared = run_shared(to, kind, MlpPart::all, after);
    return {dispatch(to, shared), shared};
  }
  const std::int32_t there = dispatch(to, after);
  return {there, run_shared(to, kind, MlpPart::first_run, after)};
}

/// Finishes tokens that have returned. The `last` kernel needs the output of shared experts, whose second
/// product may run while tokens return.
std::int32_t ExpertLayer::finish(StepBuilder& to, PassKind kind, const Sent& sent, std::int32_t back,
                                 std::vector<Kernel> kernels, Kernel last) const {
  if (!overlaps_shared()) {
    kernels.push_back(last);
    return gather_tokens(to, to.compute(Part::experts, std::move(kernels), back));
  }
  const std::int32_t shared = run_shared(to, kind, MlpPart::last_run, sent.shared);
  to.compute(Part::experts, std::move(kernels), back);
  return gather_tokens(to, to.compute(Part::experts, {last}, shared));
}

std::int32_t ExpertLayer::forward(StepBuilder& to, std::int32_t after) const {
  const Bytes own = experts_.tokens * experts_.row;
  const Bytes sent = experts_.sent * experts_.row;
  std::vector<Kernel> choosing = routing(software_.routing_kernels);
  for (const Kernel& kernel :
       {as(KernelClass::norm, elementwise(2 * shape_.cut_residual())),
        router_product(model_, experts_.tokens), router_choice(model_, experts_.tokens),
        as(KernelClass::permutation, elementwise(own + sent))})
    choosing.push_back(kernel);
  const std::int32_t routed = to.compute(Part::experts, std::move(choosing), after);
  const Sent tokens = send(to, PassKind::forward, wait_for_router(to, routed));
  std::vector<Kernel> kernels = sort_rows();
  const std::vector<Kernel> sorted_back = kernels;
  add_mlp(kernels);
  add_biases(kernels);
  kernels.insert(kernels.end(), sorted_back.begin(), sorted_back.end());
  const std::int32_t back =
      combine(to, to.compute(Part::experts, std::move(kernels), tokens.there, slicing_time()));
  // This adds the copies by weight, then the output of shared experts and the residual.
  return finish(to, PassKind::forward, tokens, back, {as(KernelClass::permutation, elementwise(sent + own))},
                as(KernelClass::residual, elementwise((model_.post_norms ? 5 : 3) * own)));
}

/// Megatron-Core (megatron/core/transformer/moe/experts.py, TEGroupedMLP._apply_bias) adds to the rows of
/// each expert its bias times their probabilities, which are of 32 bits: a product (4 bytes written a value)
/// and a sum (6 read, 4 written) for each expert, then all are joined (8) and cast (6).
void ExpertLayer::add_biases(std::vector<Kernel>& kernels) const {
  if (!model_.biases || !software_.expert_bias_kernels) return;
  for (const Bytes bytes : {4, 10}) add_for_each_expert(bytes, kernels);
  for (const Bytes bytes : {8, 6}) kernels.push_back(as(KernelClass::biases, memory(bytes * values())));
}

/// Its gradients: cast to 32 bits (6), for each expert cast back (6), times the probabilities (8) and added
/// up over rows (4), times the bias (8) and added up over columns (4), and joined (4).
void ExpertLayer::add_bias_gradients(std::vector<Kernel>& kernels) const {
  if (!model_.biases || !software_.expert_bias_kernels) return;
  kernels.push_back(as(KernelClass::biases, memory(6 * values())));
  for (const Bytes bytes : {6, 8, 4, 8, 4}) add_for_each_expert(bytes, kernels);
  kernels.push_back(as(KernelClass::biases, memory(4 * values())));
}

void ExpertLayer::add_for_each_expert(Bytes bytes, std::vector<Kernel>& kernels) const {
  const Kernel one = as(KernelClass::biases, memory(bytes * experts_.rows_per_expert() * model_.hidden));
  kernels.insert(kernels.end(), static_cast<std::size_t>(experts_.experts), one);
}

void ExpertLayer::add_weight_gradients(std::vector<Kernel>& kernels) const {
  const double sums = software_.fused_sum_bytes();
  const MlpProducts mlp = products();
  kernels.push_back(weight_gradient(mlp.second, sums));
  kernels.push_back(weight_gradient(mlp.first, sums));
  kernels.back().right_ready = fuses_mlp();  // cast by the product whose result it is
  if (model_.biases && software_.bias_gradient_kernels) {
    if (!software_.expert_bias_kernels)
      kernels.push_back(as(KernelClass::biases, memory(values() * shape_.element)));
    kernels.push_back(
        as(KernelClass::biases, memory(mlp_inputs(model_) * experts_.rows * experts_.ffn * shape_.element)));
  }
  if (software_.accumulation_bytes_per_parameter > 0 && !software_.fuses_accumulation)
    kernels.push_back(as(KernelClass::accumulation,
                         scaled(experts_.expert_parameters(), software_.accumulation_bytes_per_parameter)));
}

/// Gradients of rows go the way of the rows back: to the experts as combined, home as dispatched.
std::int32_t ExpertLayer::backward(StepBuilder& to, PassKind kind, std::int32_t after) const {
  const Bytes own = experts_.tokens * experts_.row;
  const Bytes sent = experts_.sent * experts_.row;
  const std::int32_t spread = to.compute(
      Part::experts,
      {as(KernelClass::permutation, elementwise((model_.post_norms ? 4 : 1) * own + 2 * sent))}, after);
  const Sent tokens = send(to, kind, spread);
  std::vector<Kernel> kernels = sort_rows();
  const std::vector<Kernel> sorted_back = kernels;
  add_bias_gradients(kernels);
  add_mlp_gradient(kernels);
  kernels.insert(kernels.end(), sorted_back.begin(), sorted_back.end());
  if (kind == PassKind::backward) add_weight_gradients(kernels);
  const std::int32_t back =
      combine(to, to.compute(Part::experts, std::move(kernels), tokens.there, slicing_time()));
  kernels = routing(software_.routing_kernels / 2);
  const Kernel router = router_product(model_, experts_.tokens);
  for (const Kernel& kernel : {as(KernelClass::permutation, elementwise(sent + own)),
                               router_choice(model_, experts_.tokens), input_gradient(router)})
    kernels.push_back(kernel);
  if (kind == PassKind::backward) kernels.push_back(weight_gradient(router));
  return finish(to, kind, tokens, back, std::move(kernels), as(KernelClass::norm, elementwise(3 * own)));
}

std::int32_t ExpertLayer::backward_weight(StepBuilder& to, std::int32_t after) const {
  const std::int32_t shared = run_shared(to, PassKind::backward_weight, MlpPart::all, after);
  std::vector<Kernel> kernels;
  add_weight_gradients(kernels);
  kernels.push_back(weight_gradient(router_product(model_, experts_.tokens)));
  return to.compute(Part::experts, std::move(kernels), shared);
}

}  // namespace orrery
