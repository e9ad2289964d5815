// Lists of layers as frameworks write them: expressions in Python, letters of hybrids, layouts of pipelines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/json.hpp"

namespace orrery::importers::frameworks {

inline constexpr std::int64_t kMostLayers = 100'000;

/// Returns the value of an expression of lists of whole numbers: [0]*3+[1]*58, ([1]+[0])*4, (0, 1).
/// Empty where it is none, or longer than kMostLayers.
[[nodiscard]] std::vector<std::int64_t> python_list(std::string_view text);

/// Returns a 1 for each layer with experts: of n, every n-th one from the first on; of a list or an
/// expression, what it says. Empty where it is neither.
[[nodiscard]] std::vector<std::int64_t> layers_with_experts(const Json& value, std::int64_t layers);

/// `dense` leading layers, then of each `frequency` ones the last has experts.
struct RegularLayers {
  std::int64_t dense = 0;
  std::int64_t frequency = 1;
};
[[nodiscard]] std::optional<RegularLayers> regular_layers(const std::vector<std::int64_t>& list);
/// Returns the list as entries of model.layer_pattern.
[[nodiscard]] Json pattern_of(const std::vector<std::int64_t>& list);

/// A pattern such as M-M*|ME/*E: stages between bars, then the layers of each further token.
struct HybridPattern {
  std::string letters;  ///< "" where there is anything else in it
  std::vector<std::int64_t> stage_layers;
  std::size_t stages = 1;
  std::int64_t further = 0;
};
[[nodiscard]] HybridPattern hybrid_pattern(std::string_view text);

/// Layers of each stage of a layout such as Et*2|(tt|)*5t|tmL. Empty where it cannot be read.
[[nodiscard]] std::vector<std::int64_t> layout_layers(std::string_view layout);

}  // namespace orrery::importers::frameworks
