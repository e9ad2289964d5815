// Tables that describe the keys of an object: name, type, unit, range, default, help. Reading, JSON
// Schema and reference pages are made from the same tables. Internal to config/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/schema/menus.hpp"

namespace orrery {

enum class FieldType : std::uint8_t {
  integer,
  number,
  flag,
  text,
  choice,  ///< one of some names
  integer_list,
  choice_list,
  nested,        ///< an object or list that has its own reader
  not_modelled,  ///< a key of the interface that nothing simulates yet
};

/// Names to choose from: fixed ones, then those of a menu. `not_modelled` are names of the interface
/// that are refused unless the menu has them.
struct Choices {
  std::span<const std::string_view> fixed;
  std::vector<std::string> Menus::*menu = nullptr;
  std::span<const std::string_view> not_modelled;

  [[nodiscard]] std::vector<std::string_view> names(const Menus& menus) const {
    std::vector<std::string_view> out(fixed.begin(), fixed.end());
    if (menu != nullptr) out.insert(out.end(), (menus.*menu).begin(), (menus.*menu).end());
    return out;
  }
  /// The index of `name` in names().
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name, const Menus& menus) const {
    const auto at = std::ranges::find(fixed, name) - fixed.begin();
    if (at < std::ssize(fixed)) return at;
    if (menu == nullptr) return std::nullopt;
    const auto more = std::ranges::find(menus.*menu, name) - (menus.*menu).begin();
    if (more == std::ssize(menus.*menu)) return std::nullopt;
    return at + more;
  }
};

struct FieldInfo {
  std::string_view name;
  FieldType type = FieldType::text;
  double minimum = 0;
  double maximum = 0;
  std::string_view unit;
  std::string_view fallback;  ///< default in words; "" where there is none
  std::string_view help;
  Choices choices;            ///< of a list of integers: names in its place
  std::string_view only_for;  ///< the model kind that has the key; "" for all
  std::string_view note;      ///< why the range is no wider, if that needs saying

  /// Returns true if models of that kind have the key. Transformers with experts have every key of a
  /// transformer.
  [[nodiscard]] bool belongs_to(std::string_view kind) const {
    return only_for.empty() || only_for == kind || kind == "moe-" + std::string(only_for);
  }
};

/// Says where a read value goes: a member, a function that takes the index of a choice, or nowhere.
template <class T>
using FieldTarget = std::variant<std::monostate, std::int64_t T::*, int T::*, double T::*, bool T::*,
                                 std::string T::*, std::vector<std::int64_t> T::*, void (*)(T&, std::size_t),
                                 void (*)(T&, const std::vector<std::size_t>&)>;

template <class T>
struct Field : FieldInfo {
  FieldTarget<T> target;

  Field only(std::string_view kind) && {
    only_for = kind;
    return std::move(*this);
  }
  /// A list that may be one of these names too, which the reader of the part knows.
  Field or_one_of(std::span<const std::string_view> names) && {
    choices.fixed = names;
    return std::move(*this);
  }
};

/// Builds the rows of one table: `help` is a phrase, `fallback` the default in words.
template <class T>
struct FieldTable {
  using Info = FieldInfo;
  static Field<T> integer(std::string_view name, double minimum, double maximum, FieldTarget<T> target,
                          std::string_view fallback, std::string_view help) {
    return {Info{name, FieldType::integer, minimum, maximum, "", fallback, help, {}, "", ""}, target};
  }
  static Field<T> number(std::string_view name, std::string_view unit, double minimum, double maximum,
                         double T::*target, std::string_view fallback, std::string_view help) {
    return {Info{name, FieldType::number, minimum, maximum, unit, fallback, help, {}, "", ""}, target};
  }
  static Field<T> flag(std::string_view name, bool T::*target, std::string_view fallback,
                       std::string_view help) {
    return {Info{name, FieldType::flag, 0, 0, "", fallback, help, {}, "", ""}, target};
  }
  static Field<T> text(std::string_view name, FieldTarget<T> target, std::string_view help) {
    return {Info{name, FieldType::text, 0, 0, "", "", help, {}, "", ""}, target};
  }
  static Field<T> choice(std::string_view name, Choices choices, FieldTarget<T> target,
                         std::string_view fallback, std::string_view help) {
    return {Info{name, FieldType::choice, 0, 0, "", fallback, help, choices, "", ""}, target};
  }
  static Field<T> integers(std::string_view name, double minimum, double maximum,
                           std::vector<std::int64_t> T::*target, std::string_view fallback,
                           std::string_view help) {
    return {Info{name, FieldType::integer_list, minimum, maximum, "", fallback, help, {}, "", ""}, target};
  }
  static Field<T> choices(std::string_view name, Choices choices, FieldTarget<T> target,
                          std::string_view fallback, std::string_view help) {
    return {Info{name, FieldType::choice_list, 0, 0, "", fallback, help, choices, "", ""}, target};
  }
  static Field<T> nested(std::string_view name, std::string_view help) {
    return {Info{name, FieldType::nested, 0, 0, "", "", help, {}, "", ""}, std::monostate{}};
  }
  static Field<T> not_modelled(std::string_view name, std::string_view note) {
    return {Info{name, FieldType::not_modelled, 0, 0, "", "", "not modelled yet", {}, "", note},
            std::monostate{}};
  }
};

/// The row called `name`; the table has it.
template <class T>
const Field<T>& field_named(const std::vector<Field<T>>& fields, std::string_view name) {
  for (const Field<T>& field : fields) {
    if (field.name == name) return field;
  }
  return fields.front();
}

/// Returns the range or the names that `field` allows, in words.
std::string allowed(const FieldInfo& field, const Menus& menus);

}  // namespace orrery
