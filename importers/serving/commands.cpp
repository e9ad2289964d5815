#include "importers/serving/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "config/text/document.hpp"
#include "orrery/error.hpp"

namespace orrery::importers::serving {
namespace {

/// Variables that hold each other double a text with every line: more than this is hostile.
constexpr std::size_t kMostFilledIn = 1'000'000;

using Variables = std::map<std::string, std::string>;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::size_t end_of_name(std::string_view text, std::size_t at) {
  while (at < text.size() && is_name(text[at])) ++at;
  return at;
}

class CommandReader {
 public:
  CommandReader(const SourceFile& file, const Variables& given)
      : text_(file.text()), path_(file.path()), given_(&given), variables_(given) {}

  std::vector<Command> read() {
    while (at_ < text_.size()) step();
    end_command();
    return std::move(commands_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\\') return escape();
    if (c == '\n' || c == ';' || c == '|' || c == '&') return end_at_operator();
    if (is_blank(c)) return end_blank();
    if (c == '#' && !in_word_) return skip_comment();
    if (c == '\'') return quote_plainly();
    if (c == '"') return toggle_quotes();
    if (c == '$' || c == '`') return fill_in();
    put(c);
  }

  void begin_word() {
    if (in_word_) return;
    in_word_ = true;
    word_.offset = at_;
  }

  void put(char c) {
    begin_word();
    word_.text += c;
    ++at_;
  }

  /// A backslash joins lines, or takes the next character as it stands.
  void escape() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n')
      ++at_;
    else if (at_ < text_.size())
      put(text_[at_]);
  }

  void end_at_operator() {
    if (quoted_) return put(text_[at_]);
    end_command();
    ++at_;
  }

  void end_blank() {
    if (quoted_) return put(text_[at_]);
    end_word();
    ++at_;
  }

  void skip_comment() {
    if (quoted_) return put('#');
    at_ = std::min(text_.find('\n', at_), text_.size());
  }

  void quote_plainly() {
    if (quoted_) return put('\'');
    begin_word();
    const std::size_t end = std::min(text_.find('\'', at_ + 1), text_.size());
    word_.text += text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
  }

  void toggle_quotes() {
    begin_word();
    quoted_ = !quoted_;
    ++at_;
  }

  /// $NAME, ${NAME}, ${NAME:-TEXT}; what a command would print is not known.
  void fill_in() {
    begin_word();
    const std::size_t begin = at_ + 1;
    if (text_[at_] == '$' && begin < text_.size() && text_[begin] == '{') return fill_in_braces(begin + 1);
    const std::size_t end = end_of_name(text_, begin);
    if (text_[at_] == '$' && end > begin) {
      fill(std::string(text_.substr(begin, end - begin)), nullptr);
      at_ = end;
      return;
    }
    word_.open = text_[at_] == '`' || text_.substr(begin).starts_with('(') ? "the output of a command" : "$";
    at_ = begin;
  }

  void fill_in_braces(std::size_t begin) {
    const std::size_t close = std::min(text_.find('}', begin), text_.size());
    const std::size_t end = std::min(end_of_name(text_, begin), close);
    std::string_view rest = text_.substr(end, close - end);
    const std::string name(text_.substr(begin, end - begin));
    at_ = std::min(close + 1, text_.size());
    if (rest.empty()) return fill(name, nullptr);
    if (rest.starts_with(':')) rest.remove_prefix(1);
    const std::string otherwise(rest.starts_with('-') ? rest.substr(1) : rest);
    if (rest.starts_with('-')) return fill(name, &otherwise);
    word_.open = name;
  }

  void fill(const std::string& name, const std::string* otherwise) {
    const auto found = variables_.find(name);
    if (found == variables_.end() && otherwise == nullptr) {
      word_.open = name;
      return;
    }
    const std::string& value = found == variables_.end() ? *otherwise : found->second;
    filled_ += value.size();
    if (filled_ > kMostFilledIn)
      throw InputError({Diagnostic{
          path_, 0, 0, "",
          fmt::format("found variables with more than {} characters in all, allowed fewer", kMostFilledIn)}});
    if (quoted_ || value.find_first_of(" \t") == std::string::npos)
      word_.text += value;
    else
      split(value);
  }

  /// The value of a variable outside quotes is as many words as it has.
  void split(const std::string& value) {
    for (const char c : value) {
      if (is_blank(c)) {
        end_word();
        continue;
      }
      begin_word();
      word_.text += c;
    }
  }

  void end_word() {
    if (in_word_ && !assigns()) command_.push_back(word_);
    word_ = {};
    in_word_ = false;
  }

  /// NAME=TEXT before a command sets a variable; the user decides over it.
  bool assigns() {
    const bool first = command_.empty() || (command_.size() == 1 && command_.front().text == "export");
    const std::size_t end = end_of_name(word_.text, 0);
    if (!first || end == 0 || end >= word_.text.size() || word_.text[end] != '=') return false;
    const std::string name = word_.text.substr(0, end);
    if (given_->contains(name)) return true;
    if (word_.open.empty())
      variables_[name] = word_.text.substr(end + 1);
    else
      variables_.erase(name);
    return true;
  }

  void end_command() {
    end_word();
    quoted_ = false;
    if (!command_.empty()) commands_.push_back(std::move(command_));
    command_.clear();
  }

  std::string_view text_;
  std::string path_;
  const Variables* given_;
  Variables variables_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  bool quoted_ = false;
  bool in_word_ = false;
  Word word_;
  Command command_;
  std::vector<Command> commands_;
};

}  // namespace

std::vector<Command> commands_in(const SourceFile& file, const Variables& given) {
  return CommandReader(file, given).read();
}

}  // namespace orrery::importers::serving
