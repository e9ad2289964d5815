// Reads an object by its field table and collects everything that is wrong. Internal to config/.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/schema/field.hpp"
#include "config/text/findings.hpp"
#include "config/text/json.hpp"

namespace orrery {

/// Holds the inputs of every reader: the names of other rooms and a place for findings.
struct Scope {
  const Menus& menus;
  Findings& findings;
};

/// Reads one value by its field; returns nullopt after a finding. `path` leads to the value.
std::optional<std::int64_t> read_integer(const Json& value, const FieldInfo& field, const Path& path,
                                         Scope& scope);
std::optional<double> read_number(const Json& value, const FieldInfo& field, const Path& path, Scope& scope);
std::optional<bool> read_flag(const Json& value, const FieldInfo& field, const Path& path, Scope& scope);
std::optional<std::string> read_name(const Json& value, const FieldInfo& field, const Path& path,
                                     Scope& scope);
/// Index into `field.choices.names()`.
std::optional<std::size_t> read_choice(const Json& value, const FieldInfo& field, const Path& path,
                                       Scope& scope);
/// "found X, allowed Y".
void report_wrong(const Json& value, const FieldInfo& field, const Path& path, Scope& scope);
/// False and a finding unless `value` is an object.
bool expect_object(const Json& value, const Path& path, Scope& scope);
/// A finding at the key; its text lists the known keys.
void report_unknown_key(std::string_view key, const std::vector<std::string_view>& known, const Path& path,
                        Scope& scope);
void report_not_modelled(const FieldInfo& field, const Path& path, Scope& scope);
/// A finding for a missing key.
void report_missing(const FieldInfo& field, std::string_view why, const Path& path, Scope& scope);

namespace detail {

template <class Item, class Read>
std::optional<std::vector<Item>> read_list(const Json& value, const FieldInfo& field, const Path& path,
                                           Scope& scope, Read read) {
  if (!value.is_array()) {
    report_wrong(value, field, path, scope);
    return std::nullopt;
  }
  FieldInfo element = field;
  element.type = field.type == FieldType::integer_list ? FieldType::integer : FieldType::choice;
  std::vector<Item> out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (const auto item = read(value[i], element, Path(path, i), scope)) out.push_back(*item);
  }
  if (out.size() != value.size()) return std::nullopt;
  return out;
}

template <class T, class V>
void store(T& object, const FieldTarget<T>& target, const V& value) {
  std::visit(
      [&](auto member) {
        using M = decltype(member);
        if constexpr (std::is_same_v<M, std::monostate>) {
        } else if constexpr (std::is_member_object_pointer_v<M>) {
          using Member = std::remove_reference_t<decltype(object.*member)>;
          constexpr bool narrows = std::is_same_v<Member, int> && std::is_same_v<V, std::int64_t>;
          if constexpr (narrows || std::is_same_v<Member, V>) {
            object.*member = static_cast<Member>(value);
          }
        } else if constexpr (std::is_same_v<M, void (*)(T&, V)> ||
                             std::is_same_v<M, void (*)(T&, const V&)>) {
          member(object, value);
        }
      },
      target);
}

template <class T, class V>
void store_if(T& object, const FieldTarget<T>& target, const std::optional<V>& value) {
  if (value) store(object, target, *value);
}

}  // namespace detail

template <class T>
void read_field(const Json& value, const Field<T>& field, T& object, const Path& path, Scope& scope) {
  using detail::store_if;
  switch (field.type) {
    case FieldType::integer:
      return store_if(object, field.target, read_integer(value, field, path, scope));
    case FieldType::number:
      return store_if(object, field.target, read_number(value, field, path, scope));
    case FieldType::flag:
      return store_if(object, field.target, read_flag(value, field, path, scope));
    case FieldType::text:
      return store_if(object, field.target, read_name(value, field, path, scope));
    case FieldType::choice: {
      const auto index = read_choice(value, field, path, scope);
      if (!index) return;
      if (std::holds_alternative<std::string T::*>(field.target)) {
        return detail::store(object, field.target, value.get<std::string>());
      }
      return detail::store(object, field.target, *index);
    }
    case FieldType::integer_list:
      return store_if(object, field.target,
                      detail::read_list<std::int64_t>(value, field, path, scope, read_integer));
    case FieldType::choice_list:
      return store_if(object, field.target,
                      detail::read_list<std::size_t>(value, field, path, scope, read_choice));
    case FieldType::nested:
      return;
    case FieldType::not_modelled:
      return report_not_modelled(field, path, scope);
  }
}

/// Reads every key of `value` that `fields` knows into `object` and reports the others.
template <class T>
void read_fields(const Json& value, const std::vector<Field<T>>& fields, T& object, const Path& path,
                 Scope& scope) {
  if (!expect_object(value, path, scope)) return;
  std::vector<std::string_view> names;
  for (const auto& [key, item] : value.get_ref<const Json::object_t&>()) {
    const Path here(path, key);
    const auto known = std::ranges::find_if(fields, [&key = key](const Field<T>& field) {
      return field.name.size() == key.size() && field.name.back() == key.back() && field.name == key;
    });
    if (known != fields.end()) {
      read_field(item, *known, object, here, scope);
      continue;
    }
    if (names.empty())
      for (const Field<T>& field : fields) names.push_back(field.name);
    report_unknown_key(key, names, here, scope);
  }
}

/// Reports the key `name` unless `value` has it.
template <class T>
void require(const Json& value, const std::vector<Field<T>>& fields, std::string_view name,
             std::string_view why, const Path& path, Scope& scope) {
  if (value.contains(name)) return;
  report_missing(field_named(fields, name), why, Path(path, name), scope);
}

}  // namespace orrery
