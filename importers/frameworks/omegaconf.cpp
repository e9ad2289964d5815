#include "importers/frameworks/omegaconf.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/python_value.hpp"
#include "importers/frameworks/arguments.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr int kDeepestReference = 16;
constexpr std::size_t kMostText = 1'000'000;  ///< characters that all interpolations make

/// The end of ${...} that begins at `at`, behind its bracket; npos where it has none.
std::size_t end_of_reference(std::string_view text, std::size_t at) {
  int within = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '{') ++within;
    if (text[at] == '}' && --within == 0) return at + 1;
  }
  return std::string_view::npos;
}

/// Cuts at commas that stand in no brackets.
std::vector<std::string> operands(std::string_view text) {
  std::vector<std::string> parts{""};
  int within = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') ++within;
    if (c == '}' || c == ']') --within;
    if (c == ',' && within == 0)
      parts.emplace_back();
    else if (c != ' ' || !parts.back().empty())
      parts.back() += c;
  }
  return parts;
}

std::optional<std::int64_t> computed(std::string_view name, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (name == "multiply" || name == "mul")
    return __builtin_mul_overflow(a, b, &result) ? std::optional<std::int64_t>() : result;
  if (name == "add") return __builtin_add_overflow(a, b, &result) ? std::optional<std::int64_t>() : result;
  if (b <= 0 || a < 0) return std::nullopt;
  if (name == "divide_ceil") return a / b + (a % b != 0);
  if (name == "divide_floor" || name == "divide") return a / b;
  return std::nullopt;
}

class Interpolation {
 public:
  Interpolation(const SourceKeys& keys, const ImportContext& context) : context_(context) {
    for (const SourceKey& key : keys.list()) values_[key.key] = key.value;
  }

  Json value(const Json& value, const std::string& at, int depth) {
    if (!value.is_string() || value.get_ref<const std::string&>().find("${") == std::string::npos)
      return value;
    const std::string& text = value.get_ref<const std::string&>();
    const bool whole = text.starts_with("${") && end_of_reference(text, 1) == text.size();
    if (whole) {
      const Json found = reference(text.substr(2, text.size() - 3), at, depth);
      return found.is_discarded() ? value : found;
    }
    return within(text, at, depth);
  }

 private:
  /// A text with several interpolations.
  std::string within(const std::string& text, const std::string& at, int depth) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t end =
          text.compare(i, 2, "${") == 0 ? end_of_reference(text, i + 1) : std::string_view::npos;
      if (end == std::string_view::npos) {
        out += text[i++];
        continue;
      }
      const Json found = reference(text.substr(i + 2, end - i - 3), at, depth);
      out += found.is_discarded() ? text.substr(i, end - i) : text_of(found);
      spent_ += out.size();
      if (spent_ > kMostText) return text;
      i = end;
    }
    return out;
  }

  /// The value of what stands between the brackets; discarded where there is none.
  Json reference(const std::string& inside, const std::string& at, int depth) {
    if (depth > kDeepestReference) return Json(Json::value_t::discarded);
    const std::size_t colon = inside.find(':');
    if (colon != std::string::npos && inside.find("${") > colon)
      return resolved(inside.substr(0, colon), operands(inside.substr(colon + 1)), at, depth);
    const std::string name = absolute(inside, at);
    for (const std::string& key : {name, without_root(name)})
      if (const auto found = values_.find(key); found != values_.end())
        return value(found->second, key, depth + 1);
    const auto given = context_.options.variables.find(inside);
    return given == context_.options.variables.end() ? Json(Json::value_t::discarded)
                                                     : word_value(given->second);
  }

  Json resolved(const std::string& name, const std::vector<std::string>& parts, const std::string& at,
                int depth) {
    if (name == "oc.env" || name == "env") {
      const auto given = context_.options.variables.find(parts.front());
      if (given != context_.options.variables.end()) return word_value(given->second);
      return parts.size() > 1 ? word_value(parts[1]) : Json(Json::value_t::discarded);
    }
    if (name == "oc.select") return selected(parts, at, depth);
    std::vector<std::int64_t> numbers;
    for (const std::string& part : parts) {
      const auto number = whole_number(value(Json(part), at, depth + 1));
      if (!number) return Json(Json::value_t::discarded);
      numbers.push_back(*number);
    }
    if (numbers.size() != 2) return Json(Json::value_t::discarded);
    const auto result = computed(name, numbers[0], numbers[1]);
    return result ? Json(*result) : Json(Json::value_t::discarded);
  }

  /// The value of a key, or the text behind the comma where the key has none.
  Json selected(const std::vector<std::string>& parts, const std::string& at, int depth) {
    const auto found = values_.find(absolute(parts.front(), at));
    if (found != values_.end()) return value(found->second, found->first, depth + 1);
    return parts.size() > 1 ? word_value(parts[1]) : Json();
  }

  /// ${.name} is beside the key at `at`, ${..name} beside the part that it is in.
  static std::string absolute(const std::string& name, const std::string& at) {
    const std::size_t dots = std::min(name.find_first_not_of('.'), name.size());
    if (dots == 0) return name;
    std::string part = at;
    for (std::size_t i = 0; i < dots; ++i) {
      const std::size_t dot = part.rfind('.');
      part = dot == std::string::npos ? "" : part.substr(0, dot);
    }
    return (part.empty() ? "" : part + ".") + name.substr(dots);
  }

  /// Launchers put the file below a name of its own, such as training.
  static std::string without_root(const std::string& name) { return name.substr(name.find('.') + 1); }

  const ImportContext& context_;
  std::map<std::string, Json> values_;
  std::size_t spent_ = 0;
};

}  // namespace

SourceKeys interpolated(const SourceKeys& keys, const ImportContext& context) {
  Interpolation interpolation(keys, context);
  SourceKeys out;
  for (SourceKey key : keys.list()) {
    key.value = interpolation.value(key.value, key.key, 0);
    out.add(std::move(key));
  }
  return out;
}

}  // namespace orrery::importers::frameworks
