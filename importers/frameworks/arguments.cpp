#include "importers/frameworks/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "config/text/wording.hpp"
#include "importers/common/text_lines.hpp"

namespace orrery::importers::frameworks {
LaunchArgument respelled(const SourceKey& key, const std::string& name, const Spelling* first,
                         std::size_t count) {
  const Spelling* found =
      std::find_if(first, first + count, [&](const Spelling& s) { return s.theirs == name; });
  if (found == first + count) return {name, key.value, key};
  Json value = key.value;
  if (found->negated)
    if (const auto flag = flag_of(value)) value = !*flag;
  return {std::string(found->name), std::move(value), key};
}

void LaunchArguments::add(LaunchArgument argument) {
  const auto [known, fresh] = last_.emplace(argument.name, list_.size());
  if (!fresh) {
    const LaunchArgument& before = list_[known->second];
    draft_.ignore(before.source, fmt::format("given again at {}",
                                             argument.source.place.text_within(before.source.place.file)));
    known->second = list_.size();
  }
  list_.push_back(std::move(argument));
}

const LaunchArgument* LaunchArguments::find(std::string_view name) const {
  const auto found = last_.find(name);
  return found == last_.end() ? nullptr : &list_[found->second];
}

const LaunchArgument* LaunchArguments::take(std::string_view name, std::string_view ours) {
  const LaunchArgument* argument = find(name);
  if (argument == nullptr) return nullptr;
  if (argument->value.is_null()) {
    if (answer(name)) draft_.ignore(argument->source, "no value");
    return nullptr;
  }
  const std::string variable = unresolved_variable(argument->value);
  if (variable.empty()) return argument;
  if (!answer(name)) return nullptr;
  if (!ours.empty() && draft_.stated(ours))
    draft_.ignore(argument->source, fmt::format("{} has no value here; {} is given", variable, ours));
  else if (ours.empty())
    draft_.lack(argument->source, fmt::format("{} has no value: --set {}=VALUE", variable, variable));
  else
    draft_.lack(argument->source,
                fmt::format("{} has no value: --set {}=VALUE, or --set {}=VALUE", variable, variable, ours));
  return nullptr;
}

std::optional<std::int64_t> LaunchArguments::take_count(std::string_view name, std::int64_t least) {
  const LaunchArgument* argument = take(name);
  if (argument == nullptr) return std::nullopt;
  const auto number = whole_number(argument->value);
  if (number && *number >= least) return number;
  if (answer(name))
    draft_.contradict(argument->source, fmt::format("found {}, allowed a whole number from {} on",
                                                    described(argument->value), least));
  return std::nullopt;
}

std::optional<bool> LaunchArguments::take_flag(std::string_view name) {
  const LaunchArgument* argument = take(name);
  if (argument == nullptr) return std::nullopt;
  if (const auto flag = flag_of(argument->value)) return flag;
  if (answer(name))
    draft_.contradict(argument->source,
                      fmt::format("found {}, allowed true or false", described(argument->value)));
  return std::nullopt;
}

std::string LaunchArguments::take_text(std::string_view name) {
  const LaunchArgument* argument = take(name);
  return argument == nullptr ? "" : small(text_of(argument->value));
}

void LaunchArguments::map(std::string_view name, std::string_view ours) {
  if (const LaunchArgument* argument = take(name, ours)) became(name, ours, argument->value);
}

void LaunchArguments::map_count(std::string_view name, std::string_view ours, std::int64_t least) {
  if (take(name, ours) == nullptr) return;
  if (const auto number = take_count(name, least)) became(name, ours, *number);
}

void LaunchArguments::map_flag(std::string_view name, std::string_view ours) {
  if (take(name, ours) == nullptr) return;
  if (const auto flag = take_flag(name)) became(name, ours, *flag);
}

void LaunchArguments::became(std::string_view name, std::string_view ours, Json value, std::string note) {
  if (const LaunchArgument* argument = find(name)) {
    answer(name);
    const ImportItem* before = draft_.origin(ours);
    const bool told = before != nullptr && before->key == argument->source.key &&
                      before->fate == Fate::mapped && before->place.file == argument->source.place.file &&
                      before->place.line == argument->source.place.line;
    if (told) return;
    draft_.map(argument->source, ours, std::move(value), std::move(note));
  }
}

void LaunchArguments::ignore(std::string_view name, std::string_view reason) {
  const LaunchArgument* argument = find(name);
  if (argument == nullptr || !answer(name)) return;
  draft_.ignore(argument->source, argument->value.is_null() ? "no value" : std::string(reason));
}

void LaunchArguments::refuse(std::string_view name, std::string_view what, std::string_view nearest) {
  const LaunchArgument* argument = find(name);
  if (argument == nullptr || !answer(name)) return;
  if (context_.options.approximate)
    draft_.ignore(argument->source, fmt::format("approximated: {}; {}", what, nearest));
  else
    draft_.lack(argument->source, fmt::format("{}; --approximate takes the nearest: {}", what, nearest));
}

void LaunchArguments::rest(std::string_view (*reason_of)(std::string_view name)) {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const LaunchArgument& argument = list_[i];
    if (last_.find(argument.name)->second != i || !answer(argument.name)) continue;
    const std::string_view reason = argument.value.is_null() ? "no value" : reason_of(argument.name);
    draft_.ignore(argument.source, reason.empty() ? "Orrery does not know this key" : std::string(reason));
  }
}

}  // namespace orrery::importers::frameworks
