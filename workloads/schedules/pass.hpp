// Describes the passes that a pipeline schedule puts in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace orrery {

/// A backward pass runs as a whole, or its gradients of inputs and of weights are passes of their own.
enum class PassKind : std::uint8_t { forward, backward, backward_input, backward_weight };
inline constexpr std::size_t kPassKindCount = 4;

/// Returns true if the result of a pass is sent to the previous or the next stage.
[[nodiscard]] constexpr bool hands_on(PassKind kind) { return kind != PassKind::backward_weight; }
/// Returns true if a pass completes the weight gradients of its micro-batch.
[[nodiscard]] constexpr bool completes_gradients(PassKind kind) {
  return kind == PassKind::backward || kind == PassKind::backward_weight;
}

/// Says how a schedule runs backward passes: whole, in two halves, or some whole and some in halves.
enum class BackwardSplit : std::uint8_t { whole, halves, some };

inline constexpr std::array<PassKind, 3> kBackwardKinds{PassKind::backward, PassKind::backward_input,
                                                        PassKind::backward_weight};
/// The kinds of backward passes, in the order in which a micro-batch goes through them.
[[nodiscard]] constexpr std::span<const PassKind> backward_kinds(BackwardSplit split) {
  const std::span<const PassKind> all(kBackwardKinds);
  if (split == BackwardSplit::some) return all;
  return split == BackwardSplit::whole ? all.first(1) : all.last(2);
}

/// Describes one pass of one micro-batch through one model chunk of this rank.
struct Pass {
  using Kind = PassKind;
  PassKind kind = PassKind::forward;
  std::int32_t micro_batch = 0;
  std::int32_t chunk = 0;  ///< of this rank; ChunkMap says which virtual stage it is
  /// A backward pass in the steady part of a schedule may run side by side with the forward pass before it.
  /// Before the steady part, stages wait for each other's forward passes.
  bool beside_forward = false;
};

}  // namespace orrery
