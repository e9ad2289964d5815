#include "workloads/models/encoder_decoder.hpp"

#include "workloads/models/attention_kernels.hpp"
#include "workloads/models/transformer.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kDistances = 32;  // buckets of relative positions

Heads heads_of(const Model& model) { return {model.heads, model.kv_heads}; }

/// Returns the weights of the products that make queries and outputs, and keys and values.
std::int64_t decoder_weights(const Model& m) {
  return m.hidden * (query_width(m, heads_of(m)) + output_width(m, heads_of(m)));
}

std::int64_t encoder_weights(const Model& m) { return m.hidden * key_value_width(m, heads_of(m)); }

}  // namespace

std::int64_t tokens_of(const Model& model, const LayerContent& content) {
  return content.encodes ? model.encoder_seq_length : model.seq_length;
}

TotalFlops cross_weight_flops(const Model& m) {
  return 2 * (TotalFlops{m.seq_length} * decoder_weights(m) +
              TotalFlops{m.encoder_seq_length} * encoder_weights(m));
}

TotalFlops cross_core_flops(const Model& m) {
  return TotalFlops{m.seq_length} * core_flops(m, m.heads, m.encoder_seq_length);
}

std::int64_t relative_positions(const Model& model, std::int64_t heads) {
  return model.positions == Positions::relative ? kDistances * heads : 0;
}

EncoderOutput::EncoderOutput(const Model& model, const Plan& plan, const TransformerShape& shape)
    : tokens(plan.micro_batch_size * model.encoder_seq_length),
      bytes(tokens * model.hidden * shape.element),
      cut(plan.sequence_parallel ? bytes / shape.tensor : bytes) {}

SubBlock cross_attention_sub_block(const Experiment& experiment, const TransformerShape& shape) {
  const Model& model = experiment.model;
  const Heads heads = shape.own_heads();
  const EncoderOutput encoded(model, experiment.plan, shape);
  const AttentionKernels kernels(experiment, shape, {model.seq_length, model.encoder_seq_length, false});
  SubBlock block = between_norms_and_residual(experiment.software, shape, model.post_norms);
  block.half = SubBlock::Half::attention;
  const auto add = [&](const Kernel& product) {
    block.first.push_back({product, false, model.qkv_biases ? shape.element * product.m * product.n : 0});
  };
  add(gemm(shape.tokens, query_width(model, heads), model.hidden));
  add(gemm(encoded.tokens, key_value_width(model, heads), model.hidden));
  block.core = all_as(KernelClass::attention, kernels.forward());
  block.core_backward = all_as(KernelClass::attention, kernels.backward(block.core));
  block.second = {gemm(shape.tokens, model.hidden, output_width(model, heads)), false,
                  model.biases ? shape.cut_residual() : 0};
  return block;
}

void add_cross_attention(const Experiment& experiment, const TransformerShape& shape, ActivationSum& sum) {
  using enum Module;
  constexpr auto kAttention = ActivationKind::attention;
  const Model& model = experiment.model;
  const Heads heads = shape.own_heads();
  const std::int64_t encoded = EncoderOutput(model, experiment.plan, shape).tokens;
  const std::int64_t made =
      shape.tokens * query_width(model, heads) + encoded * key_value_width(model, heads);
  sum.add(ActivationKind::residual, shape.cut_residual() + shape.dropout_mask());
  sum.add_product_input(ActivationKind::residual, shape.cut_residual(), {norm});
  sum.add(kAttention, made * shape.element, {attention});
  // Fused kernels need their output as it is, as in self-attention.
  const bool fused = model.attention == Attention::flash;
  const Bytes context = shape.tokens * output_width(model, heads) * shape.element;
  const bool casts = sum.narrows();
  if (fused)
    sum.add(kAttention, context, casts ? ModuleSet{attention, core_attention} : ModuleSet{attention});
  if (!fused || casts) sum.add_product_input(kAttention, context, {attention});
  const std::int64_t rows = shape.tokens * shape.heads;
  const Bytes a_score = model.dropout ? 2 * shape.element + 1 : shape.element;
  const Bytes core = fused ? rows * 4  // log-sum-exp
                           : rows * model.encoder_seq_length * a_score;
  sum.add(kAttention, core, {attention, core_attention});
}

void add_cross_for_weights(const Experiment& experiment, const TransformerShape& shape, ActivationSum& sum) {
  const Model& model = experiment.model;
  const Heads heads = shape.own_heads();
  const EncoderOutput encoded(model, experiment.plan, shape);
  const std::int64_t values = shape.tokens * (query_width(model, heads) + output_width(model, heads)) +
                              encoded.tokens * key_value_width(model, heads);
  sum.add_product_input(ActivationKind::for_weights,
                        shape.cut_residual() + shape.residual() + values * shape.element);
}

/// Writes cross-attention. With sequence parallelism the encoder's output is gathered for its product, and
/// again for the gradient of the weight; each layer adds its share of the gradient of that output.
std::int32_t Transformer::run_cross(StepBuilder& to, PassKind kind, const SubBlock& sub,
                                    std::int32_t after) const {
  const EncoderOutput encoded(model_, plan_, shape_);
  std::int32_t at = after;
  if (kind == PassKind::forward || completes_gradients(kind))
    at = gather_input(to, Part::attention, at, encoded.bytes);
  at = run(to, kind, Part::attention, SubBlocks(&sub, 1), at);
  if (kind == PassKind::forward || !hands_on(kind)) return at;
  at = reduce_output(to, Part::attention, at, encoded.bytes);
  return to.compute(Part::attention, {as(KernelClass::residual, elementwise(3 * encoded.cut))}, at);
}

/// All layers of a stage read the same.
void Transformer::hold_encoder_output(Block& block) const {
  const Bytes received = EncoderOutput(model_, plan_, shape_).cut;
  block.activations[ActivationKind::residual] += received;
  block.for_weights += received;
}

/// Returns the transformer for the tokens that the encoder receives.
const Transformer& Transformer::at_entrance() const { return of(model_.layer(0)); }

/// Returns the block between the encoder and the decoder: the norm of the encoder's output, which is kept for
/// all products that read it, and the embedding of the decoder's tokens.
Block Transformer::bridge() const {
  const EncoderOutput encoded(model_, plan_, shape_);
  Block block;
  block.activations[ActivationKind::residual] = 2 * encoded.cut + at_entrance().shape_.dropout_mask();
  block.activations[ActivationKind::vocabulary] = shape_.dropout_mask();
  block.for_weights = shape_.cut_residual() + encoded.cut;
  block.parameters = shape_.final_norm_parameters() + relative_positions(model_, shape_.heads);
  block.tensors = shape_.final_norm_tensors() + (model_.positions == Positions::relative ? 1 : 0);
  return block;
}

void Transformer::write_bridge(Block& block, Workload& workload) const {
  const EncoderOutput encoded(model_, plan_, shape_);
  StepBuilder to(experiment_, workload, Phase::forward);
  const std::int32_t normed =
      to.compute(Part::embedding, {as(KernelClass::norm, elementwise(2 * encoded.cut))}, kBlockInput);
  block.of(PassKind::forward) = std::move(to).finish(normed);
  append(block.of(PassKind::forward), look_up(workload));
  for (const PassKind kind : backward_kinds(splits_backward(plan_))) {
    StepBuilder back(experiment_, workload, phase_of(kind));
    std::int32_t at = kBlockInput;
    if (hands_on(kind))
      at = back.compute(Part::embedding, {as(KernelClass::norm, elementwise(3 * encoded.cut))}, at);
    block.of(kind) = std::move(back).finish(at);
    append(block.of(kind), embedding_backward(kind, workload));
  }
}

}  // namespace orrery
