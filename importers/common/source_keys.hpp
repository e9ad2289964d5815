// Keys and values as a file of a user has them, each with its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/text/json.hpp"
#include "importers/common/source_file.hpp"

namespace orrery::importers {

struct SourceKey {
  std::string key;  ///< as the file calls it; keys of nested objects are joined by dots
  Json value;       ///< a scalar or a list; an object only where it is empty or stands in a list
  FilePlace place;
};

/// All keys of a file, in the order of the file. A key that is given again stands twice.
class SourceKeys {
 public:
  SourceKeys() = default;
  /// Reads JSON or YAML. @throws InputError with file, line and column where it is neither, or no object
  explicit SourceKeys(const SourceFile& file);

  void add(SourceKey key) { list_.push_back(std::move(key)); }
  /// Returns the last key of `key`, which is the one that counts; null where there is none.
  [[nodiscard]] const SourceKey* find(std::string_view key) const;
  /// Returns the value of `key`, or null of JSON where it is missing.
  [[nodiscard]] const Json& value(std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// Returns the keys that begin with `part` and a dot, without both.
  [[nodiscard]] SourceKeys below(std::string_view part) const;
  [[nodiscard]] const std::vector<SourceKey>& list() const { return list_; }

 private:
  std::vector<SourceKey> list_;
};

}  // namespace orrery::importers
