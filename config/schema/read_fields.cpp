#include "config/schema/read_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/schema/aliases.hpp"
#include "config/schema/experiment_keys.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

constexpr std::size_t kLongestText = 40'000;          // 10,000 characters
constexpr double kLargestExact = 9007199254740992.0;  // 2^53

/// The number that `text` is as people write large ones: 15T, 4M, 1.5k.
std::optional<std::int64_t> quantity(const std::string& text) {
  constexpr std::string_view kSuffixes = "kMBT";  // 1e3, 1e6, 1e9, 1e12
  if (text.size() < 2) return std::nullopt;
  const char last = text.back() == 'K' ? 'k' : text.back();
  const std::size_t power = kSuffixes.find(last);
  double number = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (power == std::string_view::npos || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  for (std::size_t i = 0; i <= power; ++i) number *= 1000;
  const double nearest = std::round(number);  // 1.1 x 1000 is not whole in binary
  if (!(std::abs(nearest) <= kLargestExact) || std::abs(number - nearest) > 1e-9 * std::abs(number))
    return std::nullopt;
  return static_cast<std::int64_t>(nearest);
}

/// The integer that `value` is, written as 8, 8.0, 8e0 or "8k".
std::optional<std::int64_t> whole(const Json& value) {
  if (value.is_string()) return quantity(value.get_ref<const std::string&>());
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(kLargestExact)) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (!(std::abs(number) <= kLargestExact) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string range(std::string_view what, const FieldInfo& field) {
  return fmt::format("{} from {} to {}{}{}", what, field.minimum, field.maximum,
                     field.unit.empty() ? "" : " ", field.unit);
}

std::string wrong(const Json& found, const FieldInfo& field, const Scope& scope) {
  return fmt::format("found {}, allowed {}", described(found), allowed(field, scope.menus));
}

/// Returns a hint at the key of an experiment that others call `key`, or at the paths of those that end with
/// it; "" if there are none or many.
std::string known_otherwise(std::string_view key) {
  if (const std::string_view ours = key_called(key); !ours.empty())
    return fmt::format("; did you mean \"{}\"?", ours);
  constexpr std::size_t kMostPaths = 3;
  const std::vector<std::string>& keys = experiment_keys();
  std::vector<std::string> paths;
  for (const std::string& known : keys) {
    const std::string_view path = known;
    if (path.size() > key.size() && path.ends_with(key) && path[path.size() - key.size() - 1] == '.')
      paths.push_back(quote(known));
  }
  if (paths.empty() || paths.size() > kMostPaths) return "";
  return fmt::format("; did you mean {}?", fmt::join(paths, " or "));
}

}  // namespace

std::string allowed(const FieldInfo& field, const Menus& menus) {
  const std::string note = field.note.empty() ? "" : fmt::format(" ({})", field.note);
  switch (field.type) {
    case FieldType::integer:
      if (field.minimum == field.maximum) return fmt::format("{}{}", field.minimum, note);
      return range("an integer", field) + note;
    case FieldType::number:
      return range("a number", field) + note;
    case FieldType::flag:
      return "true or false";
    case FieldType::text:
      return fmt::format("text of at most {} bytes", kLongestText);
    case FieldType::choice:
      return joined(field.choices.names(menus)) + note;
    case FieldType::integer_list:
      return range("a list of integers", field) +
             (field.choices.fixed.empty() ? "" : ", or " + joined(field.choices.fixed));
    case FieldType::choice_list:
      return "a list of " + joined(field.choices.names(menus));
    case FieldType::nested:
      return fmt::format("{}", field.help);
    case FieldType::not_modelled:
      return "nothing: not modelled yet";
  }
  return "";
}

void report_wrong(const Json& found, const FieldInfo& field, const Path& path, Scope& scope) {
  if (!scope.findings.has_room()) return;
  scope.findings.add(path, wrong(found, field, scope));
}

std::optional<std::int64_t> read_integer(const Json& value, const FieldInfo& field, const Path& path,
                                         Scope& scope) {
  const auto number = whole(value);
  if (number && static_cast<double>(*number) >= field.minimum &&
      static_cast<double>(*number) <= field.maximum) {
    return number;
  }
  report_wrong(value, field, path, scope);
  return std::nullopt;
}

std::optional<double> read_number(const Json& value, const FieldInfo& field, const Path& path, Scope& scope) {
  if (value.is_number()) {
    const auto number = value.get<double>();
    if (number >= field.minimum && number <= field.maximum) return number;
  }
  report_wrong(value, field, path, scope);
  return std::nullopt;
}

std::optional<bool> read_flag(const Json& value, const FieldInfo& field, const Path& path, Scope& scope) {
  if (value.is_boolean()) return value.get<bool>();
  report_wrong(value, field, path, scope);
  return std::nullopt;
}

std::optional<std::string> read_name(const Json& value, const FieldInfo& field, const Path& path,
                                     Scope& scope) {
  if (value.is_string() && value.get_ref<const std::string&>().size() <= kLongestText) {
    return value.get<std::string>();
  }
  report_wrong(value, field, path, scope);
  return std::nullopt;
}

std::optional<std::size_t> read_choice(const Json& value, const FieldInfo& field, const Path& path,
                                       Scope& scope) {
  if (!value.is_string()) {
    report_wrong(value, field, path, scope);
    return std::nullopt;
  }
  const auto& name = value.get_ref<const std::string&>();
  if (const auto found = field.choices.find(name, scope.menus)) return found;
  const auto names = field.choices.names(scope.menus);
  const auto& later = field.choices.not_modelled;
  if (std::find(later.begin(), later.end(), name) != later.end()) {
    scope.findings.add_not_modelled(path, not_modelled_yet(name, names));
  } else {
    scope.findings.add(
        path, fmt::format("found {}, allowed one of {}{}", quote(name), joined(names), hint(name, names)));
  }
  return std::nullopt;
}

bool expect_object(const Json& value, const Path& path, Scope& scope) {
  if (value.is_object()) return true;
  scope.findings.add(path, fmt::format("found {}, allowed an object", described(value)));
  return false;
}

void report_unknown_key(std::string_view key, const std::vector<std::string_view>& known, const Path& path,
                        Scope& scope) {
  if (!scope.findings.has_room()) return;
  const std::string elsewhere = known_otherwise(key);
  scope.findings.add(
      path,
      fmt::format("found unknown key {}{}", quote(key),
                  elsewhere.empty() ? names_allowed(key, "", known, "orrery schema") : elsewhere),
      Anchor::key);
}

void report_not_modelled(const FieldInfo& field, const Path& path, Scope& scope) {
  scope.findings.add_not_modelled(
      path,
      fmt::format("found key {}, which the interface knows but Orrery does not model yet{}{}",
                  quote(field.name), field.note.empty() ? "" : ": ", field.note),
      Anchor::key);
}

void report_missing(const FieldInfo& field, std::string_view why, const Path& path, Scope& scope) {
  scope.findings.add(path, fmt::format("missing; {} needs it: {}{}{}", why, allowed(field, scope.menus),
                                       field.type == FieldType::nested ? "" : ", ",
                                       field.type == FieldType::nested ? "" : field.help));
}

}  // namespace orrery
