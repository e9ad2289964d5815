// A small experiment and comparisons of it.
#pragma once

#include <string>
#include <vector>

#include "config/schema/menus.hpp"
#include "sim/run/run.hpp"
#include "studies/compare/compare.hpp"
#include "studies/compare/writers.hpp"

namespace orrery::comparison_test {

/// GPT-3 125M on one node of 8 A100s: a few milliseconds to simulate.
inline constexpr const char* kSmall =
    R"({"name": "small", "model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 1},)"
    R"( "plan": {"micro_batch_size": 2}})";

inline ComparisonRequest request(const std::vector<std::string>& vary,
                                 const std::vector<std::string>& overrides = {},
                                 std::vector<ExperimentText> experiments = {{"small.json", kSmall}}) {
  static const Catalog catalog = Catalog::embedded();
  ComparisonRequest request{std::move(experiments), overrides, {}, {}, catalog, menus()};
  for (const std::string& text : vary) request.variations.push_back(parse_space_key(text));
  return request;
}

inline std::string text_of(const Comparison& comparison, std::size_t width = 200) {
  std::string text;
  write_comparison_text(comparison, width, false, [&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace orrery::comparison_test
