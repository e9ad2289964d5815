// Reads the points of a space, one by one: an experiment, or the reason why there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orrery/content_hash.hpp"
#include "orrery/experiment.hpp"
#include "planner/space/space.hpp"

namespace orrery {

/// A point that is an experiment.
struct Point {
  std::uint64_t index = 0;          ///< in the product of all values; the last key changes fastest
  std::vector<std::string> values;  ///< one per key of the space; "" where the key does nothing
  Experiment experiment;
  ContentHash content;  ///< equal for points whose steps cannot differ: normal_form()
};

/// A point that is none.
struct Removal {
  std::uint64_t index = 0;
  std::string by;       ///< a condition of the space, or the key whose value contradicts the others
  std::string message;  ///< "" for a condition
  /// Points from this one on that the same condition removes, for values that they have in common.
  std::uint64_t alike = 1;
};

using PointOrRemoval = std::variant<Point, Removal>;

/// Reads points, most quickly neighbours. One thread at a time.
class PointReader {
 public:
  /// Keeps a reference to `space`.
  explicit PointReader(const Space& space);
  ~PointReader();
  PointReader(PointReader&&) noexcept;

  /// @throws InputError for a condition that cannot be told, such as a text compared with a number; and where
  /// the experiment itself is no text of JSON or YAML.
  [[nodiscard]] PointOrRemoval read(std::uint64_t index);
  /// Reads a point from a value per key of the space, in it or not, written as an override; its index is the
  /// number of points.
  [[nodiscard]] PointOrRemoval read(const std::vector<std::string>& values);

  /// The first condition that does not hold at a point; null where all do. @throws as read()
  [[nodiscard]] const Condition* broken_at(std::uint64_t index) const;

  /// The text of the experiment at a point, JSON.
  [[nodiscard]] std::string text_at(std::uint64_t index);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The dotted key that a JSON pointer names.
[[nodiscard]] std::string key_of(std::string_view pointer);

/// `KEY=VALUE KEY=VALUE` of those keys that do something.
[[nodiscard]] std::string words_of(const std::vector<SpaceKey>& keys, const std::vector<std::string>& values);

}  // namespace orrery
