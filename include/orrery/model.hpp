// Describes a neural network by its shape. Read by workloads/; it knows no plan and no hardware.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/layer.hpp"
#include "orrery/units.hpp"

namespace orrery {

enum class ModelKind : std::uint8_t {
  transformer,      ///< dense decoder or encoder stack
  moe_transformer,  ///< the same with a mixture of experts in place of the MLP of some layers
  mlp,              ///< a plain chain of matrices, y = W_n ... W_2 W_1 x
  convnet,          ///< convolutions of which only the size is known
};
inline constexpr std::array<std::string_view, 4> kModelKindNames{"transformer", "moe-transformer", "mlp",
                                                                 "convnet"};

enum class Attention : std::uint8_t {
  core,   ///< unfused: scores, softmax and dropout go through memory (s^2 activations)
  flash,  ///< fused, scores never stored
};

enum class Normalization : std::uint8_t { layer_norm, rms_norm };
enum class Positions : std::uint8_t {
  learned,
  rotary,
  relative,  ///< a bias of each score by distance (T5)
};

/// The matrices of a layer, with the names NeMo and Megatron Bridge give them.
enum class Linear : std::uint8_t { qkv, proj, fc1, fc2 };
inline constexpr std::size_t kLinearCount = 4;
inline constexpr std::array<std::string_view, kLinearCount> kLinearNames{"linear_qkv", "linear_proj",
                                                                         "linear_fc1", "linear_fc2"};

/// Names the norm of queries and keys before their product.
enum class QueryKeyNorm : std::uint8_t {
  none,
  head,   ///< each head alone, all with the same gains
  whole,  ///< all heads together
};
inline constexpr std::array<std::string_view, 3> kQueryKeyNormNames{"none", "head", "whole"};

/// Attention whose keys and values are made from a narrow latent vector (DeepSeek-AI 2024, "DeepSeek-V2").
struct LatentAttention {
  std::int64_t q_rank = 0;     ///< width from which queries are made; 0: from the residual stream
  std::int64_t kv_rank = 0;    ///< width from which keys and values are made; 0: no latent attention
  std::int64_t rope_dim = 0;   ///< part of a query or key that carries positions, which all heads' keys share
  std::int64_t nope_dim = 0;   ///< the part that does not
  std::int64_t value_dim = 0;  ///< width of a value

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(q_rank, kv_rank, rope_dim, nope_dim, value_dim);
  }
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Attention to the tokens that an indexer picks (DeepSeek-AI 2025, "DeepSeek-V3.2", section 2.1): heads with
/// one key for all of them score the tokens before a query, and the best are attended to.
struct Indexer {
  std::int64_t heads = 0;
  std::int64_t head_dim = 128;
  std::int64_t top_k = 0;  ///< tokens that each attends to; 0: there is no indexer

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(heads, head_dim, top_k);
  }
  friend bool operator==(const Indexer&, const Indexer&) = default;
};

struct Model {
  std::string name;
  ModelKind kind = ModelKind::transformer;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn_hidden = 0;  ///< width inside the MLP; defaults to 4 hidden
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< key/value heads; defaults to heads
  std::int64_t head_dim = 0;  ///< defaults to hidden / heads
  std::int64_t vocab = 0;
  std::int64_t seq_length = 0;  ///< tokens per sample
  /// Tokens of each sample where several are packed into a sequence, so that attention stays within them. 0:
  /// one.
  std::int64_t packed_sample_length = 0;
  bool gated_mlp = false;       ///< three matrices (SwiGLU) in place of two
  bool tied_embeddings = true;  ///< output projection shares the input embedding
  bool parallel_block = false;  ///< attention and MLP read the same input, one sum at the end
  Attention attention = Attention::core;
  bool causal = true;      ///< tokens attend to none behind them; false: to all, as those of BERT
  bool biases = true;      ///< linear layers and norms carry biases
  bool qkv_biases = true;  ///< the product into attention does; defaults to biases
  QueryKeyNorm qk_norm = QueryKeyNorm::none;
  bool post_norms = false;  ///< attention and MLP have norms after them too
  bool attention_output_gate =
      false;  ///< the output of attention is multiplied by a gate computed beside the queries
  LatentAttention latent_attention;
  Indexer indexer;
  Mamba2 mamba2;
  GatedDeltaNet gated_delta_net;
  std::int64_t window = 0;  ///< tokens that each attends to, itself the last of them; 0: all before it
  std::int64_t window_pattern =
      0;  ///< the last of every window_pattern layers attends to all tokens; 0: none does
  /// The content of each layer, in runs of equal ones, repeated to the last layer. Empty: window_pattern,
  /// dense_layers and moe_layer_frequency describe the layers.
  std::vector<LayerRun> layer_pattern;
  bool dropout = true;
  Normalization normalization = Normalization::layer_norm;
  Positions positions = Positions::learned;
  std::int64_t max_positions = 0;     ///< rows of the learned position table; defaults to seq_length
  std::int64_t other_parameters = 0;  ///< small parts outside the layers (pooler, token types)
  /// LoRA (Hu et al. 2021): weights are frozen, adapters of this rank beside some of them are trained. 0: all
  /// weights are trained.
  std::int64_t lora_rank = 0;
  std::array<bool, kLinearCount> lora_targets{true, true, true, true};  ///< matrices with an adapter
  /// Tokens predicted beyond the next one, each by a layer of its own after the last (DeepSeek-V3).
  std::int64_t multi_token_prediction = 0;
  /// Layers of an encoder before those of a decoder, which attend to its output. 0: there is none.
  std::int64_t encoder_layers = 0;
  std::int64_t encoder_seq_length = 0;  ///< tokens per sample that the encoder gets
  // moe-transformer only
  std::int64_t experts = 0;              ///< among which a router chooses
  std::int64_t experts_per_token = 0;    ///< that it chooses
  std::int64_t shared_experts = 0;       ///< that all tokens go to besides
  bool shared_expert_gate = false;       ///< their output is multiplied by a gate, one value a token
  std::int64_t expert_ffn_hidden = 0;    ///< width inside an expert; defaults to ffn_hidden
  std::int64_t dense_layers = 0;         ///< leading layers without experts
  std::int64_t moe_layer_frequency = 1;  ///< of the other layers, every n-th one has experts
  /// Number of groups of experts; a token chooses from some groups only (node-limited routing).
  std::int64_t expert_groups = 1;
  std::int64_t groups_per_token = 1;
  /// mlp only: widths d_0 ... d_layers, so that matrix i maps d_{i-1} to d_i; defaults to hidden.
  std::vector<std::int64_t> widths;
  // convnet only
  std::int64_t parameters = 0;              ///< of the whole model
  std::int64_t tensors = 1;                 ///< that hold them
  double forward_gflops_per_sample = 0;     ///< 1e9 FLOPs, two per multiply-add
  std::int64_t activations_per_sample = 0;  ///< values kept for the backward pass
  std::int64_t convolutions = 0;            ///< and products with whole matrices; defaults to layers
  /// Share of the FLOPs in filters of 3 x 3 without stride, which Winograd's algorithm does with fewer.
  double small_filter_share = 0;
  std::int64_t head_parameters = 0;  ///< of whole matrices behind the convolutions, in the last layer

  /// Returns the number of tokens that the tokens of one sample attend to, ignoring the causal mask.
  [[nodiscard]] std::int64_t attended_length() const {
    return packed_sample_length > 0 ? packed_sample_length : seq_length;
  }
  /// Returns true if the model has attention.
  [[nodiscard]] bool attends() const {
    return kind == ModelKind::transformer || kind == ModelKind::moe_transformer;
  }
  [[nodiscard]] bool latent() const { return latent_attention.kv_rank > 0; }
  /// Returns true if an indexer leaves any tokens out.
  [[nodiscard]] bool is_sparse() const { return indexer.top_k > 0 && indexer.top_k < attended_length(); }
  /// Width of the query or key of a head, and of its value.
  [[nodiscard]] std::int64_t query_dim() const {
    return latent() ? latent_attention.nope_dim + latent_attention.rope_dim : head_dim;
  }
  [[nodiscard]] std::int64_t value_dim() const { return latent() ? latent_attention.value_dim : head_dim; }
  /// Returns true if a window leaves any tokens out.
  [[nodiscard]] bool slides() const { return window > 0 && window < attended_length(); }
  /// Returns true if tokens of the layer attend only to those of a window.
  [[nodiscard]] bool windowed(std::int64_t layer) const {
    if (!slides()) return false;
    if (!layer_pattern.empty()) return run_of(layer).attention == LayerAttention::window;
    return window_pattern == 0 || (layer + 1) % window_pattern != 0;
  }
  [[nodiscard]] std::int64_t windowed_layers() const {
    if (!slides()) return 0;
    if (!layer_pattern.empty()) return count([this](std::int64_t layer) { return windowed(layer); });
    return window_pattern == 0 ? layers : layers - layers / window_pattern;
  }
  [[nodiscard]] bool has_experts(std::int64_t layer) const {
    if (!layer_pattern.empty()) return run_of(layer).mlp == LayerMlp::experts;
    return experts > 0 && layer >= dense_layers && (layer - dense_layers + 1) % moe_layer_frequency == 0;
  }
  [[nodiscard]] std::int64_t moe_layers() const {
    if (!layer_pattern.empty()) return count([this](std::int64_t layer) { return has_experts(layer); });
    return experts > 0 ? (layers - dense_layers) / moe_layer_frequency : 0;
  }
  /// Returns the number of all layers; those of an encoder come first.
  [[nodiscard]] std::int64_t all_layers() const { return encoder_layers + layers; }
  /// Returns the content of one of all_layers().
  [[nodiscard]] LayerContent layer(std::int64_t index) const {
    LayerContent content{LayerAttention::full, LayerMlp::dense, heads, kv_heads, ffn_hidden, false, false};
    if (encoder_layers > 0) {
      (index < encoder_layers ? content.encodes : content.crosses) = true;
      return content;
    }
    if (!layer_pattern.empty()) content = run_of(index).content();
    if (content.attends())
      content.attention = windowed(index) ? LayerAttention::window : LayerAttention::full;
    if (has_experts(index)) content.mlp = LayerMlp::experts;
    return content;
  }
  /// The run of layer_pattern that a layer is in.
  [[nodiscard]] const LayerRun& run_of(std::int64_t layer) const {
    std::int64_t all = 0;
    for (const LayerRun& run : layer_pattern) all += run.layers;
    std::int64_t left = layer % all;
    std::size_t at = 0;
    while (left >= layer_pattern[at].layers) left -= layer_pattern[at++].layers;
    return layer_pattern[at];
  }
  /// Layers that something is true of.
  template <class Is>
  [[nodiscard]] std::int64_t count(const Is& is) const {
    std::int64_t sum = 0;
    for (std::int64_t layer = 0; layer < layers; ++layer) sum += is(layer) ? 1 : 0;
    return sum;
  }
  /// Returns true if other layers than the first use the embedding too.
  [[nodiscard]] bool embeds_again() const {
    return tied_embeddings || multi_token_prediction > 0 || encoder_layers > 0;
  }
  [[nodiscard]] bool adapts(Linear which) const {
    return lora_rank > 0 && lora_targets[static_cast<std::size_t>(which)];
  }

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(name, kind, layers, hidden, ffn_hidden, heads, kv_heads, head_dim, vocab, seq_length,
                 packed_sample_length, gated_mlp, tied_embeddings, parallel_block, attention, causal, biases,
                 qkv_biases, qk_norm, post_norms, attention_output_gate, latent_attention, indexer, mamba2,
                 gated_delta_net, window, window_pattern, layer_pattern, dropout, normalization, positions,
                 max_positions, other_parameters, lora_rank, lora_targets, multi_token_prediction,
                 encoder_layers, encoder_seq_length, experts, experts_per_token, shared_experts,
                 shared_expert_gate, expert_ffn_hidden, dense_layers, moe_layer_frequency, expert_groups,
                 groups_per_token, widths, parameters, tensors, forward_gflops_per_sample,
                 activations_per_sample, convolutions, small_filter_share, head_parameters);
  }
  friend bool operator==(const Model&, const Model&) = default;
};

}  // namespace orrery
