// What the layers of a transformer are made of. Part of a model; it knows no plan and no hardware.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery {

/// What the tokens of a layer attend to.
enum class LayerAttention : std::uint8_t { full, window, none };
inline constexpr std::array<std::string_view, 3> kLayerAttentionNames{"full", "window", "none"};

enum class LayerMlp : std::uint8_t { dense, experts, none };
inline constexpr std::array<std::string_view, 3> kLayerMlpNames{"dense", "experts", "none"};

/// What tells layers of a model apart.
struct LayerContent {
  LayerAttention attention = LayerAttention::full;
  LayerMlp mlp = LayerMlp::dense;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t ffn_hidden = 0;
  bool encodes = false;  ///< in an encoder, whose tokens attend to those behind them too
  bool crosses = false;  ///< in a decoder, attends to what the encoder made as well

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

  [[nodiscard]] LayerContent content() const {
    return {attention, mlp, heads, kv_heads, ffn_hidden, false, false};
  }
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(layers, attention, mlp, heads, kv_heads, ffn_hidden);
  }
  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

}  // namespace orrery
