// Describes the parts of a transformer layer. Part of a model; it knows no plan and no hardware.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery {

/// Names how a layer mixes tokens.
enum class TokenMixer : std::uint8_t {
  attention,
  mamba2,           ///< a state space (Dao, Gu 2024, "Transformers are SSMs")
  gated_delta_net,  ///< linear attention by a gated delta rule (Yang, Kautz, Hatamizadeh 2025)
};
inline constexpr std::array<std::string_view, 3> kTokenMixerNames{"attention", "mamba2", "gated-delta-net"};

/// Widths of the layers that are Mamba-2. 0 heads: there are none.
struct Mamba2 {
  std::int64_t heads = 0;
  std::int64_t head_dim = 64;
  std::int64_t groups = 1;       ///< of heads, each with its own input and output matrix (B and C)
  std::int64_t state_dim = 128;  ///< values of the state for each value of a head
  std::int64_t conv_kernel = 4;  ///< tokens that the short convolution sees
  std::int64_t chunk = 256;      ///< tokens that meet as in attention; chunks meet through the state

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(heads, head_dim, groups, state_dim, conv_kernel, chunk);
  }
  friend bool operator==(const Mamba2&, const Mamba2&) = default;
};

/// Widths of the layers that are gated delta nets. 0 heads: there are none.
struct GatedDeltaNet {
  std::int64_t key_heads = 0;    ///< of queries and of keys
  std::int64_t value_heads = 0;  ///< a multiple of those; each has a state
  std::int64_t key_dim = 128;
  std::int64_t value_dim = 128;
  std::int64_t conv_kernel = 4;  ///< tokens that the short convolution sees

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(key_heads, value_heads, key_dim, value_dim, conv_kernel);
  }
  friend bool operator==(const GatedDeltaNet&, const GatedDeltaNet&) = default;
};

/// Names the tokens that a token of a layer attends to.
enum class LayerAttention : std::uint8_t { full, window, none };
inline constexpr std::array<std::string_view, 3> kLayerAttentionNames{"full", "window", "none"};

enum class LayerMlp : std::uint8_t { dense, experts, none };
inline constexpr std::array<std::string_view, 3> kLayerMlpNames{"dense", "experts", "none"};

/// Holds the properties in which layers of a model differ.
struct LayerContent {
  LayerAttention attention = LayerAttention::full;
  LayerMlp mlp = LayerMlp::dense;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t ffn_hidden = 0;
  bool encodes = false;  ///< in an encoder, whose tokens attend to those behind them too
  bool crosses = false;  ///< in a decoder, attends to the encoder's output as well
  TokenMixer mixer = TokenMixer::attention;

  /// Returns true if the layer mixes tokens in a state of fixed size, without attention.
  [[nodiscard]] bool recurs() const { return mixer != TokenMixer::attention; }
  /// Returns true if the layer mixes tokens; otherwise it is only an MLP or experts.
  [[nodiscard]] bool mixes() const { return attends() || recurs(); }
  [[nodiscard]] bool attends() const { return attention != LayerAttention::none; }
  [[nodiscard]] bool windowed() const { return attention == LayerAttention::window; }
  [[nodiscard]] bool has_experts() const { return mlp == LayerMlp::experts; }
  friend bool operator==(const LayerContent&, const LayerContent&) = default;
};

/// Layers in a row that are alike.
struct LayerRun {
  std::int64_t layers = 1;
  LayerAttention attention = LayerAttention::full;
  LayerMlp mlp = LayerMlp::dense;
  std::int64_t heads = 0;  ///< where none are given, those of the model
  std::int64_t kv_heads = 0;
  std::int64_t ffn_hidden = 0;
  TokenMixer mixer = TokenMixer::attention;

  [[nodiscard]] LayerContent content() const {
    return {attention, mlp, heads, kv_heads, ffn_hidden, false, false, mixer};
  }
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(layers, attention, mlp, heads, kv_heads, ffn_hidden, mixer);
  }
  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

}  // namespace orrery
