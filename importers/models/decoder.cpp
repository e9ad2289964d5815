#include "importers/models/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace orrery::importers::models {
namespace {

constexpr std::int64_t kMostLayers = 100'000;

void set_defaults(ModelReading& reading, std::string_view defaults) {
  const Json known = Json::parse(defaults);
  for (const auto& [ours, value] : known.items())
    if (reading.value(ours).is_null())
      reading.set(ours, value, "the file leaves it out: default of the configuration class");
}

/// A key whose value decides whether products have biases.
struct BiasKey {
  std::string_view name;
  bool qkv, out, mlp;
  bool inverted = false;
};
constexpr std::array<BiasKey, 12> kBiasKeys{{
    {"use_bias", true, true, true},
    {"bias", true, true, true},
    {"enable_bias", true, true, true},
    {"no_bias", true, true, true, true},
    {"add_bias_linear", true, true, true},
    {"attention_bias", true, true, false},
    {"attention_qkv_bias", true, false, false},
    {"use_qkv_bias", true, false, false},
    {"qkv_bias", true, false, false},
    {"add_qkv_bias", true, false, false},
    {"attention_out_bias", false, true, false},
    {"mlp_bias", false, false, true},
}};

/// Changes the biases of the family by the keys of the file. @returns those keys
Keys change_biases(ModelReading& r) {
  Keys all;
  for (const BiasKey& row : kBiasKeys) {
    const Keys keys = r.keys.take({row.name});
    if (keys.empty()) continue;
    all.push_back(keys.front());
    if (!r.block.keyed_biases || !keys.front()->value.is_boolean()) continue;
    const bool has = keys.front()->value.get<bool>() != row.inverted;
    if (row.qkv) r.block.biases.qkv = has;
    if (row.out && (row.mlp || r.block.output_is_keyed || row.name == "attention_out_bias"))
      r.block.biases.out = has;
    if (row.mlp) r.block.biases.mlp = has;
  }
  return all;
}

/// Says biases of qkv by qkv_biases, those of the other products by biases where both have them; one alone is
/// counted among other parameters.
void write_biases(ModelReading& r, const Keys& keys) {
  const BiasesOf& has = r.block.biases;
  const std::int64_t layers = r.count_or("layers", 0), hidden = r.count_or("hidden", 0);
  const std::int64_t ffn = r.count_or("ffn_hidden", 4 * hidden);
  r.set("biases", has.out && has.mlp, keys, keys.empty() ? "as in its code" : "");
  if (has.qkv != (has.out && has.mlp)) r.set("qkv_biases", has.qkv, "the product into attention alone");
  if (has.out && !has.mlp) r.add_parameters(product_of({layers, hidden}), "biases behind attention");
  if (has.mlp && !has.out)
    r.add_parameters(product_of({layers, (r.block.gated ? 2 : 1) * ffn + hidden}), "biases of MLPs");
}

void read_norm(ModelReading& r) {
  const bool rms = r.block.norm != NormKind::layer;
  r.set("normalization", rms ? "rmsnorm" : "layernorm",
        r.block.norm == NormKind::layer_without_biases
            ? "LayerNorm without biases, which has as many parameters as RMSNorm"
            : "as in its code");
}

/// Positions without parameters cost next to nothing: ALiBi and none are taken as rotary.
void read_positions(ModelReading& r) {
  const bool named = r.block.positions == "learned" || r.block.positions == "relative";
  const bool rotary = r.block.positions == "rotary";
  r.set("positions", named ? std::string(r.block.positions) : "rotary",
        rotary || named ? std::string("as in its code")
                        : fmt::format("{}, which has no parameters either", r.block.positions));
  if (r.block.positions != "learned" || !r.value("max_positions").is_null()) return;
  if (const auto context = r.count(launch::kContext))
    r.set("max_positions", *context, "as many as its context");
}

/// MLPs without a gate are four times as wide as the residual stream where no key says their width.
void read_ffn(ModelReading& r) {
  const auto is_without = [](const LayerRun& layer) { return layer.mlp == LayerMlp::none; };
  if (!r.value("ffn_hidden").is_null() || std::ranges::all_of(r.layers, is_without)) return;
  const auto hidden = r.count("hidden");
  if (!r.block.gated && hidden)
    r.set("ffn_hidden", 4 * *hidden, "the file leaves it out: four times the hidden width");
  else
    r.lack("ffn_hidden", "the file has no width of MLPs; --set model.ffn_hidden=N gives it");
}

/// Layers that predict tokens beyond the next one.
void read_more_tokens(ModelReading& r) {
  const Names kNames{"num_nextn_predict_layers", "mtp_num_hidden_layers", "mtp_num_layers"};
  if (r.keys.integer(kNames).value_or(0) == 0)
    return r.ignore(r.keys.take(kNames), "no tokens beyond the next one are predicted");
  r.set_from("multi_token_prediction", kNames);
}

/// Dropout changes training only; any probability above 0 is one.
void read_dropout(ModelReading& r) {
  const Keys keys = r.keys.take({"attention_dropout",
                                 "hidden_dropout",
                                 "hidden_dropout_prob",
                                 "attention_probs_dropout_prob",
                                 "resid_pdrop",
                                 "attn_pdrop",
                                 "embd_pdrop",
                                 "dropout",
                                 "dropout_rate",
                                 "attn_dropout_prob",
                                 "emb_dropout_prob",
                                 "attention_dropout_prob",
                                 "residual_dropout",
                                 "embedding_dropout",
                                 "attention_softmax_dropout",
                                 "attn_config.attn_pdrop",
                                 "ffn_dropout",
                                 "activation_dropout",
                                 "classifier_dropout",
                                 "embed_dropout"});
  bool any = false;
  for (const SourceKey* key : keys) any = any || (key->value.is_number() && key->value.get<double>() > 0);
  r.set("dropout", any, keys, keys.empty() ? "the file has no dropout" : "");
}

/// llm-analysis calls the hidden width as others call that of MLPs.
void read_widths(ModelReading& r) {
  const bool of_analysis = r.keys.has({"ffn_embed_dim"});
  if (of_analysis) r.set_from("hidden", {"hidden_dim"});
  if (of_analysis) r.set_from("ffn_hidden", {"ffn_embed_dim"});
  r.set_from("hidden", {"hidden_size", "n_embd", "d_model", "model_dim", "dim", "n_embed", "embed_dim"});
  if (of_analysis) return;
  r.set_from("ffn_hidden",
             {"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", "d_ff", "inner_hidden_size",
              "ffn_config.ffn_hidden_size", "decoder_ffn_dim", "hidden_dim"});
}

}  // namespace

void read_sizes(ModelReading& r) {
  read_widths(r);
  r.set_from("layers", {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_transformer_layers",
                        "decoder_layers"});
  r.set_from("heads", {"num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"});
  r.set_from("kv_heads", {"num_key_value_heads", "num_kv_heads", "n_head_kv", "attn_config.kv_n_heads",
                          "multi_query_group_num", "num_attention_groups"});
  r.set_from("head_dim", {"head_dim", "kv_channels", "attention_head_dim", "attention_head_size", "d_kv"});
  r.set_first("vocab", {"padded_vocab_size", "vocab_size"});
  r.set_first(launch::kContext,
              {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_sequence_length",
               "max_context_length", "model_max_length", "seq_length", "max_target_positions"});
  set_defaults(r, r.family.defaults);
  if (r.keys.is_nested()) set_defaults(r, r.family.nested_defaults);
  const std::int64_t number = r.count_or("layers", 0);
  if (number <= kMostLayers) r.layers.assign(static_cast<std::size_t>(number), LayerRun{});
}

void read_block(ModelReading& r) {
  const Keys tied = r.keys.take_outer({"tie_word_embeddings", "share_input_output_layers"});
  if (!tied.empty())
    r.set("tied_embeddings", tied.front()->value, tied);
  else
    r.set("tied_embeddings", r.block.tied, "the file leaves it out: as this family does");
  const Keys keys = change_biases(r);
  write_biases(r, keys);
  read_norm(r);
  read_positions(r);
  read_dropout(r);
  r.set("gated_mlp", r.block.gated, r.block.gated ? "three matrices in an MLP" : "two matrices in an MLP");
  r.set("parallel_block", r.block.parallel, "as in its code");
  r.set("attention", "flash", "as people run it today");
  if (r.block.post_norms) r.set("post_norms", true, "norms after attention and MLP, as in its code");
  if (r.block.qk_norm != "none")
    r.set("qk_norm", std::string(r.block.qk_norm), "queries and keys have norms, as in its code");
}

void read_decoder(ModelReading& r) {
  read_sizes(r);
  if (r.family.before != nullptr) r.family.before(r);
  read_attention(r);
  const bool has_experts = read_experts(r);
  read_ffn(r);
  read_block(r);
  read_more_tokens(r);
  if (has_experts) place_experts(r);
  read_windows(r);
  if (r.family.after != nullptr) r.family.after(r);
  write_layers(r);
}

}  // namespace orrery::importers::models
