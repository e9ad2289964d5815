#include "importers/common/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "config/text/wording.hpp"

namespace orrery::importers {
namespace {

constexpr std::array<std::string_view, 5> kFates{"mapped", "defaulted", "ignored", "contradictory",
                                                 "missing"};
constexpr const char* kUser = "--set";

}  // namespace

std::string_view to_string(Fate fate) { return kFates[static_cast<std::size_t>(fate)]; }

Draft::Draft(std::map<std::string, Json> settled) {
  for (auto& [key, value] : settled) {
    const std::size_t item = add({Fate::mapped, {kUser, 0}, key, described(value), key, ""});
    facts_[key] = {std::move(value), true, item};
  }
}

std::size_t Draft::add(ImportItem item) {
  items_.push_back(std::move(item));
  return items_.size() - 1;
}

void Draft::map(const SourceKey& key, std::string_view ours, Json value, std::string note) {
  ImportItem item{Fate::mapped, key.place, key.key, described(key.value), std::string(ours), std::move(note)};
  if (value != key.value) item.value = described(value);
  const auto known = facts_.find(ours);
  if (known != facts_.end() && known->second.stated) {
    ImportItem& before = items_[known->second.item];
    if (known->second.value == value && before.place.file != kUser) {
      add(std::move(item));
      return;
    }
    if (before.place.file == kUser) {
      item.fate = Fate::ignored;
      item.note = fmt::format("--set gives {}", before.found);
      add(std::move(item));
      return;
    }
    if (before.place.file != key.place.file) {
      item.fate = Fate::contradictory;
      item.note = fmt::format("{} gives {}; --set {}=VALUE decides", before.place.text(),
                              described(known->second.value), ours);
      add(std::move(item));
      return;
    }
    before.fate = Fate::ignored;
    before.note = fmt::format("{} is given again at {}", ours, key.place.text_within(before.place.file));
  }
  if (known != facts_.end() && !known->second.stated) {
    ImportItem& before = items_[known->second.item];
    before.fate = Fate::ignored;
    before.note = fmt::format("{} gives it", key.place.text());
  }
  const std::size_t at = add(std::move(item));
  facts_[std::string(ours)] = {std::move(value), true, at};
}

void Draft::default_to(std::string_view ours, Json value, std::string note) {
  if (has(ours)) return;
  const std::size_t item =
      add({Fate::defaulted, {}, "", described(value), std::string(ours), std::move(note)});
  facts_[std::string(ours)] = {std::move(value), false, item};
}

void Draft::ignore(const SourceKey& key, std::string reason) {
  add({Fate::ignored, key.place, key.key, described(key.value), "", std::move(reason)});
}

void Draft::contradict(const SourceKey& key, std::string note) {
  add({Fate::contradictory, key.place, key.key, described(key.value), "", std::move(note)});
}

void Draft::lack(const SourceKey& key, std::string note) {
  add({Fate::missing, key.place, key.key, described(key.value), "", std::move(note)});
}

void Draft::lack(const SourceKey& key, std::string_view ours, std::string note) {
  if (settled(ours)) return ignore(key, fmt::format("--set gives {}", ours));
  add({Fate::missing, key.place, key.key, described(key.value), std::string(ours), std::move(note)});
}

void Draft::lack(std::string_view ours, std::string note) {
  add({Fate::missing, {}, "", "", std::string(ours), std::move(note)});
}

void Draft::await(const SourceKey& key, std::string_view ours, std::string note) {
  const std::size_t item =
      add({Fate::missing, key.place, key.key, described(key.value), std::string(ours), std::move(note)});
  awaited_.push_back({item, std::string(ours)});
}

void Draft::settle_awaited() {
  for (const Awaited& awaited : awaited_) {
    const bool of_model = awaited.ours.starts_with("model.");
    const ImportItem* origin = this->origin(awaited.ours);
    if (origin == nullptr && of_model) origin = this->origin("model.base");
    if (origin == nullptr) continue;
    ImportItem& item = items_[awaited.item];
    item.fate = Fate::ignored;
    item.note = fmt::format("{} gives it", origin->place.file.empty() ? origin->note : origin->place.text());
  }
  awaited_.clear();
}

const Json& Draft::value(std::string_view ours) const {
  static const Json kNone;
  const auto found = facts_.find(ours);
  return found == facts_.end() ? kNone : found->second.value;
}

bool Draft::stated(std::string_view ours) const {
  const auto found = facts_.find(ours);
  return found != facts_.end() && found->second.stated;
}

const ImportItem* Draft::origin(std::string_view ours) const {
  const auto found = facts_.find(ours);
  return found == facts_.end() ? nullptr : &items_[found->second.item];
}

void Draft::adopt(const Draft& part, std::string_view owner, std::initializer_list<std::string_view> keys) {
  const auto is_taken = [&keys](std::string_view ours) {
    return std::ranges::any_of(keys, [ours](std::string_view key) { return ours.starts_with(key); });
  };
  std::map<std::size_t, std::size_t> places;
  for (std::size_t i = 0; i < part.items_.size(); ++i) {
    ImportItem item = part.items_[i];
    if (item.place.file == kUser) continue;
    if (is_taken(item.ours))
      item.ours = fmt::format("{}.{}", owner, item.ours);
    else if (item.fate == Fate::defaulted)
      continue;
    places[i] = add(std::move(item));
  }
  for (const auto& [ours, fact] : part.facts_)
    if (is_taken(ours) && places.contains(fact.item))
      facts_[fmt::format("{}.{}", owner, ours)] = {fact.value, fact.stated, places[fact.item]};
}

std::map<std::string, Json> Draft::settled_below(std::string_view owner) const {
  std::map<std::string, Json> below;
  const std::string prefix = std::string(owner) + '.';
  for (const auto& [ours, fact] : facts_)
    if (ours.starts_with(prefix) && settled(ours)) below[ours.substr(prefix.size())] = fact.value;
  return below;
}

void Draft::forget(std::string_view ours) {
  if (const auto found = facts_.find(ours); found != facts_.end()) facts_.erase(found);
}

void Draft::drop(std::string_view ours, std::string reason) {
  const auto found = facts_.find(ours);
  if (found == facts_.end()) return;
  ImportItem& item = items_[found->second.item];
  item.fate = Fate::ignored;
  item.ours.clear();
  item.note = std::move(reason);
  facts_.erase(found);
}

bool Draft::settled(std::string_view ours) const {
  const ImportItem* item = origin(ours);
  return item != nullptr && item->place.file == kUser;
}

bool Draft::stopped() const { return std::ranges::any_of(items_, &ImportItem::stops); }

}  // namespace orrery::importers
