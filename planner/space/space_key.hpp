// Defines a key of a space of experiments and the values that it takes, and the product of several of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/error.hpp"

namespace orrery {

/// Describes all numbers from one to another.
struct Interval {
  double from = 0;
  double to = 0;
  bool whole = false;  ///< of a key that takes integers only

  /// The value at a share of the way, 0 to 1, as an override has it: by ratios where both ends are above
  /// zero, else by differences; a whole one is rounded.
  [[nodiscard]] std::string at(double share) const;
};

struct SpaceKey {
  std::string key;                  ///< dotted, of an experiment
  std::vector<std::string> values;  ///< as an override has them, at least one
  bool automatic = false;           ///< all values that may fit; `values` is empty until they are found
  std::optional<Interval>
      interval{};  ///< instead of values; a Space that allows it adds the lower end to them
};

/// Reads V1,V2,...: commas in brackets, braces and quotes are part of a value. A value may be a range of
/// numbers: 1..8, 0.5..2+0.5 with a step, 1..64*2 with a factor. `auto` alone stands for all that may fit,
/// 50~800 alone for all numbers in between.
/// @throws InputError, which names `what`, for no value, an empty one, a bracket or quote left open, a
/// range without an end, or an interval that is none or stands beside other values.
[[nodiscard]] SpaceKey parse_values(const std::string& key, std::string_view values, const std::string& what);

/// Reads KEY=V1,V2,... of the command line's option --vary.
[[nodiscard]] SpaceKey parse_space_key(std::string_view text);

/// Number of combinations of all values; 1 without keys. @throws InputError above `most`, where a key is
/// there twice, or has no values since it is automatic or an interval.
[[nodiscard]] std::size_t count_combinations(const std::vector<SpaceKey>& keys, std::size_t most);

/// Clears the values of keys that have no effect beside the others, as `diagnostics` say. Returns true if
/// there were any and no other errors.
[[nodiscard]] bool drop_idle(const std::vector<Diagnostic>& diagnostics, const std::vector<SpaceKey>& keys,
                             std::vector<std::string>& values);

/// The overrides KEY=VALUE that `values`, one per key, stand for; "" is left out.
[[nodiscard]] std::vector<std::string> overrides_of(const std::vector<SpaceKey>& keys,
                                                    const std::vector<std::string>& values);

/// The values of one combination, one per key. The last key changes fastest.
[[nodiscard]] std::vector<std::string> combination(const std::vector<SpaceKey>& keys, std::size_t index);

}  // namespace orrery
