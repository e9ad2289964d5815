// Counts the layers of a model that are alike.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/model.hpp"

namespace orrery {

struct LayerCount {
  LayerContent content;
  std::int64_t layers = 0;
};

/// Layers with the same attention; their MLPs may differ. With those of multi-token prediction, which are as
/// the last one.
[[nodiscard]] std::vector<LayerCount> layers_by_attention(const Model& model);
/// Counts layers by their MLP.
[[nodiscard]] std::vector<LayerCount> layers_by_mlp(const Model& model);

}  // namespace orrery
