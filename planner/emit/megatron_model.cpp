// Models and the length of training as arguments of Megatron-LM; versions as in megatron.cpp.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>

#include "planner/emit/export_report.hpp"

namespace orrery {
namespace megatron_model {
namespace {

void kv_heads(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.model.kv_heads == s.model.heads || s.model.latent()) return out.usual();
  out.raise("--group-query-attention");
  out.set("--num-query-groups", value);
}

/// Megatron pads to a multiple of 128 times tensor ranks: of a smaller number where the vocabulary is none.
void vocabulary(const Subject& s, const EmitJson& value, Entry& out) {
  constexpr std::int64_t kUsualMultiple = 128;
  const std::int64_t ranks = s.plan.tensor_parallel;
  out.set("--vocab-size", value);
  if (s.model.vocab % ranks == 0 && s.model.vocab % (kUsualMultiple * ranks) != 0)
    out.set("--make-vocab-size-divisible-by", std::gcd(s.model.vocab / ranks, kUsualMultiple));
  out.note("read with --tokenizer-type NullTokenizer, and padded to --make-vocab-size-divisible-by");
  if (s.model.vocab % ranks != 0) out.note("tensor ranks share it evenly: it is padded for them");
}

void sequence(const Subject& s, const EmitJson& value, Entry& out) {
  out.set("--seq-length", value);
  if (s.model.max_positions == 0) out.set("--max-position-embeddings", value);
}

void gated(const Subject&, const EmitJson& value, Entry& out) {
  value == true ? out.raise("--swiglu") : out.usual();
}

void tied(const Subject&, const EmitJson& value, Entry& out) {
  value == true ? out.usual() : out.raise("--untie-embeddings-and-output-weights");
}

void parallel_block(const Subject&, const EmitJson& value, Entry& out) {
  value == true ? out.lacks("attention comes before the MLP") : out.usual();
}

void attention(const Subject&, const EmitJson& value, Entry& out) {
  out.set("--attention-backend", value == "flash" ? "flash" : "unfused");
}

void biases(const Subject&, const EmitJson& value, Entry& out) {
  value == true ? out.usual() : out.raise("--disable-bias-linear");
}

void qkv_biases(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.model.biases || value == false) return out.usual();
  out.raise("--add-qkv-bias");
}

void qk_norm(const Subject& s, const EmitJson&, Entry& out) {
  if (s.model.qk_norm == QueryKeyNorm::none) return out.usual();
  if (s.model.qk_norm == QueryKeyNorm::whole)
    return out.lacks("queries and keys are normalised head by head");
  out.raise("--qk-layernorm");
}

void post_norms(const Subject&, const EmitJson& value, Entry& out) {
  value == true ? out.lacks("pretrain_gpt.py has no norms behind attention and MLP") : out.usual();
}

constexpr std::string_view kHybrid =
    "layers that recur are those of --hybrid-override-pattern in pretrain_mamba.py";

void output_gate(const Subject& s, const EmitJson&, Entry& out) {
  if (!s.model.attention_output_gate) return out.usual();
  out.raise("--attention-output-gate");
}

void shared_expert_gate(const Subject& s, const EmitJson&, Entry& out) {
  if (!s.model.shared_expert_gate) return out.usual();
  out.raise("--moe-shared-expert-gate");
}

void latent(const Subject& s, const EmitJson&, Entry& out) {
  const LatentAttention& a = s.model.latent_attention;
  out.raise("--multi-latent-attention");
  if (a.q_rank > 0) out.set("--q-lora-rank", a.q_rank);
  out.set("--kv-lora-rank", a.kv_rank);
  out.set("--qk-head-dim", a.nope_dim);
  out.set("--qk-pos-emb-head-dim", a.rope_dim);
  out.set("--v-head-dim", a.value_dim);
}

void window(const Subject& s, const EmitJson&, Entry& out) {
  if (!s.model.slides()) return out.usual();
  out.set("--window-size", std::to_string(s.model.window - 1) + ",0");
  out.note("after core 0.14; a token sees itself and those before it");
}

void window_pattern(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.model.slides()) return out.idle();
  out.set("--window-attn-skip-freq", value);
}

void causal(const Subject&, const EmitJson& value, Entry& out) {
  value == true ? out.usual() : out.lacks("pretrain_bert.py trains encoders");
}

void dropout(const Subject&, const EmitJson& value, Entry& out) {
  if (value == true) return out.usual("0.1");
  out.set("--attention-dropout", 0.0);
  out.set("--hidden-dropout", 0.0);
}

void normalization(const Subject&, const EmitJson& value, Entry& out) {
  value == "rmsnorm" ? out.set("--normalization", "RMSNorm") : out.usual();
}

void positions(const Subject& s, const EmitJson&, Entry& out) {
  constexpr std::array<std::string_view, 3> kNames{"learned_absolute", "rope", "relative"};
  out.set("--position-embedding-type", kNames[static_cast<std::size_t>(s.model.positions)]);
}

void max_positions(const Subject& s, const EmitJson& value, Entry& out) {
  out.set("--max-position-embeddings", std::max(value.get<std::int64_t>(), s.model.seq_length));
}

void other(const Subject& s, const EmitJson&, Entry& out) {
  s.model.other_parameters == 0 ? out.usual()
                                : out.lacks("GPT has no parts beside layers, embedding and head");
}

void further_tokens(const Subject&, const EmitJson& value, Entry& out) {
  value == 0 ? out.usual() : out.set("--mtp-num-layers", value);
}

void encoder(const Subject&, const EmitJson& value, Entry& out) {
  value == 0 ? out.usual() : out.lacks("pretrain_t5.py trains models with an encoder");
}

void experts(const Subject&, const EmitJson& value, Entry& out) {
  out.set("--num-experts", value);
  out.raise("--moe-grouped-gemm");
}

void shared_experts(const Subject& s, const EmitJson&, Entry& out) {
  if (s.model.shared_experts == 0) return out.usual();
  out.set("--moe-shared-expert-intermediate-size", s.model.shared_experts * s.model.expert_ffn_hidden);
}

/// A list in Python with a 1 for each layer with experts: "[0]*3+[1]*58".
std::string layers_with_experts(const Model& model) {
  std::string text;
  for (std::int64_t first = 0; first < model.layers;) {
    std::int64_t last = first;
    while (last < model.layers && model.has_experts(last) == model.has_experts(first)) ++last;
    text += (first > 0 ? "+" : "") + std::string(model.has_experts(first) ? "[1]*" : "[0]*") +
            std::to_string(last - first);
    first = last;
  }
  return text;
}

void leading_layers(const Subject& s, const EmitJson&, Entry& out) {
  if (s.model.dense_layers == 0) return out.usual();
  out.set("--moe-layer-freq", layers_with_experts(s.model));
}

void moe_frequency(const Subject& s, const EmitJson&, Entry& out) {
  if (s.model.dense_layers > 0) return out.usual("stands with model.dense_layers");
  if (s.model.moe_layer_frequency == 1) return out.usual();
  out.set("--moe-layer-freq", layers_with_experts(s.model));
}

void groups(const Subject& s, const EmitJson& value, Entry& out) {
  s.model.expert_groups == 1 ? out.usual() : out.set("--moe-router-num-groups", value);
}

void groups_per_token(const Subject& s, const EmitJson& value, Entry& out) {
  s.model.expert_groups == 1 ? out.idle() : out.set("--moe-router-group-topk", value);
}

void tokens(const Subject& s, const EmitJson& value, Entry& out) {
  out.set("--train-samples", value.get<std::int64_t>() / s.model.seq_length);
}

constexpr std::string_view kAllTrained = "pretrain_gpt.py trains all weights";
constexpr std::string_view kYours = "the data are yours";

}  // namespace

constexpr KeyRow kRows[] = {
    KeyRow::by("model.name", [](const Subject&, const EmitJson&, Entry& out) { out.idle(); }),
    KeyRow::by("model.kind", [](const Subject&, const EmitJson&, Entry& out) { out.idle(); }),
    KeyRow::same("model.layers", "--num-layers"),
    KeyRow::same("model.hidden", "--hidden-size"),
    KeyRow::same("model.ffn_hidden", "--ffn-hidden-size"),
    KeyRow::same("model.heads", "--num-attention-heads"),
    KeyRow::by("model.kv_heads", kv_heads),
    KeyRow::same("model.head_dim", "--kv-channels"),
    KeyRow::by("model.vocab", vocabulary),
    KeyRow::by("model.seq_length", sequence),
    KeyRow::lacks("model.packed_sample_length", kYours),
    KeyRow::by("model.gated_mlp", gated),
    KeyRow::by("model.tied_embeddings", tied),
    KeyRow::by("model.parallel_block", parallel_block),
    KeyRow::by("model.attention", attention),
    KeyRow::by("model.causal", causal),
    KeyRow::by("model.biases", biases),
    KeyRow::by("model.qkv_biases", qkv_biases),
    KeyRow::by("model.qk_norm", qk_norm),
    KeyRow::by("model.post_norms", post_norms),
    KeyRow::by("model.latent_attention", latent),
    KeyRow::by("model.window", window),
    KeyRow::by("model.window_pattern", window_pattern),
    KeyRow::lacks("model.layer_pattern",
                  "layers that differ are a --heterogeneous-layers-config-path of your own"),
    KeyRow::by("model.attention_output_gate", output_gate),
    KeyRow::lacks("model.indexer", "an indexer is an --experimental-attention-variant of your own"),
    KeyRow::lacks("model.mamba2", kHybrid),
    KeyRow::lacks("model.gated_delta_net", kHybrid),
    KeyRow::by("model.dropout", dropout),
    KeyRow::by("model.normalization", normalization),
    KeyRow::by("model.positions", positions),
    KeyRow::by("model.max_positions", max_positions),
    KeyRow::by("model.other_parameters", other),
    KeyRow::lacks("model.lora_rank", kAllTrained),
    KeyRow::lacks("model.lora_targets", kAllTrained),
    KeyRow::by("model.multi_token_prediction", further_tokens),
    KeyRow::by("model.encoder_layers", encoder),
    KeyRow::lacks("model.encoder_seq_length", "pretrain_t5.py trains models with an encoder"),
    KeyRow::by("model.experts", experts),
    KeyRow::same("model.experts_per_token", "--moe-router-topk"),
    KeyRow::by("model.shared_experts", shared_experts),
    KeyRow::by("model.shared_expert_gate", shared_expert_gate),
    KeyRow::same("model.expert_ffn_hidden", "--moe-ffn-hidden-size"),
    KeyRow::by("model.dense_layers", leading_layers),
    KeyRow::by("model.moe_layer_frequency", moe_frequency),
    KeyRow::by("model.expert_groups", groups),
    KeyRow::by("model.groups_per_token", groups_per_token),
    KeyRow::by("training.tokens", tokens),
    KeyRow::same("training.samples", "--train-samples"),
    KeyRow::lacks("training.data", kYours),
    KeyRow::by("data_parallel_sync.method",
               [](const Subject&, const EmitJson& value, Entry& out) {
                 value == "all-reduce" ? out.usual() : out.lacks("replicas are kept in step by all-reduce");
               }),
};

}  // namespace megatron_model

std::span<const KeyRow> megatron_model_rows() { return megatron_model::kRows; }

}  // namespace orrery
