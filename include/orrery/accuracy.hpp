// Describes the accuracy that a model is trained to, and the noise of its gradients: the `accuracy` of an
// experiment. studies/converge/ turns it into numbers of steps; the simulation of a step ignores it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery {

/// Whose gradient `Accuracy::noise` is the noise of.
enum class NoiseOf : std::uint8_t {
  replica,  ///< of a replica's in one step, whatever its batch
  sample,   ///< of one sample's: a replica's is less by the root of its samples per step
};
inline constexpr std::array<std::string_view, 2> kNoiseOfNames{"replica", "sample"};

/// Describes a target in the units of convergence rates, where smoothness times the initial distance from the
/// optimum is 1.
struct Accuracy {
  double target = 0;  ///< epsilon: squared norm of the gradient, mean over the steps; 0: not asked for
  double noise = 1;   ///< sigma
  double heterogeneity =
      0;  ///< b: distance of the replicas' gradients from their mean; 0: all draw from one data set
  NoiseOf noise_of = NoiseOf::replica;

  [[nodiscard]] bool wanted() const { return target > 0; }

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(target, noise, heterogeneity, noise_of);
  }
  friend bool operator==(const Accuracy&, const Accuracy&) = default;
};

}  // namespace orrery
