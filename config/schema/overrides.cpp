#include "config/schema/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "config/schema/aliases.hpp"
#include "config/schema/experiment_keys.hpp"
#include "config/text/findings.hpp"
#include "config/text/tree_builder.hpp"
#include "config/text/wording.hpp"
#include "config/text/yaml_text.hpp"

namespace orrery {
namespace {

/// Which bracket or quote of a list or mapping has no partner, in words; "" if all have.
std::string open_bracket(std::string_view text) {
  if (!text.starts_with('[') && !text.starts_with('{')) return "";
  std::string open;
  char quoted = 0;
  for (const char c : text) {
    if (quoted != 0) {
      if (c == quoted) quoted = 0;
    } else if (c == '"' || c == '\'') {
      quoted = c;
    } else if (c == '[' || c == '{') {
      open += c;
    } else if (c == ']' || c == '}') {
      const char partner = c == ']' ? '[' : '{';
      if (open.empty() || open.back() != partner) return fmt::format("a '{}' closes nothing", c);
      open.pop_back();
    }
  }
  if (quoted != 0) return "a quote is left open";
  return open.empty() ? "" : fmt::format("a '{}' is left open", open.back());
}

Json parse_value(std::string_view text) {
  if (first_invalid_utf8(text) != std::string_view::npos) {
    throw OverrideError{"", "the value " + quote(text) + " is not UTF-8"};
  }
  if (text.empty()) return "";
  if (const std::string wrong = open_bracket(text); !wrong.empty())
    throw OverrideError{"", "the value " + quote(text) + " cannot be read: " + wrong};
  const bool plain = text.find_first_of(":#,[]{}&*!|>'\"%@`\\ \t\r\n-?") == std::string_view::npos;
  if (plain) return plain_scalar(text);
  try {
    return parse_yaml(text);
  } catch (const DocumentError& error) {
    throw OverrideError{"", "the value " + quote(text) + " cannot be read: " + error.message};
  }
}

/// The key under which a name turns into an object, "" where a name is just text.
std::string_view name_key(std::string_view pointer) {
  if (pointer == "/model" || pointer == "/cluster" || pointer == "/cluster/gpu") return "base";
  if (pointer == "/cluster/node" || pointer == "/cluster/fabric") return "kind";
  return "";
}

Json& element(Json& list, std::string_view key, const std::string& pointer) {
  std::size_t index = 0;
  const auto end = key.data() + key.size();
  const auto result = std::from_chars(key.data(), end, index);
  if (result.ec != std::errc() || result.ptr != end || index >= list.size()) {
    throw OverrideError{pointer, fmt::format("found index {}, allowed 0 to {}", quote(key),
                                             static_cast<std::int64_t>(list.size()) - 1)};
  }
  return list[index];
}

/// An entry of a list that the document does not have has no place.
void refuse_index_of_nothing(const Json& document, const std::vector<std::string_view>& parts) {
  const Json* at = &document;
  std::string pointer;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (at != nullptr && (at->is_string() || at->is_array())) return;
    const bool goes_on = at != nullptr && at->is_object() && at->contains(parts[i]);
    at = goes_on ? &*at->find(parts[i]) : nullptr;
    pointer += "/" + pointer_token(parts[i]);
    const bool is_index = parts[i + 1].find_first_not_of("0123456789") == std::string_view::npos;
    if (at != nullptr || !is_index) continue;
    throw OverrideError{pointer, fmt::format("found index {} of a list that the experiment does not give, "
                                             "allowed the whole list, such as [1, 2]",
                                             quote(parts[i + 1]))};
  }
}

/// The value at `key` of `parent`, which stands at `pointer`.
Json& child(Json& parent, std::string_view key, const std::string& pointer) {
  const std::string_view wrap = name_key(pointer);
  if (parent.is_string() && !wrap.empty()) {
    Json object = Json::object();
    object[std::string(wrap)] = parent;
    parent = std::move(object);
  }
  if (parent.is_null()) parent = Json::object();
  if (parent.is_array()) return element(parent, key, pointer);
  if (!parent.is_object()) {
    throw OverrideError{pointer, fmt::format("found {}, which has no key {}", described(parent), quote(key))};
  }
  return parent[std::string(key)];
}

std::vector<std::string_view> keys_of(std::string_view path) {
  std::vector<std::string_view> keys;
  keys.reserve(4);  // there are rarely more
  const std::string_view whole = path;
  for (bool more = true; more;) {
    const auto dot = path.find('.');
    keys.push_back(path.substr(0, dot));
    more = dot != std::string_view::npos;
    if (more) path.remove_prefix(dot + 1);
    if (keys.back().empty() || keys.size() > kMaxDepth ||
        first_invalid_utf8(keys.back()) != std::string_view::npos) {
      throw OverrideError{"", "found key " + quote(whole) + ", allowed names with dots between them"};
    }
  }
  return keys;
}

/// Takes the value at the dotted `key` away, where there is one; returns its pointer.
std::string unset_key(Json& document, std::string_view key) {
  const std::vector<std::string>& known = experiment_keys();
  if (std::ranges::find(known, key) == known.end())
    throw OverrideError{"", fmt::format("found {}, which null cannot unset: allowed a key of an experiment{}",
                                        quote(key), hint(key, views(known)))};
  Json* parent = &document;
  std::string pointer;
  const std::vector<std::string_view> parts = keys_of(key);
  for (std::size_t i = 0; i + 1 < parts.size() && parent != nullptr; ++i) {
    const auto found = parent->find(parts[i]);  // the end where the parent is no object
    parent = found == parent->end() ? nullptr : &*found;
  }
  for (const std::string_view part : parts) pointer += "/" + pointer_token(part);
  if (parent != nullptr && parent->is_object()) parent->erase(std::string(parts.back()));
  return pointer;
}

std::string apply_override(Json& document, std::string_view override) {
  const auto equals = override.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw OverrideError{"", "found " + quote(override) + ", allowed KEY=VALUE"};
  }
  const std::string key = full_key(override.substr(0, equals));
  Json value = parse_value(override.substr(equals + 1));
  return value.is_null() ? unset_key(document, key) : set_key(document, key, std::move(value));
}

}  // namespace

std::string set_key(Json& document, std::string_view key, Json value) {
  Json* node = &document;
  std::string pointer;
  const std::vector<std::string_view> parts = keys_of(key);
  refuse_index_of_nothing(document, parts);
  for (const std::string_view part : parts) {
    node = &child(*node, part, pointer);
    pointer += "/" + pointer_token(part);
  }
  *node = std::move(value);
  return pointer;
}

std::vector<std::string> apply_overrides(Json& document, const std::vector<std::string>& overrides,
                                         std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> pointers;
  for (const std::string& override : overrides) {
    try {
      pointers.push_back(apply_override(document, override));
    } catch (const OverrideError& error) {
      diagnostics.push_back({kCommandLine, 0, 0, error.pointer, error.message});
    }
  }
  return pointers;
}

}  // namespace orrery
