// A key of a space of experiments and the values that it takes, and the product of several of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/error.hpp"

namespace orrery {

struct SpaceKey {
  std::string key;                  ///< dotted, of an experiment
  std::vector<std::string> values;  ///< as an override has them, at least one
  bool automatic = false;           ///< all values that may fit; `values` is empty until they are found
};

/// Reads V1,V2,...: commas in brackets, braces and quotes are part of a value. A value may be a range of
/// numbers: 1..8, 0.5..2+0.5 with a step, 1..64*2 with a factor. `auto` alone stands for all that may fit.
/// @throws InputError, which names `what`, for no value, an empty one, a bracket or quote left open, or a
/// range without an end.
[[nodiscard]] SpaceKey parse_values(std::string key, std::string_view values, const std::string& what);

/// The same for KEY=V1,V2,... of the command line's option --vary.
[[nodiscard]] SpaceKey parse_space_key(std::string_view text);

/// Number of combinations of all values; 1 without keys. @throws InputError above `most`, or where a key is
/// there twice.
[[nodiscard]] std::size_t count_combinations(const std::vector<SpaceKey>& keys, std::size_t most);

/// Clears the values of keys that do nothing beside the others, as `diagnostics` say. Whether there were any,
/// and nothing else is wrong.
[[nodiscard]] bool drop_idle(const std::vector<Diagnostic>& diagnostics, const std::vector<SpaceKey>& keys,
                             std::vector<std::string>& values);

/// The overrides KEY=VALUE that `values`, one per key, stand for; "" is left out.
[[nodiscard]] std::vector<std::string> overrides_of(const std::vector<SpaceKey>& keys,
                                                    const std::vector<std::string>& values);

/// The values of one combination, one per key. The last key changes fastest.
[[nodiscard]] std::vector<std::string> combination(const std::vector<SpaceKey>& keys, std::size_t index);

}  // namespace orrery
