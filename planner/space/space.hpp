// Defines a space of experiments: an experiment, keys with the values that each may take, and conditions
// between them. Its points are the product of the values; a description of one is a JSON or YAML object:
//   {"experiment": "gpt3.json", "plan.tensor_parallel": [1, 2, 4, 8], "plan.micro_batch_size": "1..16*2",
//    "plan.recompute": "auto", "where": ["plan.tensor_parallel * plan.micro_batch_size <= 32"]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "orrery/experiment.hpp"
#include "planner/space/condition.hpp"
#include "planner/space/space_key.hpp"

namespace orrery {

/// Limit on the points of a space.
inline constexpr std::uint64_t kMostPoints = 100'000'000;

/// The experiment that the points of a space are variants of.
struct BaseExperiment {
  std::string source;                    ///< the file's name, as it stands in error messages
  std::string text;                      ///< JSON or YAML
  std::vector<std::string> overrides{};  ///< KEY=VALUE for every point
};

/// Returns the base's model and cluster with its plan or, if that does not fit, the simplest one.
/// @throws InputError with what is wrong beside the plan.
[[nodiscard]] Experiment experiment_of_any_plan(const BaseExperiment& base, const Catalog& catalog,
                                                const Menus& menus);

/// Holds the content of a description without its experiment.
struct SpaceDescription {
  std::vector<SpaceKey> keys;  ///< a value written in JSON is text of JSON
  std::vector<Condition> conditions;
  std::string experiment_file;  ///< beside the description where relative; "" without
  std::string experiment_text;  ///< of one written out; "" without
};

/// @param source  names the text in problems; relative files of an experiment lie in its folder
/// @throws InputError with all errors: file, line, column, the value found and those allowed.
[[nodiscard]] SpaceDescription read_space(std::string_view text, const std::string& source);

/// Says if keys may range over an interval of numbers. The points of such a space have no index.
enum class Intervals : std::uint8_t { refused, allowed };

/// Holds a space whose keys all have values.
class Space {
 public:
  /// Finds the values of automatic keys. @throws InputError for a key that has none, an interval that is not
  /// allowed or of a key that takes no numbers, a condition on a key that is neither in the space nor of the
  /// experiment, or more than kMostPoints points.
  Space(SpaceDescription description, BaseExperiment base, Catalog catalog, Menus menus,
        Intervals intervals = Intervals::refused);

  /// Returns the size of the product of all values; an interval counts only with its lower end.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Returns true if a key is an interval.
  [[nodiscard]] bool continuous() const;
  [[nodiscard]] const std::vector<SpaceKey>& keys() const { return keys_; }
  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  [[nodiscard]] const BaseExperiment& base() const { return base_; }
  [[nodiscard]] const Catalog& catalog() const { return catalog_; }
  [[nodiscard]] const Menus& menus() const { return menus_; }

 private:
  std::vector<SpaceKey> keys_;
  std::vector<Condition> conditions_;
  BaseExperiment base_;
  Catalog catalog_;
  Menus menus_;
  std::uint64_t size_ = 1;
};

}  // namespace orrery
