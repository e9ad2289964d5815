#include "importers/frameworks/python_value.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace orrery::importers::frameworks {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A list of scalars; the text as it is where there is more in it.
Json list_in(std::string_view text) {
  Json list = Json::array();
  for (std::string_view rest = text.substr(1, text.size() - 2); !trimmed(rest).empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view element = trimmed(rest.substr(0, comma));
    if (element.find_first_of("[({") != std::string_view::npos) return text;
    list.push_back(python_value(element));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return list;
}

}  // namespace

Json word_value(std::string_view word) {
  const std::string_view text = trimmed(word);
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  if (const auto whole = number_in<std::int64_t>(text)) return *whole;
  if (const auto number = number_in<double>(text); number && std::isfinite(*number)) return *number;
  return text;
}

Json python_value(std::string_view whole) {
  const std::string_view text = trimmed(whole);
  if (text.empty() || text == "None") return nullptr;
  const bool quoted =
      text.size() > 1 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  if (quoted) return text.substr(1, text.size() - 2);
  const bool list = text.size() > 1 && text.front() == '[' && text.back() == ']';
  return list ? list_in(text) : word_value(text);
}

}  // namespace orrery::importers::frameworks
