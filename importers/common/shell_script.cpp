#include "importers/common/shell_script.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "importers/common/shell_condition.hpp"

namespace orrery::importers {
namespace {

using TokenKind = ShellToken::Kind;
using Tokens = std::vector<ShellToken>;

constexpr int kDeepestBlock = 40;  ///< blocks within blocks, scripts within scripts
constexpr std::size_t kMostCommands = 20'000;

bool is_word(const ShellToken& token, std::string_view word) {
  return token.kind == TokenKind::word && !token.list && token.text.text() == word;
}
bool is_op(const ShellToken& token, std::string_view op) {
  return token.kind == TokenKind::op && token.text.text() == op;
}

/// The length of a name that an assignment begins with, NAME=... or NAME+=...; 0 where it is none.
std::size_t assigned_name(const std::string& word) {
  std::size_t end = 0;
  while (end < word.size() && (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_'))
    ++end;
  const bool name = end > 0 && std::isdigit(static_cast<unsigned char>(word[0])) == 0;
  const bool follows = word.compare(end, 1, "=") == 0 || word.compare(end, 2, "+=") == 0;
  return name && follows ? end : 0;
}

/// Says whether a command holds on which others depend with && and ||.
enum class Outcome { yes, no, open };

class ScriptReader {
 public:
  ScriptReader(ShellVariables& variables, ShellScript& script) : variables_(variables), script_(script) {}

  void read(const PlacedText& text, int depth) {
    if (depth > kDeepestBlock) return;
    const Tokens tokens = shell_tokens(text);
    std::size_t at = 0;
    while (at < tokens.size()) {
      list(tokens, at, {}, depth);
      if (at < tokens.size()) ++at;  // a closing word without its opening one
    }
  }

 private:
  [[nodiscard]] static bool closes(const ShellToken& token, std::initializer_list<std::string_view> words) {
    constexpr std::array<std::string_view, 7> kClosing{"fi", "else", "elif", "done", "esac", "then", "}"};
    if (token.kind == TokenKind::op) return token.text.text() == ")" || token.text.text() == ";;";
    if (token.kind != TokenKind::word) return false;
    const auto is = [&token](std::string_view word) { return is_word(token, word); };
    return std::ranges::any_of(words, is) || std::ranges::any_of(kClosing, is);
  }

  /// Commands up to a word that closes the block.
  void list(const Tokens& tokens, std::size_t& at, std::initializer_list<std::string_view> until, int depth) {
    Outcome before = Outcome::yes;
    std::string cause;
    bool joined = false;
    while (at < tokens.size() && !closes(tokens[at], until)) {
      if (tokens[at].kind == TokenKind::end) {
        ++at;
        joined = false;
        continue;
      }
      if (is_op(tokens[at], "&&") || is_op(tokens[at], "||")) {
        const bool both = is_op(tokens[at], "&&");
        if (before != Outcome::open) before = (before == Outcome::yes) == both ? Outcome::yes : Outcome::no;
        joined = true;
        ++at;
        continue;
      }
      const bool runs = !joined || before == Outcome::yes;
      const Outcome here = guarded(tokens, at, depth, runs ? Outcome::yes : before, cause);
      if (runs) before = here;
    }
  }

  /// A command that runs, does not, or is in doubt.
  Outcome guarded(const Tokens& tokens, std::size_t& at, int depth, Outcome runs, std::string& cause) {
    const bool skipped = std::exchange(skipped_, skipped_ || runs == Outcome::no);
    const std::string doubt = doubt_;
    if (runs == Outcome::open && doubt_.empty()) doubt_ = cause.empty() ? "?" : cause;
    const Outcome outcome = command(tokens, at, depth, cause);
    skipped_ = skipped;
    doubt_ = doubt;
    return outcome;
  }

  Outcome command(const Tokens& tokens, std::size_t& at, int depth, std::string& cause) {
    const ShellToken& first = tokens[at];
    if (depth > kDeepestBlock) return skip_line(tokens, at);
    if (is_word(first, "if")) return branches(tokens, at, depth);
    if (is_word(first, "case")) return cases(tokens, at, depth);
    if (is_word(first, "for") || is_word(first, "select")) return loop(tokens, at, depth);
    if (is_word(first, "while") || is_word(first, "until")) return loop(tokens, at, depth);
    if (is_word(first, "function")) return function(tokens, at, depth);
    if (at + 2 < tokens.size() && first.kind == TokenKind::word && is_op(tokens[at + 1], "(") &&
        is_op(tokens[at + 2], ")"))
      return function(tokens, at, depth);
    if (is_word(first, "{") || is_op(first, "(")) return block(tokens, at, depth);
    if (is_word(first, "[") || is_word(first, "[[") || is_word(first, "test") || is_word(first, "!") ||
        is_op(first, "(("))
      return condition(tokens, at, cause);
    return simple(tokens, at, depth);
  }

  static Outcome skip_line(const Tokens& tokens, std::size_t& at) {
    while (at < tokens.size() && tokens[at].kind != TokenKind::end) ++at;
    return Outcome::yes;
  }

  Outcome block(const Tokens& tokens, std::size_t& at, int depth) {
    ++at;
    list(tokens, at, {"}"}, depth + 1);
    if (at < tokens.size()) ++at;
    return Outcome::yes;
  }

  /// A function is read where it stands: what it sets is in doubt, since nobody knows when it is called.
  Outcome function(const Tokens& tokens, std::size_t& at, int depth) {
    while (at < tokens.size() && !is_word(tokens[at], "{") && tokens[at].kind != TokenKind::end) ++at;
    while (at < tokens.size() && tokens[at].kind == TokenKind::end) ++at;
    if (at >= tokens.size() || !is_word(tokens[at], "{")) return Outcome::yes;
    return block(tokens, at, depth);
  }

  Outcome condition(const Tokens& tokens, std::size_t& at, std::string& cause) {
    const ShellTest test = shell_test(tokens, at, variables_);
    cause = test.cause;
    return !test.holds ? Outcome::open : *test.holds ? Outcome::yes : Outcome::no;
  }

  /// The outcome of a list of commands that a condition is.
  Outcome conditions(const Tokens& tokens, std::size_t& at, std::string_view close, int depth,
                     std::string& cause) {
    Outcome outcome = Outcome::yes;
    bool both = true;
    while (at < tokens.size() && !is_word(tokens[at], close)) {
      if (tokens[at].kind == TokenKind::end) {
        ++at;
      } else if (is_op(tokens[at], "&&") || is_op(tokens[at], "||")) {
        both = is_op(tokens[at++], "&&");
      } else {
        std::string why;
        const std::size_t before = at;
        const bool tests = is_word(tokens[at], "[") || is_word(tokens[at], "[[") ||
                           is_word(tokens[at], "test") || is_word(tokens[at], "!") || is_op(tokens[at], "((");
        const Outcome here = tests ? condition(tokens, at, why) : unknown(tokens, at, depth);
        if (at == before) ++at;
        outcome = combined(outcome, here, both);
        if (here == Outcome::open && cause.empty()) cause = why;
      }
    }
    return outcome;
  }

  static Outcome combined(Outcome a, Outcome b, bool both) {
    const Outcome decides = both ? Outcome::no : Outcome::yes;
    if (a == decides || b == decides) return decides;
    return a == Outcome::open || b == Outcome::open ? Outcome::open : both ? Outcome::yes : Outcome::no;
  }

  static Outcome unknown(const Tokens& tokens, std::size_t& at, int) {
    while (at < tokens.size() && tokens[at].kind != TokenKind::end && !is_op(tokens[at], "&&") &&
           !is_op(tokens[at], "||"))
      ++at;
    return Outcome::open;
  }

  /// Reads a block as one that runs, does not, or is in doubt because of `cause`.
  void branch(const Tokens& tokens, std::size_t& at, int depth, Outcome runs, const std::string& cause,
              std::initializer_list<std::string_view> until) {
    const bool skipped = std::exchange(skipped_, skipped_ || runs == Outcome::no);
    const std::string doubt = doubt_;
    if (runs == Outcome::open && doubt_.empty()) doubt_ = cause.empty() ? "?" : cause;
    list(tokens, at, until, depth + 1);
    skipped_ = skipped;
    doubt_ = doubt;
  }

  Outcome branches(const Tokens& tokens, std::size_t& at, int depth) {
    Outcome left = Outcome::yes;  // whether the branches so far leave it to the next one
    std::string cause;
    ++at;
    while (at < tokens.size()) {
      const Outcome holds = conditions(tokens, at, "then", depth, cause);
      if (at < tokens.size()) ++at;
      const Outcome runs = combined(left, holds, true);
      branch(tokens, at, depth, runs, cause, {"else", "elif", "fi"});
      if (holds == Outcome::yes && left != Outcome::open) left = Outcome::no;
      if (holds == Outcome::open && left == Outcome::yes) left = Outcome::open;
      if (at >= tokens.size() || !is_word(tokens[at], "elif")) break;
      ++at;
    }
    if (at < tokens.size() && is_word(tokens[at], "else")) {
      ++at;
      branch(tokens, at, depth, left, cause, {"fi"});
    }
    if (at < tokens.size()) ++at;
    return Outcome::yes;
  }

  Outcome cases(const Tokens& tokens, std::size_t& at, int depth) {
    ++at;
    const std::string subject = at < tokens.size() ? variables_.text(tokens[at].text).text() : "";
    const std::string cause = open_name(subject);
    while (at < tokens.size() && !is_word(tokens[at], "in")) ++at;
    if (at < tokens.size()) ++at;
    Outcome left = cause.empty() ? Outcome::yes : Outcome::open;
    while (at < tokens.size() && !is_word(tokens[at], "esac")) {
      bool matches = false;
      for (; at < tokens.size() && !is_op(tokens[at], ")") && !is_word(tokens[at], "esac"); ++at)
        if (tokens[at].kind == TokenKind::word)
          matches = matches || matches_pattern(subject, variables_.text(tokens[at].text).text());
      if (at >= tokens.size() || is_word(tokens[at], "esac")) break;
      ++at;
      const Outcome runs = left == Outcome::yes && !matches ? Outcome::no : left;
      branch(tokens, at, depth, runs, cause, {"esac"});
      if (left == Outcome::yes && matches) left = Outcome::no;
      const std::size_t before = at;
      while (at < tokens.size() && (is_op(tokens[at], ";;") || tokens[at].kind == TokenKind::end)) ++at;
      if (at == before && at < tokens.size() && !is_word(tokens[at], "esac")) ++at;
    }
    if (at < tokens.size()) ++at;
    return Outcome::yes;
  }

  /// The body is read once, with its variable and all that it sets in doubt.
  Outcome loop(const Tokens& tokens, std::size_t& at, int depth) {
    const bool counts = is_word(tokens[at], "for");
    ++at;
    const std::string name = counts && at < tokens.size() ? tokens[at].text.text() : "?";
    if (counts && !skipped_) variables_.doubt(name, name);
    while (at < tokens.size() && !is_word(tokens[at], "do")) ++at;
    if (at < tokens.size()) ++at;
    branch(tokens, at, depth, Outcome::open, name, {"done"});
    if (at < tokens.size()) ++at;
    return Outcome::yes;
  }

  void assign(const ShellToken& token, const Tokens& tokens, std::size_t& at) {
    const std::string& word = token.text.text();
    const std::size_t length = assigned_name(word);
    const std::string name = word.substr(0, length);
    const bool adds = word[length] == '+';
    std::vector<PlacedText> elements;
    ++at;
    if (token.list) {
      for (; at < tokens.size() && !is_op(tokens[at], ")"); ++at)
        if (tokens[at].kind == TokenKind::word && !skipped_)
          for (PlacedText& element : variables_.words(tokens[at].text))
            elements.push_back(std::move(element));
      if (at < tokens.size()) ++at;
    } else if (!skipped_) {
      const std::size_t begin = length + (adds ? 2 : 1);
      elements.push_back(variables_.text(token.text.part(begin, word.size() - begin)));
    }
    if (skipped_) return;
    script_.assigned.push_back(name);
    if (!doubt_.empty()) return variables_.doubt(name, doubt_ == "?" ? name : doubt_);
    adds ? variables_.add(name, std::move(elements), token.list)
         : variables_.set(name, std::move(elements), token.list);
  }

  /// Assignments, then a command with its words.
  Outcome simple(const Tokens& tokens, std::size_t& at, int depth) {
    ShellCommand command{{}, doubt_};
    std::string target;
    const ShellToken* here = nullptr;
    const std::size_t begin = at;
    while (at < tokens.size() && tokens[at].kind != TokenKind::end) {
      const ShellToken& token = tokens[at];
      if (token.kind == TokenKind::op) {
        const std::string& op = token.text.text();
        if (op == "&&" || op == "||" || op == ")" || op == ";;") break;
        if (op == "|" || op == "&") {
          ++at;
          break;
        }
        if (op == "<<") here = &token;
        const bool redirects =
            op == ">" || op == ">>" || op == "<" || op == ">&" || op == "&>" || op == "<<<" || op == "<&";
        ++at;
        if (redirects && at < tokens.size() && tokens[at].kind == TokenKind::word && !tokens[at].list) {
          if (op == ">") target = variables_.text(tokens[at].text).text();
          ++at;
        }
      } else if (token.list ||
                 (assigned_name(token.text.text()) > 0 && (command.words.empty() || declares(command)))) {
        assign(token, tokens, at);
      } else {
        if (!skipped_)
          for (PlacedText& word : variables_.words(token.text)) command.words.push_back(std::move(word));
        ++at;
      }
    }
    if (at == begin) ++at;
    if (here != nullptr && !skipped_ && !target.empty())
      script_.files[target] = here->plain ? here->here : variables_.text(here->here, false);
    if (!skipped_ && !command.words.empty()) finish(std::move(command), depth);
    return Outcome::yes;
  }

  static bool declares(const ShellCommand& command) {
    constexpr std::array<std::string_view, 6> kDeclares{"export",   "declare", "local",
                                                        "readonly", "typeset", "env"};
    return std::ranges::find(kDeclares, command.words.front().text()) != kDeclares.end();
  }

  /// bash -c TEXT and eval WORDS are scripts of their own.
  void finish(ShellCommand command, int depth) {
    constexpr std::array<std::string_view, 6> kIdle{"echo", "printf", "cat", ":", "mkdir", "cd"};
    const std::string& name = command.words.front().text();
    if (std::ranges::find(kIdle, name) != kIdle.end() || script_.commands.size() >= kMostCommands) return;
    if (name == "eval") command.words.erase(command.words.begin());
    for (std::size_t i = 0; i + 2 < command.words.size(); ++i) {
      const std::string& shell = command.words[i].text();
      const bool runs =
          shell == "bash" || shell == "sh" || shell.ends_with("/bash") || shell.ends_with("/sh");
      const std::string& option = command.words[i + 1].text();
      if (runs && option.starts_with('-') && !option.starts_with("--") && option.ends_with('c'))
        return read(command.words[i + 2], depth + 1);
    }
    if (!command.words.empty()) script_.commands.push_back(std::move(command));
  }

  ShellVariables& variables_;
  ShellScript& script_;
  bool skipped_ = false;
  std::string doubt_;
};

}  // namespace

ShellScript read_shell_script(const SourceFile& file, ShellVariables& variables) {
  ShellScript script;
  ScriptReader(variables, script).read(PlacedText(file.text(), 0), 0);
  return script;
}

}  // namespace orrery::importers
