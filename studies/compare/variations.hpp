// Which experiments to compare: some keys, each with a list of values, and the product of the lists.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/error.hpp"

namespace orrery {

struct Variation {
  std::string key;                  ///< dotted, of an experiment
  std::vector<std::string> values;  ///< as an override has them, at least one
};

/// Reads KEY=V1,V2,...: commas in brackets, braces and quotes are part of a value.
/// @throws InputError if there is no key, no value, an empty value, or a bracket or quote left open.
[[nodiscard]] Variation parse_variation(std::string_view text);

/// Number of combinations of all values; 1 without variations. @throws InputError above `most`, or where a
/// key is varied twice.
[[nodiscard]] std::size_t count_combinations(const std::vector<Variation>& variations, std::size_t most);

/// Clears the values of varied keys that do nothing beside the others, as `diagnostics` say. Whether there
/// were any, and nothing else is wrong.
[[nodiscard]] bool drop_idle(const std::vector<Diagnostic>& diagnostics,
                             const std::vector<Variation>& variations, std::vector<std::string>& values);

/// The overrides KEY=VALUE that `values`, one per variation, stand for; "" is left out.
[[nodiscard]] std::vector<std::string> overrides_of(const std::vector<Variation>& variations,
                                                    const std::vector<std::string>& values);

/// The values of one combination, one per variation. The last variation changes fastest.
[[nodiscard]] std::vector<std::string> combination(const std::vector<Variation>& variations,
                                                   std::size_t index);

}  // namespace orrery
