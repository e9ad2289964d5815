#include "importers/common/python_value.hpp"

#include <algorithm>
#include <string>

#include "importers/common/text_lines.hpp"

namespace orrery::importers {
namespace {

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
  if (const auto whole = integer_of(text)) return *whole;
  if (const auto number = number_of(text)) return *number;
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

}  // namespace orrery::importers
