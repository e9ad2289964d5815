#include "importers/frameworks/template_values.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "importers/common/python_value.hpp"

namespace orrery::importers::frameworks {
namespace {

/// A reference to a variable in a text: its name, its default, and where it ends.
struct Reference {
  std::string name;
  std::string otherwise;
  bool has_default = false;
  std::size_t end = 0;
};

bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The reference at the dollar sign at `at`; its name is empty where none begins there.
Reference reference_at(std::string_view text, std::size_t at) {
  const bool braced = at + 1 < text.size() && text[at + 1] == '{';
  const std::size_t begin = at + (braced ? 2 : 1);
  std::size_t end = begin;
  while (end < text.size() && is_in_name(text[end])) ++end;
  Reference found{std::string(text.substr(begin, end - begin)), "", false, end};
  if (!braced) return found;
  const std::size_t close = text.find('}', end);
  if (close == std::string_view::npos) return {"", "", false, at + 1};
  std::string_view rest = text.substr(end, close - end);
  found.end = close + 1;
  if (rest.empty()) return found;
  if (rest.front() != ':' && rest.front() != '-') return {"", "", false, at + 1};
  rest.remove_prefix(rest.starts_with(":-") ? 2 : 1);
  found.has_default = true;
  found.otherwise = rest;
  return found;
}

std::string filled_text(const std::string& text, const ImportContext& context, const Draft& draft) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      out += text[at++];
      continue;
    }
    const Reference found = reference_at(text, at);
    const auto [value, known] =
        found.name.empty() ? std::pair<std::string, bool>{} : variable(found.name, context, draft);
    out += known               ? value
           : found.has_default ? found.otherwise
                               : text.substr(at, std::max(found.end, at + 1) - at);
    at = std::max(found.end, at + 1);
  }
  return out;
}

}  // namespace

std::pair<std::string, bool> variable(const std::string& name, const ImportContext& context,
                                      const Draft& draft) {
  if (const auto given = context.options.variables.find(name); given != context.options.variables.end())
    return {given->second, true};
  const Json& of_script = draft.value(launch::kVariable + name);
  return of_script.is_string() ? std::pair(of_script.get<std::string>(), true)
                               : std::pair(std::string(), false);
}

Json filled(const Json& value, const ImportContext& context, const Draft& draft) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& element : value) list.push_back(filled(element, context, draft));
    return list;
  }
  if (!value.is_string() || value.get_ref<const std::string&>().find('$') == std::string::npos) return value;
  const std::string text = filled_text(value.get<std::string>(), context, draft);
  if (text == "null") return nullptr;
  return word_value(text);
}

}  // namespace orrery::importers::frameworks
