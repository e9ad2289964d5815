// Finds the positions in a text of the values and keys at some JSON pointers.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "config/text/tree_builder.hpp"

namespace orrery {

struct TokenOffsets {
  std::size_t key = kNoOffset;
  std::size_t value = kNoOffset;
};

/// The keys are the pointers wanted; a walk over the text fills in the offsets, later ones winning.
class PositionTable {
 public:
  void want(const std::string& pointer) { offsets_.try_emplace(pointer); }
  void key_at(const std::string& pointer, std::size_t offset) {
    if (const auto found = offsets_.find(pointer); found != offsets_.end()) found->second.key = offset;
  }
  void value_at(const std::string& pointer, std::size_t offset) {
    if (const auto found = offsets_.find(pointer); found != offsets_.end()) found->second.value = offset;
  }
  [[nodiscard]] TokenOffsets at(const std::string& pointer) const {
    const auto found = offsets_.find(pointer);
    return found == offsets_.end() ? TokenOffsets{} : found->second;
  }

 private:
  std::unordered_map<std::string, TokenOffsets> offsets_;
};

}  // namespace orrery
