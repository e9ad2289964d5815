// Builds a JSON value from parser events and guards against hostile documents: depth, number of
// values, duplicate keys. Both parsers (JSON and YAML) drive it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "config/text/json.hpp"

namespace orrery {

inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxValues = 2'000'000;
inline constexpr std::size_t kNoOffset = static_cast<std::size_t>(-1);

/// A document that cannot be read, thrown by the parsers. Where `offset` (bytes) is unknown, the last
/// occurrence of the key at `pointer` is meant.
struct DocumentError {
  std::size_t offset = kNoOffset;
  std::string pointer;
  std::string message;
};

class TreeBuilder {
 public:
  void value(Json&& scalar) { place(std::move(scalar)); }
  void begin(Json::value_t type);
  void end() { open_.pop_back(); }
  /// Names the next value of the open object.
  void key(std::string name);

  /// Pointer of the value placed or opened last.
  [[nodiscard]] std::string pointer() const;
  [[nodiscard]] Json take() { return std::move(root_); }

 private:
  struct Level {
    Json* node;
    const std::string* key;  ///< of the value placed last; owned by the object
    Json* slot;              ///< where the next value of an object goes
  };

  Json* place(Json&& value);

  Json root_;
  std::vector<Level> open_;
  std::size_t count_ = 0;
};

}  // namespace orrery
