// The passes that a pipeline schedule puts in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace orrery {

/// A backward pass runs as a whole, or its gradients of inputs and of weights are passes of their own.
enum class PassKind : std::uint8_t { forward, backward, backward_input, backward_weight };
inline constexpr std::size_t kPassKindCount = 4;

/// Whether its result goes to the stage before, or the one after.
[[nodiscard]] constexpr bool hands_on(PassKind kind) { return kind != PassKind::backward_weight; }
/// Whether the gradients of the weights are complete for its micro-batch once it has run.
[[nodiscard]] constexpr bool completes_gradients(PassKind kind) {
  return kind == PassKind::backward || kind == PassKind::backward_weight;
}

inline constexpr std::array<PassKind, 1> kWholeBackward{PassKind::backward};
inline constexpr std::array<PassKind, 2> kSplitBackward{PassKind::backward_input, PassKind::backward_weight};
/// The kinds of which the backward pass consists, in the order in which a micro-batch goes through them.
[[nodiscard]] constexpr std::span<const PassKind> backward_kinds(bool split) {
  return split ? std::span<const PassKind>(kSplitBackward) : std::span<const PassKind>(kWholeBackward);
}

/// One pass of one micro-batch through one model chunk of this rank.
struct Pass {
  using Kind = PassKind;
  PassKind kind = PassKind::forward;
  std::int32_t micro_batch = 0;
  std::int32_t chunk = 0;  ///< virtual stage chunk * stages + stage
};

}  // namespace orrery
