// Names the activations that a plan recomputes in the backward pass instead of keeping them. Read by
// workloads/models/; it knows no model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace orrery {

enum class Recompute : std::uint8_t {
  none,
  selective,  ///< the core of unfused attention (Korthikanti et al. 2022, section 5)
  full,       ///< whole layers
  modules,    ///< those of Plan::recompute_modules
};
inline constexpr std::array<std::string_view, 4> kRecomputeNames{"none", "selective", "full", "modules"};

/// Names a part of a layer that can be recomputed from its input.
enum class Module : std::uint8_t {
  layer,              ///< all of it
  norm,               ///< the norms before attention and MLP
  core_attention,     ///< scores, softmax and context
  attention,          ///< all products of attention
  latent_projection,  ///< queries, keys and values from latent vectors
  mlp,                ///< the products of a dense MLP
  activation,         ///< the function between the products of MLP or experts
  experts,            ///< router, dispatch, experts, combine and shared experts
  operations,         ///< all but attention and the first, third, ... product (TorchTitan's selective "op")
};
inline constexpr std::array<std::string_view, 9> kModuleNames{
    "layer", "norm",       "core-attention", "attention", "latent-projection",
    "mlp",   "activation", "experts",        "operations"};

class ModuleSet {
 public:
  constexpr ModuleSet() = default;
  constexpr ModuleSet(std::initializer_list<Module> modules) {
    for (const Module module : modules) add(module);
  }

  constexpr void add(Module module) { bits_ |= bit(module); }
  [[nodiscard]] constexpr bool has(Module module) const { return (bits_ & bit(module)) != 0; }
  [[nodiscard]] constexpr bool meets(ModuleSet other) const { return (bits_ & other.bits_) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  /// Visits all members, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(bits_);
  }
  friend constexpr bool operator==(ModuleSet, ModuleSet) = default;

 private:
  static constexpr std::uint32_t bit(Module module) {
    return std::uint32_t{1} << static_cast<unsigned>(module);
  }

  std::uint32_t bits_ = 0;
};

[[nodiscard]] inline std::vector<std::string_view> names_of(ModuleSet modules) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kModuleNames.size(); ++i)
    if (modules.has(static_cast<Module>(i))) names.push_back(kModuleNames[i]);
  return names;
}

/// Which layers are computed again, as Megatron-LM has it.
enum class RecomputeMethod : std::uint8_t {
  uniform,  ///< all, in groups of Plan::recompute_layers of which only the input is kept
  block,  ///< the first Plan::recompute_layers of each (virtual) stage, or as many as it has of its own, one
          ///< by one
};
inline constexpr std::array<std::string_view, 2> kRecomputeMethodNames{"uniform", "block"};

}  // namespace orrery
