#include "importers/common/values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "importers/common/text_lines.hpp"

namespace orrery::importers {
namespace {

constexpr double kLargestWhole = 9e15;  ///< beyond it, a double holds no whole number exactly

std::optional<std::int64_t> whole_number_in(std::string text) {
  std::erase(text, '_');
  const auto number = number_of(text);
  return number ? whole_number(Json(*number)) : std::nullopt;
}

bool begins_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.is_number_integer()) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
      return std::nullopt;
    return value.get<std::int64_t>();
  }
  if (value.is_string()) return whole_number_in(value.get<std::string>());
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!(std::abs(number) <= kLargestWhole) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<bool> flag_of(const Json& value) {
  constexpr std::array<std::string_view, 5> kOn{"true", "yes", "on", "1", "y"};
  constexpr std::array<std::string_view, 5> kOff{"false", "no", "off", "0", "n"};
  if (value.is_boolean()) return value.get<bool>();
  const std::string text = small(text_of(value));
  if (std::ranges::find(kOn, text) != kOn.end()) return true;
  if (std::ranges::find(kOff, text) != kOff.end()) return false;
  return std::nullopt;
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "" : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string unresolved_variable(const Json& value) {
  if (value.is_array()) {
    for (const Json& element : value)
      if (const std::string name = unresolved_variable(element); !name.empty()) return name;
    return "";
  }
  if (!value.is_string()) return "";
  const std::string& text = value.get_ref<const std::string&>();
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
    std::size_t begin = at + 1;
    if (begin < text.size() && (text[begin] == '(' || text[begin] == '`'))
      return "$" + text.substr(begin, 40);
    if (begin < text.size() && text[begin] == '{') ++begin;
    std::size_t end = begin;
    while (end < text.size() && (begins_name(text[end]) || text[end] == '.')) ++end;
    if (end > begin) return text.substr(begin, end - begin);
  }
  return "";
}

}  // namespace orrery::importers
