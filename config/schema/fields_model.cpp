#include "config/schema/fields.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 2> kAttentions{"core", "flash"};
constexpr std::array<std::string_view, 2> kNormalizations{"layernorm", "rmsnorm"};
constexpr std::array<std::string_view, 3> kPositions{"learned", "rotary", "relative"};
void set_lora_targets(Model& model, const std::vector<std::size_t>& targets) {
  model.lora_targets = {};
  for (const std::size_t target : targets) model.lora_targets[target] = true;
}

}  // namespace

const std::vector<Field<LatentAttention>>& latent_attention_fields() {
  using L = LatentAttention;
  using T = FieldTable<L>;
  static const std::vector<Field<L>> fields{
      T::integer("q_rank", 1, 1e6, &L::q_rank, "none",
                 "width from which queries are made; the residual stream by default"),
      T::integer("kv_rank", 1, 1e6, &L::kv_rank, "", "width from which keys and values are made"),
      T::integer("rope_dim", 0, 1e6, &L::rope_dim, "0", "part of a query or key that carries positions"),
      T::integer("nope_dim", 1, 1e6, &L::nope_dim, "", "the part that does not"),
      T::integer("value_dim", 1, 1e6, &L::value_dim, "nope_dim", "width of a value"),
  };
  return fields;
}

const std::vector<Field<Indexer>>& indexer_fields() {
  using I = Indexer;
  using T = FieldTable<I>;
  static const std::vector<Field<I>> fields{
      T::integer("heads", 1, 1e6, &I::heads, "", "heads that score the tokens before a query"),
      T::integer("head_dim", 1, 1e6, &I::head_dim, "128", "width of a head"),
      T::integer("top_k", 1, kMaxTokens, &I::top_k, "",
                 "tokens that each attends to, those with the best scores"),
  };
  return fields;
}

const std::vector<Field<Mamba2>>& mamba2_fields() {
  using M = Mamba2;
  using T = FieldTable<M>;
  static const std::vector<Field<M>> fields{
      T::integer("heads", 1, 1e6, &M::heads, "", "heads, each with a state of head_dim x state_dim"),
      T::integer("head_dim", 1, 1e6, &M::head_dim, "64", "width of a head"),
      T::integer("groups", 1, 1e6, &M::groups, "1", "groups of heads, each with its own B and C"),
      T::integer("state_dim", 1, 1e6, &M::state_dim, "128", "values of the state for each value of a head"),
      T::integer("conv_kernel", 1, 1e3, &M::conv_kernel, "4", "tokens that the short convolution sees"),
      T::integer("chunk", 1, 1e6, &M::chunk, "256", "tokens that meet as in attention"),
  };
  return fields;
}

const std::vector<Field<GatedDeltaNet>>& gated_delta_net_fields() {
  using G = GatedDeltaNet;
  using T = FieldTable<G>;
  static const std::vector<Field<G>> fields{
      T::integer("key_heads", 1, 1e6, &G::key_heads, "", "heads of queries and of keys"),
      T::integer("value_heads", 1, 1e6, &G::value_heads, "key_heads",
                 "heads of values, each with a state of key_dim x value_dim"),
      T::integer("key_dim", 1, 1e6, &G::key_dim, "128", "width of a query or a key"),
      T::integer("value_dim", 1, 1e6, &G::value_dim, "key_dim", "width of a value"),
      T::integer("conv_kernel", 1, 1e3, &G::conv_kernel, "4", "tokens that the short convolution sees"),
  };
  return fields;
}

const std::vector<Field<LayerRun>>& layer_run_fields() {
  using R = LayerRun;
  using T = FieldTable<R>;
  static const std::vector<Field<R>> fields{
      T::integer("layers", 1, kMaxLayers, &R::layers, "1", "layers in a row that are so"),
      T::choice(
          "kind", {kTokenMixerNames, nullptr, {}},
          +[](R& r, std::size_t i) { r.mixer = static_cast<TokenMixer>(i); }, "attention",
          "how tokens meet: by attention, or in a state of the model's mamba2 or gated_delta_net"),
      T::choice(
          "attention", {kLayerAttentionNames, nullptr, {}},
          +[](R& r, std::size_t i) { r.attention = static_cast<LayerAttention>(i); }, "full",
          "to all tokens before, to those of model.window, or none"),
      T::choice(
          "mlp", {kLayerMlpNames, nullptr, {}},
          +[](R& r, std::size_t i) { r.mlp = static_cast<LayerMlp>(i); }, "dense",
          "an MLP, experts in its place, or none"),
      T::integer("heads", 1, 1e6, &R::heads, "model.heads", "attention heads"),
      T::integer("kv_heads", 1, 1e6, &R::kv_heads, "model.kv_heads", "key and value heads"),
      T::integer("ffn_hidden", 1, 1e8, &R::ffn_hidden, "model.ffn_hidden", "width inside the MLP"),
  };
  return fields;
}

const std::vector<Field<Model>>& model_fields() {
  using T = FieldTable<Model>;
  static const std::vector<Field<Model>> fields{
      T::text("name", &Model::name, "shown in reports; the catalog name by default"),
      T::choice(
          "kind", {kModelKindNames, nullptr, {}},
          +[](Model& m, std::size_t i) { m.kind = static_cast<ModelKind>(i); }, "transformer",
          "what the layers are"),
      T::integer("layers", 1, kMaxLayers, &Model::layers, "",
                 "transformer layers, matrices of an mlp, or equal parts of a convnet"),
      T::integer("hidden", 1, 1e7, &Model::hidden, "", "width of the residual stream"),
      T::integer("ffn_hidden", 1, kMaxTokens, &Model::ffn_hidden, "4 hidden", "width inside the MLP")
          .only("transformer"),
      T::integer("heads", 1, 1e6, &Model::heads, "", "attention heads").only("transformer"),
      T::integer("kv_heads", 1, 1e6, &Model::kv_heads, "heads", "key and value heads").only("transformer"),
      T::integer("head_dim", 1, 1e6, &Model::head_dim, "hidden / heads", "width of a head")
          .only("transformer"),
      T::integer("vocab", 1, kMaxTokens, &Model::vocab, "", "vocabulary, padding included")
          .only("transformer"),
      T::integer("seq_length", 1, kMaxTokens, &Model::seq_length, "", "tokens per sample"),
      T::integer("packed_sample_length", 1, kMaxTokens, &Model::packed_sample_length, "seq_length",
                 "tokens of each sample packed into a sequence: fused attention stays within it")
          .only("transformer"),
      T::flag("gated_mlp", &Model::gated_mlp, "false", "three matrices (SwiGLU) in place of two")
          .only("transformer"),
      T::flag("tied_embeddings", &Model::tied_embeddings, "true", "output projection shares the embedding")
          .only("transformer"),
      T::flag("parallel_block", &Model::parallel_block, "false", "attention and MLP read the same input")
          .only("transformer"),
      T::choice(
          "attention", {kAttentions, nullptr, {}},
          +[](Model& m, std::size_t i) { m.attention = static_cast<Attention>(i); }, "core",
          "core stores the scores, flash does not")
          .only("transformer"),
      T::flag("causal", &Model::causal, "true",
              "tokens attend to none behind them; false: to all, as in an encoder alone (BERT)")
          .only("transformer"),
      T::flag("biases", &Model::biases, "true", "linear layers and norms carry biases").only("transformer"),
      T::flag("qkv_biases", &Model::qkv_biases, "as biases", "the product into attention carries a bias")
          .only("transformer"),
      T::choice(
          "qk_norm", {kQueryKeyNormNames, nullptr, {}},
          +[](Model& m, std::size_t i) { m.qk_norm = static_cast<QueryKeyNorm>(i); }, "none",
          "what normalises queries and keys: each head alone, or all heads together")
          .only("transformer"),
      T::flag("post_norms", &Model::post_norms, "false", "attention and MLP have norms after them too")
          .only("transformer"),
      T::nested("latent_attention", "an object with q_rank, kv_rank, rope_dim, nope_dim, value_dim (MLA)")
          .only("transformer"),
      T::flag("attention_output_gate", &Model::attention_output_gate, "false",
              "what attention makes is multiplied by a gate that is made beside the queries")
          .only("transformer"),
      T::nested("indexer",
                "an object with heads, head_dim, top_k: attention to the tokens that it picks (DSA)")
          .only("transformer"),
      T::nested("mamba2",
                "an object with heads, head_dim, groups, state_dim, conv_kernel, chunk: layers of that kind")
          .only("transformer"),
      T::nested("gated_delta_net",
                "an object with key_heads, value_heads, key_dim, value_dim, conv_kernel: layers of that kind")
          .only("transformer"),
      T::integer("window", 1, kMaxTokens, &Model::window, "none",
                 "tokens that each attends to, with attention flash; all before it by default")
          .only("transformer"),
      T::integer("window_pattern", 1, kMaxLayers, &Model::window_pattern, "none",
                 "with window: of so many layers, the last one attends to all")
          .only("transformer"),
      T::nested("layer_pattern",
                "a list of what layers are, over and over again to the last one: objects with layers, kind, "
                "attention, mlp, heads, kv_heads, ffn_hidden, or names of kinds; or letters M G * - E as in "
                "Megatron")
          .only("transformer"),
      T::flag("dropout", &Model::dropout, "true", "dropout after attention and MLP").only("transformer"),
      T::choice(
          "normalization", {kNormalizations, nullptr, {}},
          +[](Model& m, std::size_t i) { m.normalization = static_cast<Normalization>(i); }, "layernorm",
          "of every layer")
          .only("transformer"),
      T::choice(
          "positions", {kPositions, nullptr, {}},
          +[](Model& m, std::size_t i) { m.positions = static_cast<Positions>(i); }, "learned",
          "how positions enter")
          .only("transformer"),
      T::integer("max_positions", 1, kMaxTokens, &Model::max_positions, "seq_length",
                 "rows of the learned position table")
          .only("transformer"),
      T::integer("other_parameters", 0, 1e15, &Model::other_parameters, "0",
                 "small parts outside the layers (pooler, token types)")
          .only("transformer"),
      T::integer("lora_rank", 1, 1e6, &Model::lora_rank, "none",
                 "weights are frozen, adapters of this rank are trained (LoRA)")
          .only("transformer"),
      T::choices("lora_targets", {kLinearNames, nullptr, {}}, set_lora_targets,
                 "linear_qkv, linear_proj, linear_fc1, linear_fc2", "matrices that have an adapter")
          .only("transformer"),
      T::integer("multi_token_prediction", 0, 64, &Model::multi_token_prediction, "0",
                 "tokens predicted beyond the next one, each by one more layer after the last")
          .only("transformer"),
      T::integer("encoder_layers", 0, kMaxLayers, &Model::encoder_layers, "0",
                 "layers of an encoder; layers are those of a decoder that attends to what it made")
          .only("transformer"),
      T::integer("encoder_seq_length", 1, 1e8, &Model::encoder_seq_length, "seq_length",
                 "with encoder_layers: tokens per sample that the encoder gets")
          .only("transformer"),
      T::integers("widths", 1, 1e7, &Model::widths, "hidden everywhere",
                  "widths d_0 to d_layers: matrix i maps d_(i-1) to d_i")
          .only("mlp"),
      T::integer("parameters", 1, 1e15, &Model::parameters, "", "of the whole model").only("convnet"),
      T::integer("tensors", 1, 1e7, &Model::tensors, "1", "that hold the parameters").only("convnet"),
      T::number("forward_gflops_per_sample", "GFLOP", 1e-6, 1e9, &Model::forward_gflops_per_sample, "",
                "of the forward pass, two per multiply-add")
          .only("convnet"),
      T::integer("activations_per_sample", 0, 1e15, &Model::activations_per_sample, "0",
                 "values kept for the backward pass")
          .only("convnet"),
      T::integer("convolutions", 1, 1e7, &Model::convolutions, "layers",
                 "and products with whole matrices, equally many in each layer")
          .only("convnet"),
      T::number("small_filter_share", "", 0, 1, &Model::small_filter_share, "0",
                "share of the FLOPs in filters of 3 x 3 without stride (Winograd's algorithm)")
          .only("convnet"),
      T::integer("head_parameters", 0, 1e15, &Model::head_parameters, "0",
                 "of parameters, those of whole matrices behind the convolutions: in the last layer")
          .only("convnet"),
      T::integer("experts", 1, kMaxExperts, &Model::experts, "", "experts among which a router chooses")
          .only("moe-transformer"),
      T::integer("experts_per_token", 1, kMaxExperts, &Model::experts_per_token, "",
                 "experts that each token goes to, of those")
          .only("moe-transformer"),
      T::integer("shared_experts", 0, kMaxExperts, &Model::shared_experts, "0",
                 "experts that all tokens go to besides")
          .only("moe-transformer"),
      T::flag("shared_expert_gate", &Model::shared_expert_gate, "false",
              "what shared experts make is multiplied by a gate of one value a token")
          .only("moe-transformer"),
      T::integer("expert_ffn_hidden", 1, kMaxTokens, &Model::expert_ffn_hidden, "ffn_hidden",
                 "width inside an expert")
          .only("moe-transformer"),
      T::integer("dense_layers", 0, kMaxLayers, &Model::dense_layers, "0",
                 "leading layers that have an MLP in place of experts")
          .only("moe-transformer"),
      T::integer("moe_layer_frequency", 1, kMaxLayers, &Model::moe_layer_frequency, "1",
                 "of so many layers after those, the last one has experts")
          .only("moe-transformer"),
      T::integer("expert_groups", 1, kMaxExperts, &Model::expert_groups, "1",
                 "groups of experts, from some of which a token chooses (node-limited routing)")
          .only("moe-transformer"),
      T::integer("groups_per_token", 1, kMaxExperts, &Model::groups_per_token, "expert_groups",
                 "groups that a token chooses experts from")
          .only("moe-transformer"),
  };
  return fields;
}

}  // namespace orrery
