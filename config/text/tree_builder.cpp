#include "config/text/tree_builder.hpp"

#include <fmt/format.h>

#include "config/text/findings.hpp"
#include "config/text/wording.hpp"

namespace orrery {

void TreeBuilder::begin(Json::value_t type) {
  if (open_.size() >= kMaxDepth) {
    throw DocumentError{kNoOffset, pointer(), fmt::format("nested deeper than {} levels", kMaxDepth)};
  }
  Json* node = place(Json(type));
  open_.push_back({node, nullptr, nullptr});
}

void TreeBuilder::key(std::string name) {
  Level& level = open_.back();
  const auto [entry, inserted] = level.node->get_ref<Json::object_t&>().try_emplace(std::move(name));
  level.key = &entry->first;
  level.slot = &entry->second;
  if (!inserted) throw DocumentError{kNoOffset, pointer(), "duplicate key " + quote(entry->first)};
}

Json* TreeBuilder::place(Json&& value) {
  if (++count_ > kMaxValues) {
    throw DocumentError{kNoOffset, "", fmt::format("more than {} values", kMaxValues)};
  }
  if (open_.empty()) {
    root_ = std::move(value);
    return &root_;
  }
  Level& level = open_.back();
  if (level.slot == nullptr) {
    auto& list = level.node->get_ref<Json::array_t&>();
    return &list.emplace_back(std::move(value));
  }
  *level.slot = std::move(value);
  return level.slot;
}

std::string TreeBuilder::pointer() const {
  std::string out;
  for (const Level& level : open_) {
    if (level.key != nullptr) {
      out += "/" + pointer_token(*level.key);
    } else if (level.node->is_array() && !level.node->empty()) {
      out += "/" + std::to_string(level.node->size() - 1);
    }
  }
  return out;
}

}  // namespace orrery
