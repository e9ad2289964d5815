#include "importers/common/shell_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "importers/common/shell_arithmetic.hpp"
#include "importers/common/values.hpp"
#include "orrery/error.hpp"

namespace orrery::importers {
namespace {

constexpr int kDeepestDefault = 16;            ///< defaults within defaults
constexpr std::size_t kMostWork = 40'000'000;  ///< characters of all values that are put in place
constexpr std::string_view kListMark = "[@]";

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string reference(const std::string& name) { return "${" + name + "}"; }

/// The end of what begins with an open bracket at `at`, behind its close.
std::size_t end_of(std::string_view text, std::size_t at, char open, char close) {
  int within = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == open) ++within;
    if (text[at] == close && --within == 0) return at + 1;
  }
  return text.size();
}

/// The first variable without a value in an expression, for a user to give.
std::string open_variable(std::string_view expression, const ShellVariables& variables) {
  for (std::size_t at = 0; at < expression.size();) {
    std::size_t end = at;
    while (end < expression.size() && in_name(expression[end])) ++end;
    const std::string name(expression.substr(at, end - at));
    const bool dollar = at > 0 && (expression[at - 1] == '$' || expression[at - 1] == '{');
    if (!name.empty() && (dollar || !is_digits(name)) && !variables.known(name)) return name;
    at = std::max(end, at + 1);
  }
  return "";
}

}  // namespace

/// Words that come out of a word.
struct ShellVariables::Expansion {
  std::vector<PlacedText> words;
  PlacedText open;
  bool begun = false;
  bool splits = true;

  void take(const PlacedText& text, bool quoted) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text.text()[i];
      if (splits && !quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
        cut();
      } else {
        open.push(c, text.offset_at(i));
        begun = true;
      }
    }
    if (quoted) begun = true;
  }
  void cut() {
    if (begun) words.push_back(std::exchange(open, {}));
    begun = false;
  }
};

ShellVariables::ShellVariables(std::map<std::string, std::string> given, std::string path)
    : path_(std::move(path)) {
  for (const auto& [name, value] : given) {
    values_[name] = {{PlacedText(value, 0)}, false};
    given_.insert(name);
  }
}

void ShellVariables::spend(std::size_t characters) {
  spent_ += characters;
  if (spent_ <= kMostWork) return;
  throw InputError(
      {Diagnostic{path_, 0, 0, "",
                  fmt::format("variables that hold each other make more than {} characters", kMostWork)}});
}

void ShellVariables::set(const std::string& name, std::vector<PlacedText> elements, bool list) {
  if (given_.contains(name)) return;
  const bool one = !list && elements.size() == 1;
  const std::string& text = one ? elements.front().text() : path_;
  const bool word = one && text.find_first_of(" \t\n") == std::string::npos;
  const bool command = one && (text.find("$(") != std::string::npos || text.find('`') != std::string::npos);
  const bool positional = word && is_digits(unresolved_variable(Json(text)));
  if (positional) positional_.insert(name);
  if (positional || (command && text.find("--") == std::string::npos))
    elements = {PlacedText(reference(name), elements.front().offset())};
  values_[name] = {std::move(elements), list};
}

void ShellVariables::add(const std::string& name, std::vector<PlacedText> elements, bool list) {
  if (given_.contains(name)) return;
  Value& value = values_[name];
  if (list || value.list) {
    value.list = true;
    value.elements.insert(value.elements.end(), elements.begin(), elements.end());
    if (value.elements.size() > kMostExpanded) spend(kMostWork);
    return;
  }
  if (value.elements.empty()) value.elements.emplace_back();
  for (const PlacedText& element : elements) {
    spend(element.size());
    value.elements.front().append(element);
  }
}

void ShellVariables::doubt(const std::string& name, const std::string& cause) {
  if (!given_.contains(name))
    values_[name] = {{PlacedText(reference(cause.empty() ? name : cause), 0)}, false};
}

std::optional<std::string> ShellVariables::known(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  std::string text;
  for (const PlacedText& element : found->second.elements) text += (text.empty() ? "" : " ") + element.text();
  if (text.find('$') != std::string::npos || text.find('`') != std::string::npos) return std::nullopt;
  return text;
}

std::optional<std::int64_t> ShellVariables::arithmetic(std::string_view expression) {
  return shell_arithmetic(expression, [this](const std::string& name) {
    const auto value = known(name);
    return value ? whole_number(Json(*value)) : std::nullopt;
  });
}

std::vector<PlacedText> ShellVariables::words(const PlacedText& word) {
  Expansion out;
  expand(word, true, out, 0);
  out.cut();
  const bool lists =
      word.text().find('@') != std::string::npos;  // "$@" and "${LIST[@]}" may be no word at all
  if (lists) std::erase_if(out.words, [](const PlacedText& part) { return part.empty(); });
  return std::move(out.words);
}

PlacedText ShellVariables::text(const PlacedText& word, bool quotes) {
  Expansion out;
  out.splits = false;
  expand(word, quotes, out, 0);
  out.cut();
  PlacedText whole;
  for (const PlacedText& part : out.words) {
    if (!whole.empty()) whole.append(" ", part.offset());
    whole.append(part);
  }
  return whole;
}

void ShellVariables::expand(const PlacedText& word, bool quotes, Expansion& out, int depth) {
  const std::string& text = word.text();
  char quote = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (quotes && quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      out.begun = true;
      ++at;
    } else if (quotes && quote != 0 && c == quote) {
      quote = 0;
      ++at;
    } else if (quote != '\'' && c == '\\' && at + 1 < text.size()) {
      if (text[at + 1] != '\n') out.take(word.part(at + 1, 1), true);
      at += 2;
    } else if (quote != '\'' && c == '$') {
      at = expand_dollar(word, at, quote == '"' || !quotes, out, depth);
    } else {
      out.take(word.part(at, 1), quotes);
      ++at;
    }
  }
}

/// Puts what begins with the dollar sign at `at` in place, and returns where it ends.
std::size_t ShellVariables::expand_dollar(const PlacedText& word, std::size_t at, bool quoted, Expansion& out,
                                          int depth) {
  const std::string& text = word.text();
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (next == '{') {
    const std::size_t end = end_of(text, at + 1, '{', '}');
    expand_braced(std::string_view(text).substr(at + 2, end - at - 3), word.part(at, end - at), quoted, out,
                  depth);
    return end;
  }
  if (next == '(') {
    const std::size_t end = end_of(text, at + 1, '(', ')');
    const std::string_view inside = std::string_view(text).substr(at + 2, end - at - 3);
    if (!inside.starts_with('(') || !inside.ends_with(')')) {
      out.take(word.part(at, end - at), true);
      return end;
    }
    const std::string_view expression = inside.substr(1, inside.size() - 2);
    const auto value = arithmetic(expression);
    const std::string open = value ? "" : open_variable(expression, *this);
    const std::string shown = value          ? std::to_string(*value)
                              : open.empty() ? text.substr(at, end - at)
                                             : reference(open);
    out.take(PlacedText(shown, word.offset_at(at)), true);
    return end;
  }
  std::size_t end = at + 1;
  const bool digit = std::isdigit(static_cast<unsigned char>(next)) != 0;
  while (end < text.size() && in_name(text[end]) && !(digit && end > at + 1)) ++end;
  if (end > at + 1) {
    expand_name(text.substr(at + 1, end - at - 1), quoted, false, word.offset_at(at), out);
    return end;
  }
  if (next == '@' || next == '*') return at + 2;
  out.take(word.part(at, 1), true);
  return at + 1;
}

/// NAME, NAME[@], NAME:-default, #NAME[@] and what else stands between braces.
void ShellVariables::expand_braced(std::string_view inside, const PlacedText& whole, bool quoted,
                                   Expansion& out, int depth) {
  std::size_t end = 0;
  while (end < inside.size() && in_name(inside[end])) ++end;
  const std::string name(inside.substr(0, end));
  const std::string_view rest = inside.substr(end);
  if (inside == "@" || inside == "*") return;
  if (name.empty() || depth > kDeepestDefault) return out.take(whole, true);
  if (rest.empty() || rest == kListMark || rest == "[*]")
    return expand_name(name, quoted, rest == kListMark, whole.offset(), out);
  const bool otherwise = rest.starts_with(":-") || rest.starts_with(":=");
  if (otherwise || rest.starts_with('-') || rest.starts_with('=')) {
    const bool empty = otherwise && known(name) == "";
    if (contains(name) && !empty) return expand_name(name, quoted, false, whole.offset(), out);
    const std::size_t begin = 2 + end + (otherwise ? 2 : 1);
    const PlacedText value = whole.part(begin, whole.size() - begin - 1);
    if (rest.starts_with(":=")) values_[name] = {{text(value)}, false};
    return expand(value, true, out, depth + 1);
  }
  if (rest.starts_with(":+") || rest.starts_with('+')) {
    const std::size_t begin = 2 + end + (rest.starts_with(":+") ? 2 : 1);
    if (contains(name) && known(name) != "")
      expand(whole.part(begin, whole.size() - begin - 1), true, out, depth + 1);
    return;
  }
  if (rest.starts_with('[') && rest.ends_with(']')) {
    const auto index = arithmetic(rest.substr(1, rest.size() - 2));
    const auto found = values_.find(name);
    const bool within = index && found != values_.end() && *index >= 0 &&
                        static_cast<std::size_t>(*index) < found->second.elements.size();
    if (within) return out.take(found->second.elements[static_cast<std::size_t>(*index)], quoted);
  }
  if (rest.starts_with(":?") || rest.starts_with('?'))
    return expand_name(name, quoted, false, whole.offset(), out);
  out.take(PlacedText(reference(name), whole.offset()), true);
}

/// The value of a variable; ${NAME} where it has none.
void ShellVariables::expand_name(const std::string& name, bool quoted, bool all, std::size_t offset,
                                 Expansion& out) {
  const auto found = values_.find(name);
  if (found == values_.end()) return out.take(PlacedText(reference(name), offset), true);
  bool first = true;
  for (const PlacedText& element : found->second.elements) {
    if (!first && (all || !quoted)) out.splits ? out.cut() : out.take(PlacedText(" ", offset), true);
    if (!first && quoted && !all) out.take(PlacedText(" ", offset), true);
    spend(element.size() + 1);
    out.take(element.offset() == 0 ? PlacedText(element.text(), offset) : element, quoted);
    first = false;
  }
}

}  // namespace orrery::importers
