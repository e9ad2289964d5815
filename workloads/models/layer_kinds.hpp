// Finds the layers of a model that differ, in content and in the recomputation of a plan.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

/// A layer as a plan runs it. Layers that are computed again as a whole form groups, of which only the input
/// is kept: the backward pass of the last one computes all of them again.
struct LayerKind {
  LayerContent content;
  ModuleSet recomputed;
  std::int32_t before = 0;  ///< layers of its group before it
  bool ends_group = true;
  bool receives = false;         ///< first in its stage to read the output of an encoder on another stage
  std::int32_t first_alike = 0;  ///< first layer of the first group of such layers; 0 in groups of one

  [[nodiscard]] bool recomputes_layers() const { return recomputed.has(Module::layer); }
  friend bool operator==(const LayerKind&, const LayerKind&) = default;
};

class LayerKinds {
 public:
  LayerKinds(const Model& model, const Plan& plan);

  /// Returns the kinds in order of appearance.
  [[nodiscard]] const std::vector<LayerKind>& list() const { return kinds_; }
  /// Returns, per layer, an index into list().
  [[nodiscard]] const std::vector<std::uint32_t>& of_layers() const { return of_layers_; }
  /// The layer of a depth of multi-token prediction, which is as the last one and computed again by itself.
  [[nodiscard]] LayerKind of_depth() const;
  /// The layers of its group up to it, which are itself alone where it is computed again by itself.
  [[nodiscard]] std::vector<LayerContent> group_up_to(const LayerKind& kind) const;

 private:
  void add_stage(std::size_t stage, std::int64_t from, std::int64_t to);
  void add_groups(std::int64_t from, std::int64_t to);
  void add(const LayerKind& kind);
  [[nodiscard]] bool recomputes_some() const;
  [[nodiscard]] std::int64_t recomputed_layers(std::size_t stage) const;
  [[nodiscard]] bool receives(std::int64_t layer, std::int64_t first_of_stage) const;
  [[nodiscard]] std::int32_t first_alike(std::int64_t from, std::int64_t to);

  const Model& model_;
  const Plan& plan_;
  ModuleSet recomputed_;
  std::vector<LayerKind> kinds_;
  std::vector<std::uint32_t> of_layers_;
  std::vector<std::int32_t> group_starts_;  ///< first layers of groups of different layers
};

/// The modules that layers compute again where they do.
[[nodiscard]] ModuleSet recomputed_modules(const Model& model, const Plan& plan);

/// FLOPs of one step over all GPUs spent to compute activations again. With whole layers the sum with those
/// of the model is 96 B s l h^2 (1 + s/6h + V/16lh) for a plain GPT (Narayanan et al. 2021, equation 3).
[[nodiscard]] TotalFlops recompute_flops(const Model& model, const Plan& plan, const LayerKinds& kinds);

}  // namespace orrery
