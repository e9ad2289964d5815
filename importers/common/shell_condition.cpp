#include "importers/common/shell_condition.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "importers/common/values.hpp"

namespace orrery::importers {
namespace {

using TokenKind = ShellToken::Kind;

/// The words of a condition, with values in place.
struct TestWord {
  std::string text;
  bool set = true;  ///< false: a variable alone that nothing sets
};

ShellTest negated(ShellTest test) {
  if (test.holds) test.holds = !*test.holds;
  return test;
}

ShellTest compared(std::int64_t a, std::string_view by, std::int64_t b) {
  if (by == "-eq") return {a == b, ""};
  if (by == "-ne") return {a != b, ""};
  if (by == "-gt") return {a > b, ""};
  if (by == "-ge") return {a >= b, ""};
  if (by == "-lt") return {a < b, ""};
  return {a <= b, ""};
}

/// a == b, a -gt b, -z a, a.
ShellTest simple_test(const std::vector<TestWord>& words) {
  constexpr std::array<std::string_view, 6> kNumbers{"-eq", "-ne", "-gt", "-ge", "-lt", "-le"};
  if (words.empty()) return {false, ""};
  if (words.front().text == "!") return negated(simple_test({words.begin() + 1, words.end()}));
  if (words.size() == 1)
    return words.front().set ? ShellTest{!words.front().text.empty(), ""} : ShellTest{false, ""};
  if (words.size() == 2) {
    const std::string cause = open_name(words[1].text);
    const bool empty = !words[1].set || words[1].text.empty();
    if (words[0].text != "-z" && words[0].text != "-n") return {std::nullopt, cause};
    if (!cause.empty() && words[1].set) return {std::nullopt, cause};
    return {empty == (words[0].text == "-z"), ""};
  }
  if (words.size() != 3) return {std::nullopt, ""};
  const std::string a = words[0].set || !words[2].text.empty() ? words[0].text : "";
  const std::string &by = words[1].text, &b = words[2].text;
  const std::string cause = open_name(a).empty() ? open_name(b) : open_name(a);
  if (!cause.empty()) return {std::nullopt, cause};
  if (by == "=" || by == "==") return {matches_pattern(a, b), ""};
  if (by == "!=") return {!matches_pattern(a, b), ""};
  const auto left = whole_number(Json(a)), right = whole_number(Json(b));
  const bool numbers = left && right && std::ranges::find(kNumbers, by) != kNumbers.end();
  return numbers ? compared(*left, by, *right) : ShellTest{std::nullopt, ""};
}

ShellTest joined_tests(const ShellTest& a, const ShellTest& b, bool both) {
  if ((a.holds && *a.holds != both) || (b.holds && *b.holds != both)) return {!both, ""};
  if (a.holds && b.holds) return {both, ""};
  return {std::nullopt, a.holds ? b.cause : a.cause};
}

/// Tests joined by -a, &&, -o, ||, from left to right.
ShellTest all_tests(const std::vector<TestWord>& words) {
  ShellTest result;
  std::vector<TestWord> part;
  bool first = true, both = true;
  const auto close = [&] {
    const ShellTest here = simple_test(part);
    result = first ? here : joined_tests(result, here, both);
    first = false;
    part.clear();
  };
  for (const TestWord& word : words) {
    const bool with = word.text == "-a" || word.text == "&&",
               or_else = word.text == "-o" || word.text == "||";
    if ((with || or_else) && !part.empty()) {
      close();
      both = with;
    } else {
      part.push_back(word);
    }
  }
  close();
  return result;
}

/// $((...)) between double brackets.
ShellTest arithmetic_test(const std::vector<ShellToken>& tokens, std::size_t& at, ShellVariables& variables) {
  std::string expression;
  for (++at; at < tokens.size() && tokens[at].kind != TokenKind::end && tokens[at].text.text() != "))"; ++at)
    expression += tokens[at].text.text() + " ";
  if (at < tokens.size()) ++at;
  const auto value = variables.arithmetic(expression);
  return value ? ShellTest{*value != 0, ""} : ShellTest{};
}

TestWord read_test_word(const ShellToken& token, ShellVariables& variables) {
  TestWord word{variables.text(token.text).text(), true};
  const std::string name = open_name(word.text);
  const bool alone = !name.empty() && word.text == "${" + name + "}";
  word.set = !alone || (variables.contains(name) && !variables.is_positional(name));
  return word;
}

}  // namespace

std::string open_name(const std::string& text) { return unresolved_variable(Json(text)); }

bool matches_pattern(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, resumed = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resumed = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resumed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

ShellTest shell_test(const std::vector<ShellToken>& tokens, std::size_t& at, ShellVariables& variables) {
  const bool inverted = tokens[at].text.text() == "!";
  if (inverted) ++at;
  if (at >= tokens.size()) return {};
  const std::string opening = tokens[at].text.text();
  if (opening == "((") {
    const ShellTest test = arithmetic_test(tokens, at, variables);
    return inverted ? negated(test) : test;
  }
  const bool doubled = opening == "[[", single = opening == "[";
  if (!doubled && !single && opening != "test") {
    while (at < tokens.size() && tokens[at].kind == TokenKind::word) ++at;
    return {};
  }
  std::vector<TestWord> words;
  for (++at; at < tokens.size() && tokens[at].kind != TokenKind::end; ++at) {
    const std::string& text = tokens[at].text.text();
    if (text == (doubled ? "]]" : "]")) break;
    if (!doubled && tokens[at].kind == TokenKind::op) break;
    words.push_back(tokens[at].kind == TokenKind::op ? TestWord{text, true}
                                                     : read_test_word(tokens[at], variables));
  }
  if (at < tokens.size() && (tokens[at].text.text() == "]]" || tokens[at].text.text() == "]")) ++at;
  const ShellTest test = all_tests(words);
  return inverted ? negated(test) : test;
}

}  // namespace orrery::importers
