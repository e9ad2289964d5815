#include "importers/common/shell_tokens.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace orrery::importers {
namespace {

constexpr int kDeepestQuote = 32;  ///< quotes and substitutions within each other

class Lexer {
 public:
  explicit Lexer(const PlacedText& script) : script_(script), text_(script.text()) {}

  std::vector<ShellToken> tokens() {
    while (at_ < text_.size()) step();
    end_line();
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char next(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool continues() const {
    return next() == '\\' && (next(1) == '\n' || (next(1) == '\r' && next(2) == '\n'));
  }

  void step() {
    const char c = next();
    if (continues()) {
      at_ += next(1) == '\r' ? 3 : 2;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n') {
      ++at_;
      end_line();
      read_here_texts();
    } else if (std::string_view(";&|<>()").find(c) != std::string_view::npos) {
      read_operator();
    } else {
      read_word();
    }
  }

  void end_line() {
    if (in_list_ == 0) tokens_.push_back({ShellToken::Kind::end, {}, {}, false, false});
  }

  void read_operator() {
    constexpr std::string_view kTwo[] = {";;", "&&", "||", "<<", ">>", ">&", "&>", "<&", "((", "))"};
    std::size_t length = 1;
    for (const std::string_view two : kTwo)
      if (text_.compare(at_, 2, two) == 0 && !(in_list_ > 0 && two == "))")) length = 2;
    if (text_.compare(at_, 3, "<<<") == 0) length = 3;
    ShellToken token{ShellToken::Kind::op, script_.part(at_, length), {}, false, false};
    at_ += length;
    const std::string& op = token.text.text();
    if (op == ")" && in_list_ > 0) --in_list_;
    if (op == ";") token.kind = ShellToken::Kind::end;
    const bool here = op == "<<";
    tokens_.push_back(std::move(token));
    if (here) read_delimiter();
  }

  /// The word behind <<, whose text begins on the next line.
  void read_delimiter() {
    if (next() == '-') ++at_;
    while (next() == ' ') ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" \t\r\n;&|<>()").find(next()) == std::string_view::npos)
      ++at_;
    std::string delimiter = text_.substr(begin, at_ - begin);
    tokens_.back().plain =
        std::erase_if(delimiter, [](char c) { return c == '\'' || c == '"' || c == '\\'; }) > 0;
    waiting_.push_back({tokens_.size() - 1, delimiter});
  }

  void read_here_texts() {
    for (const auto& [token, delimiter] : waiting_) {
      const std::size_t begin = at_;
      std::size_t end = at_;
      while (at_ < text_.size()) {
        end = at_;
        const std::size_t line_end = std::min(text_.find('\n', at_), text_.size());
        std::string line = text_.substr(at_, line_end - at_);
        line.erase(0, std::min(line.find_first_not_of('\t'), line.size()));
        if (line.ends_with('\r')) line.pop_back();
        at_ = std::min(line_end + 1, text_.size());
        if (line == delimiter) break;
        end = at_;
      }
      tokens_[token].here = script_.part(begin, end - begin);
    }
    waiting_.clear();
  }

  void read_word() {
    PlacedText word;
    while (at_ < text_.size()) {
      const char c = next();
      if (continues()) {
        at_ += next(1) == '\r' ? 3 : 2;
        continue;
      }
      if (std::string_view(" \t\r\n;&|<>").find(c) != std::string_view::npos) break;
      if (c == '(' && word.text().ends_with('=')) return begin_list(std::move(word));
      if (c == '(' || c == ')') break;
      take_part(word, 0);
    }
    tokens_.push_back({ShellToken::Kind::word, std::move(word), {}, false, false});
  }

  void begin_list(PlacedText word) {
    ++at_;
    ++in_list_;
    tokens_.push_back({ShellToken::Kind::word, std::move(word), {}, false, true});
  }

  void take(PlacedText& word, std::size_t count = 1) {
    word.append(script_.part(at_, count));
    at_ = std::min(at_ + count, text_.size());
  }

  /// A character, or all that quotes, ${...}, $(...) or back quotes hold together.
  void take_part(PlacedText& word, int depth) {
    const char c = next();
    if (depth > kDeepestQuote) return take(word, text_.size());
    if (c == '\\') return take(word, 2);
    if (c == '\'') return take_until(word, "'", depth, false);
    if (c == '"') return take_until(word, "\"", depth, true);
    if (c == '`') return take_until(word, "`", depth, false);
    if (c == '$' && next(1) == '{') return take_bracketed(word, '{', '}', depth);
    if (c == '$' && next(1) == '(') return take_bracketed(word, '(', ')', depth);
    take(word);
  }

  void take_until(PlacedText& word, std::string_view close, int depth, bool nested) {
    take(word);
    while (at_ < text_.size() && text_.compare(at_, 1, close) != 0) {
      if (nested && continues())
        at_ += next(1) == '\r' ? 3 : 2;
      else if (nested && next() != '\'')
        take_part(word, depth + 1);
      else
        take(word);
    }
    take(word);
  }

  void take_bracketed(PlacedText& word, char open, char close, int depth) {
    take(word, 2);
    for (int within = 1; at_ < text_.size();) {
      if (next() == open) ++within;
      if (next() == close && --within == 0) return take(word);
      if (next() == open || next() == close)
        take(word);
      else
        take_part(word, depth + 1);
    }
  }

  struct Waiting {
    std::size_t token = 0;
    std::string delimiter;
  };

  const PlacedText& script_;
  const std::string& text_;
  std::size_t at_ = 0;
  int in_list_ = 0;
  std::vector<ShellToken> tokens_;
  std::vector<Waiting> waiting_;
};

}  // namespace

std::vector<PlacedText> words_in(const PlacedText& text) {
  std::vector<PlacedText> words;
  PlacedText word;
  char quote = 0;
  bool open = false;
  const auto close = [&] {
    if (open) words.push_back(std::exchange(word, {}));
    open = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text.text()[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (quote == 0 && blank) {
      close();
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      open = true;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (!(c == '\\' && i + 1 < text.size() && text.text()[i + 1] == '\n')) {
      word.push(c, text.offset_at(i));
      open = true;
    }
  }
  close();
  return words;
}

std::vector<ShellToken> shell_tokens(const PlacedText& script) { return Lexer(script).tokens(); }

}  // namespace orrery::importers
