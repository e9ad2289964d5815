// Device memory of one pipeline stage by what it holds. Read by reports; it knows no model and no plan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "orrery/units.hpp"

namespace orrery {

/// What activations belong to.
enum class ActivationKind : std::uint8_t {
  residual,  ///< the stream between layers, norms and dropout
  attention,
  mlp,
  experts,     ///< router, rows that experts work on, shared experts
  vocabulary,  ///< embedding, logits and loss
};
inline constexpr std::size_t kActivationKindCount = 5;
inline constexpr std::array<std::string_view, kActivationKindCount> kActivationKindNames{
    "residual", "attention", "mlp", "experts", "vocabulary"};

/// Bytes of activations by ActivationKind.
struct ActivationBytes {
  std::array<Bytes, kActivationKindCount> of{};

  [[nodiscard]] Bytes& operator[](ActivationKind kind) { return of[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes operator[](ActivationKind kind) const { return of[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes total() const { return std::accumulate(of.begin(), of.end(), Bytes{0}); }
  ActivationBytes& operator+=(const ActivationBytes& other) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
    return *this;
  }
  ActivationBytes& operator-=(const ActivationBytes& other) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] -= other.of[i];
    return *this;
  }
  friend bool operator==(const ActivationBytes&, const ActivationBytes&) = default;
};

}  // namespace orrery
