#include "workloads/inference/iteration_steps.hpp"

#include <algorithm>
#include <cmath>

#include "orrery/error.hpp"
#include "workloads/communicators/communicators.hpp"
#include "workloads/communicators/expert_load.hpp"
#include "workloads/models/layer_products.hpp"
#include "workloads/models/recurrence.hpp"
#include "workloads/models/sparse_attention.hpp"

namespace orrery {
namespace {

/// Half a block of 128 columns: of the block on the diagonal a causal mask leaves half, but the kernel
/// computes it whole.
constexpr double kDiagonalColumns = 64;

/// Logits are made in 16 bits, widened to 32, and read again where a token is chosen.
constexpr double kBytesPerLogit = 2 + 4 + 4;

/// Returns the FLOPs of `pairs` pairs of tokens. @throws InputError if they cannot be counted
std::int64_t flops_of_pairs(std::int64_t pairs, std::int64_t each) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(pairs, each, &product))
    throw InputError("/inference",
                     "found an attention of more than 2^63 FLOPs in an iteration, allowed fewer: "
                     "shorter prompts, or pieces of them (chunked_prefill)");
  return product;
}

void add_all(std::vector<Kernel>& to, const std::vector<Kernel>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void IterationWriter::add(Step step, bool beside) {
  step.phase = Phase::forward;
  step.after = beside ? list_.back().after : static_cast<std::int32_t>(list_.size()) - 1;
  list_.push_back(step);
}

/// Products of experts are one kernel, or one for each expert.
void IterationWriter::compute(Part part, std::vector<Kernel> kernels) {
  std::int64_t launches = 0;
  for (const Kernel& kernel : kernels) launches += software_.experts_in_turn ? kernel.launches() : 1;
  const Picoseconds host = graphs_ ? 0 : from_microseconds(software_.forward_issue_us) * launches;
  Step step;
  step.part = part;
  step.work = add_work(workload_, std::move(kernels), host);
  add(step);
}

void IterationWriter::collective(Part part, Collective collective, Bytes bytes, Slot communicator,
                                 bool beside) {
  const Dimension dimension = communicator_kind(communicator).dimension;
  const Picoseconds host = graphs_ ? 0 : from_microseconds(software_.collective_issue_us);
  const auto others = static_cast<double>(plan_.tensor_parallel - 1);
  const Picoseconds wait =
      communicator == Slot::tensor ? from_microseconds(software_.tensor_wait_us * others) : 0;
  Step step;
  step.kind = Op::Kind::communicate;
  step.part = part;
  step.communicator = communicator;
  step.work = add_message(workload_, {collective, bytes, dimension, host, 1, wait});
  add(step, beside);
}

IterationSteps::IterationSteps(const Experiment& experiment, const Inference& inference)
    : experiment_(experiment),
      inference_(inference),
      model_(experiment),
      ranks_in_node_(experiment.plan.dispatcher == Dispatcher::all_to_all ? 0
                                                                          : expert_ranks_in_node(experiment)),
      element_(element_bytes(experiment.plan.precision)),
      stored_(stored_width(inference, experiment.plan.precision)),
      cached_(cached_width(inference)) {}

/// A product with a matrix of a layer.
Kernel IterationSteps::weighted(Kernel product) const {
  product.weight_bytes = stored_;
  return product;
}

/// With a matrix that keeps 16 bits, as the router and the head do.
Kernel IterationSteps::wide(Kernel product) const {
  product.weight_bytes = static_cast<double>(element_);
  product.in_16_bits = true;
  return product;
}

/// Sums the results of the ranks of a tensor group.
void IterationSteps::reduce(Part part, Bytes bytes, IterationWriter& to) const {
  if (experiment_.plan.tensor_parallel > 1) to.collective(part, Collective::all_reduce, bytes, Slot::tensor);
}

void IterationSteps::write_embedding(std::int64_t tokens, IterationWriter& to) const {
  const Bytes residual = own_tokens(tokens) * row();
  const Bytes positions = experiment_.model.positions == Positions::learned ? residual : 0;
  to.compute(Part::embedding, {memory(2 * residual + positions)});
  reduce(Part::embedding, residual, to);
}

/// Adds and normalises the residual in one kernel; the kernel that rotates queries and keys to their
/// positions writes a token's keys and values to the KV cache.
void IterationSteps::write_inputs(std::size_t kind, std::int64_t tokens, IterationWriter& to) const {
  const ServedLayer& layer = model_.kinds()[kind];
  if (!layer.content().mixes()) return;
  const Model& model = layer.model();
  const TransformerShape shape = layer.shape(own_tokens(tokens));
  std::vector<Kernel> kernels{elementwise(4 * shape.residual())};
  if (layer.content().recurs()) {
    kernels.push_back(weighted(gemm(shape.tokens, layer.recurrence().input_width, model.hidden)));
    return to.compute(Part::recurrence, std::move(kernels));
  }
  std::vector<Kernel> products = attention_inputs(model, layer.heads(), shape.tokens);
  if (model.latent()) products.pop_back();  // that of keys and values, which prompts alone need
  for (const Kernel& product : products) kernels.push_back(weighted(product));
  for (const Kernel& product : indexer_inputs(model, shape.tokens)) kernels.push_back(weighted(product));
  const std::int64_t normalised = normalised_width(model, layer.heads());
  if (normalised > 0) kernels.push_back(elementwise(2 * shape.tokens * normalised * element_));
  const std::int64_t turned = query_width(model, layer.heads()) + layer.cached_values();
  kernels.push_back(scaled(shape.tokens * turned, 2 * static_cast<double>(element_)));
  to.compute(Part::attention, std::move(kernels));
}

IterationSteps::Attended IterationSteps::of_prompts(const ServedLayer& layer,
                                                    const IterationBatch& batch) const {
  const std::int64_t requests = std::max<std::int64_t>(batch.prompt_requests, 1);
  const std::int64_t window = layer.model().window;
  const std::int64_t most = batch.prompt_tokens + requests * (window - 1);
  if (!layer.content().windowed() || batch.prompt_context <= requests * window)
    return {batch.prompt_context, batch.prompt_pairs};
  // n tokens follow b others. A token with fewer than a window of tokens before it attends to all of them,
  // every other token to a window.
  const std::int64_t n = batch.prompt_tokens / requests;
  const std::int64_t b = (batch.prompt_context - batch.prompt_tokens) / requests;
  const std::int64_t few = std::clamp<std::int64_t>(window - b, 0, n);
  const std::int64_t pairs = few * b + few * (few + 1) / 2 + (n - few) * window;
  return {std::min(batch.prompt_context, most), std::min(batch.prompt_pairs, requests * pairs)};
}

IterationSteps::Attended IterationSteps::of_decoding(const ServedLayer& layer,
                                                     const IterationBatch& batch) const {
  const std::int64_t requests = std::max<std::int64_t>(batch.decode_requests, 1);
  const std::int64_t each = divide_up(batch.decode_tokens, requests);
  const std::int64_t most = requests * (layer.model().window + each - 1);
  const std::int64_t tokens =
      layer.content().windowed() ? std::min(batch.decode_context, most) : batch.decode_context;
  return {tokens, tokens * each};
}

std::vector<Kernel> IterationSteps::prompt_kernels(const ServedLayer& layer, const IterationBatch& batch,
                                                   const Attended& attended) const {
  const Model& model = layer.model();
  const Heads heads = layer.heads();
  const std::int64_t ranks = experiment_.plan.context_parallel;
  const std::int64_t requests = std::max<std::int64_t>(batch.prompt_requests, 1);
  const std::int64_t rows = divide_up(divide_up(batch.prompt_tokens, requests), ranks);
  const std::int64_t keys = divide_up(attended.tokens, requests);
  const std::int64_t products = requests * heads.query;
  if (model.is_sparse()) {
    const std::int64_t most = batch.prompt_tokens * model.indexer.top_k;
    const SparseSpan span{batch.prompt_tokens, attended.pairs, std::min(attended.pairs, most)};
    return sparse_kernels(model, heads.query, span, element_);
  }
  if (model.attention == Attention::core) {
    return {gemm(rows, keys, model.query_dim(), products), elementwise(2 * element_ * products * rows * keys),
            gemm(rows, model.value_dim(), keys, products)};
  }
  const std::int64_t moved =
      own_tokens(batch.prompt_tokens) * (query_width(model, heads) + output_width(model, heads)) +
      attended.tokens * key_value_width(model, heads);
  const bool whole = batch.prompt_context == batch.prompt_tokens && ranks == 1 && !layer.content().windowed();
  Kernel kernel{Kernel::Kind::attention, products, rows, rows, model.query_dim(), moved * element_, 0};
  kernel.flops = flops_of_pairs(divide_up(attended.pairs, ranks), core_flops(model, heads.query, 1));
  kernel.causal = whole;
  if (whole) return {kernel};
  kernel.n = std::max<std::int64_t>(1, divide_up(attended.pairs, batch.prompt_tokens));
  kernel.more_columns = kDiagonalColumns;
  return {kernel};
}

void IterationSteps::write_prompts(const ServedLayer& layer, const IterationBatch& batch,
                                   IterationWriter& to) const {
  const Model& model = layer.model();
  const Attended attended = of_prompts(layer, batch);
  if (experiment_.plan.context_parallel > 1) {
    const std::int64_t width = model.latent() ? layer.cached_values() : key_value_width(model, layer.heads());
    to.collective(Part::attention, Collective::all_gather, attended.tokens * width * element_, Slot::context);
  }
  std::vector<Kernel> kernels;
  if (model.latent())
    kernels.push_back(weighted(attention_inputs(model, layer.heads(), attended.tokens).back()));
  add_all(kernels, prompt_kernels(layer, batch, attended));
  to.compute(Part::attention, std::move(kernels));
}

/// Ranks that share sequences hold a part of each, and attend with the queries of all requests to it.
std::vector<Kernel> IterationSteps::decoding_kernels(const ServedLayer& layer, const IterationBatch& batch,
                                                     const Attended& attended) const {
  const Model& model = layer.model();
  const Heads heads = layer.heads();
  const std::int64_t ranks = experiment_.plan.context_parallel;
  Kernel kernel;
  kernel.kind = Kernel::Kind::cached_attention;
  kernel.batch = batch.decode_requests;
  const Bytes read = scaled(divide_up(attended.tokens, ranks) * layer.cached_values(), cached_).bytes;
  const std::int64_t pairs = divide_up(attended.pairs, ranks);
  if (!model.latent()) {
    const std::int64_t asked = query_width(model, heads) + output_width(model, heads);
    const double again = static_cast<double>(heads.query) / static_cast<double>(heads.key_value) - 1;
    const double times = 1 + again * (1 - experiment_.software.grouped_query_reuse);
    kernel.bytes = scaled(read, times).bytes + batch.decode_tokens * asked * element_;
    kernel.flops = flops_of_pairs(pairs, core_flops(model, heads.query, 1));
    return {kernel};
  }
  const LatentAttention& latent = model.latent_attention;
  const std::int64_t wide =
      layer.cached_values() + latent.kv_rank;  // a query and the latent vectors it finds
  const Kernel absorb = gemm(batch.decode_tokens, latent.kv_rank, latent.nope_dim, heads.query);
  const Kernel expand = gemm(batch.decode_tokens, latent.value_dim, latent.kv_rank, heads.query);
  if (model.is_sparse()) {
    const std::int64_t most = batch.decode_tokens * model.indexer.top_k;
    std::vector<Kernel> kernels{absorb};
    const SparseSpan span{batch.decode_tokens, pairs, std::min(pairs, most)};
    for (Kernel one : sparse_kernels(model, heads.query, span, element_)) {
      if (one.kind == Kernel::Kind::attention) one.kind = Kernel::Kind::cached_attention;
      kernels.push_back(one);
    }
    kernels[1].bytes += attended.tokens * indexer_cache_bytes(model);
    kernels.push_back(expand);
    return kernels;
  }
  kernel.bytes = read + batch.decode_tokens * heads.query * wide * element_;
  kernel.flops = flops_of_pairs(pairs, 2 * heads.query * wide);
  return {absorb, kernel, expand};
}

/// Partial outputs are weighted and summed where their tokens are.
void IterationSteps::write_decoding(const ServedLayer& layer, const IterationBatch& batch,
                                    IterationWriter& to) const {
  const Model& model = layer.model();
  const bool shares = experiment_.plan.context_parallel > 1;
  const std::int64_t tokens = batch.decode_tokens * element_;
  if (shares)
    to.collective(Part::attention, Collective::all_gather, tokens * query_width(model, layer.heads()),
                  Slot::context);
  to.compute(Part::attention, decoding_kernels(layer, batch, of_decoding(layer, batch)));
  if (shares)
    to.collective(Part::attention, Collective::reduce_scatter, tokens * output_width(model, layer.heads()),
                  Slot::context);
}

void IterationSteps::write_attention(std::size_t kind, const IterationBatch& batch,
                                     IterationWriter& to) const {
  const ServedLayer& layer = model_.kinds()[kind];
  if (layer.content().recurs()) return write_recurrence(layer, batch, to);
  if (!layer.content().attends()) return;
  if (batch.prompt_tokens > 0) write_prompts(layer, batch, to);
  if (batch.decode_tokens > 0) write_decoding(layer, batch, to);
}

/// Prompts go through the state in chunks, decoding token by token.
void IterationSteps::write_recurrence(const ServedLayer& layer, const IterationBatch& batch,
                                      IterationWriter& to) const {
  const Recurrence recurrence = layer.recurrence();
  const Software& software = experiment_.software;
  if (batch.prompt_tokens > 0)
    to.compute(Part::recurrence, chunk_kernels(recurrence, software, batch.prompt_tokens, element_));
  if (batch.decode_tokens > 0)
    to.compute(Part::recurrence,
               decode_kernels(recurrence, software, batch.decode_requests, batch.decode_tokens, element_));
}

/// Matrices are read as they are stored.
void IterationSteps::add_mlp(const MlpProducts& mlp, std::vector<Kernel>& kernels) const {
  for (const Kernel& kernel :
       {weighted(mlp.first), elementwise(mlp.activation * element_), weighted(mlp.second)})
    kernels.push_back(kernel);
}

/// After `kernels`, which a parallel block sums up with it.
void IterationSteps::write_mlp(const ServedLayer& layer, const TransformerShape& shape, IterationWriter& to,
                               std::vector<Kernel> kernels) const {
  const Model& model = layer.model();
  if (!model.parallel_block) kernels.push_back(elementwise(4 * shape.residual()));
  add_mlp(mlp_products(model, shape.tokens, shape.ffn), kernels);
  to.compute(Part::mlp, std::move(kernels));
  reduce(Part::mlp, shape.residual(), to);
}

void IterationSteps::write_outputs(std::size_t kind, std::int64_t tokens, IterationWriter& to) const {
  const ServedLayer& layer = model_.kinds()[kind];
  const Model& model = layer.model();
  const TransformerShape shape = layer.shape(own_tokens(tokens));
  std::vector<Kernel> kernels;
  if (layer.content().mixes()) {
    const bool recurs = layer.content().recurs();
    const Part part = recurs ? Part::recurrence : Part::attention;
    const std::int64_t width = recurs ? layer.recurrence().output_width : output_width(model, layer.heads());
    if (model.attention_output_gate && !recurs)
      kernels.push_back(elementwise(3 * shape.tokens * width * element_));
    kernels.push_back(weighted(mixer_output_product(model, shape.tokens, width)));
    if (!model.parallel_block) {
      to.compute(part, std::exchange(kernels, {}));
      reduce(part, shape.residual(), to);
    }
  }
  if (model.post_norms) kernels.push_back(elementwise(4 * shape.residual()));
  if (layer.content().has_experts()) return write_experts(layer, shape, to);
  if (layer.content().mlp == LayerMlp::dense) return write_mlp(layer, shape, to, std::move(kernels));
  if (!kernels.empty()) to.compute(Part::attention, std::move(kernels));
}

/// Every rank gets the logits of all.
void IterationSteps::write_head(std::int64_t results, IterationWriter& to) const {
  if (results == 0) return;
  const Model& model = experiment_.model;
  const std::int64_t ranks = experiment_.plan.tensor_parallel;
  const std::int64_t vocab = divide_up(model.vocab, ranks);
  to.compute(Part::head, {elementwise(4 * results * row()), wide(logits_product(model, results, vocab))});
  if (ranks > 1)
    to.collective(Part::head, Collective::all_gather, ranks * results * vocab * element_, Slot::tensor);
  to.compute(Part::head, {scaled(results * model.vocab, kBytesPerLogit)});
}

Steps IterationSteps::write_stage(const ServedStage& stage, const IterationBatch& batch, bool graphs,
                                  Workload& workload) const {
  IterationWriter to(experiment_, graphs, workload);
  if (stage.embeds) write_embedding(batch.tokens(), to);
  for (std::size_t kind = 0; kind < stage.layers.size(); ++kind) {
    for (std::int64_t layer = 0; layer < stage.layers[kind]; ++layer) {
      write_inputs(kind, batch.tokens(), to);
      write_attention(kind, batch, to);
      write_outputs(kind, batch.tokens(), to);
    }
  }
  if (stage.has_head) write_head(batch.results, to);
  return std::move(to).finish();
}

Bytes IterationSteps::stage_output_bytes(std::int64_t tokens) const { return own_tokens(tokens) * row(); }

Bytes IterationSteps::stage_message_bytes(std::int64_t tokens) const {
  const Plan& plan = experiment_.plan;
  return plan.scatter_gather ? divide_up(stage_output_bytes(tokens), plan.tensor_parallel)
                             : stage_output_bytes(tokens);
}

std::optional<ServingObstacle> serving_obstacle(const Experiment& experiment) {
  const Model& model = experiment.model;
  const Plan& plan = experiment.plan;
  if (!model.attends())
    return ServingObstacle{"/model/kind",
                           "found a model without attention, allowed with inference are "
                           "transformer and moe-transformer"};
  if (model.encoder_layers > 0)
    return ServingObstacle{"/model/encoder_layers", "found an encoder, allowed with inference is 0"};
  if (plan.model_copies() > 1)
    return ServingObstacle{
        "/plan/pipeline_schedule",
        "found \"" + plan.pipeline_schedule +
            "\", which holds two copies of the model, allowed with inference are schedules "
            "that hold one"};
  const bool recurs = model.mamba2.heads > 0 || model.gated_delta_net.value_heads > 0;
  if (plan.context_parallel > 1 && (recurs || model.indexer.top_k > 0))
    return ServingObstacle{"/plan/context_parallel",
                           "found " + std::to_string(plan.context_parallel) +
                               ", allowed with inference is 1 where layers recur or an indexer picks tokens"};
  if (plan.context_parallel > 1 && plan.context_parallel_type == ContextParallelType::hierarchical)
    return ServingObstacle{"/plan/context_parallel_type",
                           "found \"hierarchical\", allowed with inference are ring, all-to-all, all-gather"};
  return std::nullopt;
}

}  // namespace orrery
