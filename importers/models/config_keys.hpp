// Keys of a config.json as readers of families ask for them: by any of their spellings, each once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/source_keys.hpp"

namespace orrery::importers::models {

using Names = std::initializer_list<std::string_view>;
using Keys = std::vector<const SourceKey*>;

/// Returns an integer from 0 to 1e15; nothing for any other value.
[[nodiscard]] std::optional<std::int64_t> integer_of(const Json& value);

/// Returns the product of numbers that are not negative, at most 1e15, which no model has as many parameters
/// as.
[[nodiscard]] std::int64_t product_of(std::initializer_list<std::int64_t> factors);

class ConfigKeys {
 public:
  /// @param part  the object that describes the language model, such as text_config; "": the whole file
  ConfigKeys(const SourceKeys& all, std::string part);

  /// Returns the keys of those names that have a value, in the order of the names, and marks them as read.
  Keys take(Names names);
  /// Does the same, and looks outside the part where it has none of them.
  Keys take_outer(Names names);
  /// Returns the keys of an object of that name, inside the part or outside, and marks them as read.
  Keys take_part(std::string_view name);
  /// Returns the value of the first of the names that has one, null of JSON where there is none.
  [[nodiscard]] const Json& value(Names names) const;
  [[nodiscard]] bool has(Names names) const { return !value(names).is_null(); }
  [[nodiscard]] std::optional<std::int64_t> integer(Names names) const { return integer_of(value(names)); }
  /// Returns the value of a flag, or `otherwise` where it is none.
  [[nodiscard]] bool flag(Names names, bool otherwise) const;

  [[nodiscard]] bool is_nested() const { return !part_.empty(); }
  /// Returns the keys that nobody has read.
  [[nodiscard]] Keys left() const;
  /// Returns the name of a key within the part; "" where it stands outside.
  [[nodiscard]] std::string_view name_in_part(const SourceKey& key) const;

 private:
  [[nodiscard]] const SourceKey* find(const std::string& part, std::string_view name) const;
  Keys take_from(const std::string& part, Names names);

  const SourceKeys* all_;
  std::string part_;  ///< with a dot behind it, or ""
  std::set<const SourceKey*> read_;
};

}  // namespace orrery::importers::models
