// Small models and plans for the tests of workloads/.
#pragma once

#include "orrery/experiment.hpp"

namespace orrery::test {

/// A plain GPT: tied embeddings, biases, core attention, dropout.
inline Model gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t seq,
                 std::int64_t vocab) {
  Model model;
  model.layers = layers;
  model.hidden = hidden;
  model.ffn_hidden = 4 * hidden;
  model.heads = heads;
  model.kv_heads = heads;
  model.head_dim = hidden / heads;
  model.vocab = vocab;
  model.seq_length = seq;
  model.max_positions = seq;
  return model;
}

/// LLaMA-like: gated MLP, no biases, rotary positions, untied.
inline Model llama(std::int64_t layers, std::int64_t hidden, std::int64_t ffn, std::int64_t heads,
                   std::int64_t kv_heads, std::int64_t seq, std::int64_t vocab) {
  Model model = gpt(layers, hidden, heads, seq, vocab);
  model.ffn_hidden = ffn;
  model.kv_heads = kv_heads;
  model.gated_mlp = true;
  model.tied_embeddings = false;
  model.biases = model.qkv_biases = false;
  model.dropout = false;
  model.normalization = Normalization::rms_norm;
  model.positions = Positions::rotary;
  model.attention = Attention::flash;
  return model;
}

inline Experiment experiment(Model model, std::int64_t t, std::int64_t p, std::int64_t d,
                             std::int64_t micro_batches, std::int64_t micro_batch_size = 1) {
  Experiment e;
  e.model = std::move(model);
  e.plan.tensor_parallel = t;
  e.plan.pipeline_parallel = p;
  e.plan.data_parallel = d;
  e.plan.micro_batch_size = micro_batch_size;
  e.plan.global_batch_size = micro_batches * micro_batch_size * d;
  e.plan.precision = Precision::fp16;
  e.cluster.nodes = t * p * d;
  return e;
}

}  // namespace orrery::test
