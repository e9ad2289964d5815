#include "importers/models/model_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "config/text/wording.hpp"

namespace orrery::importers::models {
namespace {

/// Facts of launch have their own names; all else is a key of model.
std::string full_name(const std::string& ours) {
  return ours.starts_with("launch.") ? ours : "model." + ours;
}

}  // namespace

ModelReading::ModelReading(const Family& of, ConfigKeys& from, Draft& into, bool may_approximate)
    : family(of), keys(from), block(of.block), draft_(into), may_approximate_(may_approximate) {}

void ModelReading::set(std::string_view ours, Json value, Keys from, std::string note) {
  ModelFact& fact = facts_[std::string(ours)];
  std::ranges::copy_if(from, std::back_inserter(fact.keys), [&fact](const SourceKey* key) {
    return std::ranges::find(fact.keys, key) == fact.keys.end();
  });
  fact.value = std::move(value);
  fact.note = std::move(note);
}

void ModelReading::forget(std::string_view ours, const std::string& reason) {
  const auto found = facts_.find(std::string(ours));
  if (found == facts_.end()) return;
  ignore(found->second.keys, reason);
  facts_.erase(found);
}

bool ModelReading::set_from(std::string_view ours, Names names, std::string note) {
  Keys found = keys.take(names);
  if (found.empty()) return false;
  for (const SourceKey* other : found)
    if (other->value != found.front()->value)
      draft_.contradict(*other, fmt::format("{} at {} gives {}", found.front()->key,
                                            found.front()->place.text(), described(found.front()->value)));
  Json value = found.front()->value;
  set(ours, std::move(value), std::move(found), std::move(note));
  return true;
}

void ModelReading::set_first(std::string_view ours, Names names) {
  Keys found = keys.take(names);
  if (found.empty()) return;
  ignore({found.begin() + 1, found.end()}, fmt::format("{} decides", found.front()->key));
  set(ours, found.front()->value, {found.front()});
}

void ModelReading::rename(std::string_view from, std::string_view to, std::string note) {
  auto fact = facts_.extract(std::string(from));
  if (!fact.empty()) set(to, std::move(fact.mapped().value), std::move(fact.mapped().keys), std::move(note));
}

const Json& ModelReading::value(std::string_view ours) const {
  static const Json kNone;
  const auto found = facts_.find(std::string(ours));
  return found == facts_.end() ? kNone : found->second.value;
}

std::optional<std::int64_t> ModelReading::count(std::string_view ours) const {
  return integer_of(value(ours));
}

std::int64_t ModelReading::count_or(std::string_view ours, std::int64_t otherwise) const {
  return count(ours).value_or(otherwise);
}

void ModelReading::ignore(const Keys& idle, const std::string& reason) {
  for (const SourceKey* key : idle) draft_.ignore(*key, reason);
}

bool ModelReading::cannot(const Keys& because, const std::string& what, const std::string& nearest) {
  if (may_approximate_) {
    const std::string note = fmt::format("approximated: {}; taken is {}", what, nearest);
    if (because.empty()) draft_.default_to("launch.approximation", nearest, note);
    ignore(because, note);
    return true;
  }
  const std::string note = fmt::format("an experiment cannot say {}; --approximate takes {}", what, nearest);
  if (because.empty())
    draft_.lack("model", note);
  else
    draft_.lack(*because.front(), note);
  return false;
}

void ModelReading::add_parameters(std::int64_t number, const std::string& of) {
  if (number <= 0) return;
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  other_parameters_ = std::min(kMost, other_parameters_.get<std::int64_t>() + number);
  other_note_ += fmt::format("{}{}: {}", other_note_.empty() ? "" : ", ", of, number);
}

void ModelReading::write_mapped() {
  struct Row {
    const SourceKey* key;
    const std::string* ours;
    const ModelFact* fact;
  };
  std::vector<Row> rows;
  for (const auto& [ours, fact] : facts_)
    for (const SourceKey* key : fact.keys) rows.push_back({key, &ours, &fact});
  std::ranges::stable_sort(rows, {}, &Row::key);  // keys lie in one vector, in the order of the file
  for (const Row& row : rows) draft_.map(*row.key, full_name(*row.ours), row.fact->value, row.fact->note);
}

void ModelReading::write() {
  set("other_parameters", other_parameters_,
      other_note_.empty() ? "no parameters outside what the other keys count" : other_note_);
  write_mapped();
  for (const auto& [ours, fact] : facts_)
    if (fact.keys.empty()) draft_.default_to(full_name(ours), fact.value, fact.note);
}

}  // namespace orrery::importers::models
