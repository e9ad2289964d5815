#include "config/text/overrides.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "config/schema/findings.hpp"
#include "config/schema/wording.hpp"
#include "config/text/tree_builder.hpp"
#include "config/text/yaml_text.hpp"

namespace orrery {
namespace {

Json parse_value(std::string_view text) {
  if (first_invalid_utf8(text) != std::string_view::npos) {
    throw OverrideError{"", "the value " + quote(text) + " is not UTF-8"};
  }
  if (text.empty()) return "";
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

std::string apply_override(Json& document, std::string_view override) {
  const auto equals = override.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw OverrideError{"", "found " + quote(override) + ", allowed KEY=VALUE"};
  }
  return set_key(document, override.substr(0, equals), parse_value(override.substr(equals + 1)));
}

}  // namespace

std::string set_key(Json& document, std::string_view key, Json value) {
  Json* node = &document;
  std::string pointer;
  for (const std::string_view part : keys_of(key)) {
    node = &child(*node, part, pointer);
    pointer += "/" + pointer_token(part);
  }
  *node = std::move(value);
  return pointer;
}

std::vector<std::string> apply_overrides(Json& document, const std::vector<std::string>& overrides,
                                         std::vector<Problem>& problems) {
  std::vector<std::string> pointers;
  for (const std::string& override : overrides) {
    try {
      pointers.push_back(apply_override(document, override));
    } catch (const OverrideError& error) {
      problems.push_back({kCommandLine, 0, 0, error.pointer, error.message});
    }
  }
  return pointers;
}

}  // namespace orrery
