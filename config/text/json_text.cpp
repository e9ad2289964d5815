#include "config/text/json_text.hpp"

#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "config/text/findings.hpp"
#include "config/text/plain_json.hpp"
#include "config/text/tree_builder.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

/// Hands nlohmann's parser events to a TreeBuilder.
class SaxAdapter final : public nlohmann::json_sax<Json> {
 public:
  explicit SaxAdapter(TreeBuilder& tree) : tree_(tree) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return begin(Json::value_t::object); }
  bool start_array(std::size_t) override { return begin(Json::value_t::array); }
  bool key(string_t& name) override {
    tree_.key(std::move(name));
    return true;
  }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t read, const std::string& token, const Json::exception& error) override {
    const std::string message = cleaned(error);
    const bool whole_token = message.find("unexpected") != std::string::npos;  // else the last byte is wrong
    const std::size_t back = whole_token ? std::max<std::size_t>(token.size(), 1) : 1;
    throw DocumentError{read - std::min(read, back), "", message};
  }

 private:
  bool add(Json&& value) {
    tree_.value(std::move(value));
    return true;
  }
  bool begin(Json::value_t type) {
    tree_.begin(type);
    return true;
  }
  bool end() {
    tree_.end();
    return true;
  }
  /// nlohmann's message without its prefix, which repeats the position.
  static std::string cleaned(const Json::exception& error) {
    const std::string text = error.what();
    auto start = text.find("syntax error");
    if (start == std::string::npos) start = text.find("number overflow");
    std::string out;
    for (std::size_t i = start == std::string::npos ? 0 : start; i < text.size() && out.size() < 240;
         i += 40) {
      out += printable(std::string_view(text).substr(i, 40));
    }
    return out;
  }

  TreeBuilder& tree_;
};

/// Offset after blanks and comments.
std::size_t skip(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find_first_of("\n\r", at), text.size());  // as the parser
    } else if (text.substr(at, 2) == "/*") {
      const auto end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

/// Walks over tokens and keeps the pointer of the present one.
class PositionWalk {
 public:
  PositionWalk(std::string_view text, PositionTable& table) : text_(text), table_(table) {}

  void run() {
    for (at_ = skip(text_, at_); at_ < text_.size(); at_ = skip(text_, at_)) token();
  }

 private:
  struct Level {
    std::size_t base;  ///< length of the object's or list's own pointer
    bool object;
    bool key_next;
    std::size_t index;
  };

  void token() {
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      table_.value_at(pointer_, at_++);
      open_.push_back({pointer_.size(), c == '{', c == '{', 0});
      if (c == '[') pointer_ += "/0";
    } else if (c == '}' || c == ']') {
      close();
    } else if (c == ',') {
      comma();
    } else if (c == ':') {
      ++at_;
    } else if (c == '"' && !open_.empty() && open_.back().key_next) {
      key();
    } else {
      table_.value_at(pointer_, at_);
      at_ = c == '"' ? string_end() : word_end();
    }
  }

  void close() {
    ++at_;
    if (open_.empty()) return;
    pointer_.resize(open_.back().base);
    open_.pop_back();
  }

  void comma() {
    ++at_;
    if (open_.empty()) return;
    Level& level = open_.back();
    level.key_next = level.object;
    if (level.object) return;
    pointer_.resize(level.base);
    pointer_ += "/" + std::to_string(++level.index);
  }

  void key() {
    const std::size_t end = string_end();
    const Json name = Json::parse(text_.substr(at_, end - at_), nullptr, false);
    pointer_.resize(open_.back().base);
    pointer_ += "/" + (name.is_string() ? pointer_token(name.get_ref<const std::string&>()) : "");
    table_.key_at(pointer_, at_);
    open_.back().key_next = false;
    at_ = end;
  }

  [[nodiscard]] std::size_t string_end() const {
    std::size_t i = at_ + 1;
    while (i < text_.size() && text_[i] != '"') i += text_[i] == '\\' ? 2 : 1;
    return std::min(i + 1, text_.size());
  }

  [[nodiscard]] std::size_t word_end() const {
    return std::min(text_.find_first_of(",:]}[{\"/ \t\r\n", at_ + 1), text_.size());
  }

  std::string_view text_;
  PositionTable& table_;
  std::size_t at_ = 0;
  std::string pointer_;
  std::vector<Level> open_;
};

}  // namespace

bool looks_like_json(std::string_view text) {
  const std::size_t at = skip(text, 0);
  return at < text.size() && (text[at] == '{' || text[at] == '[');
}

Json parse_json(std::string_view text) {
  if (std::optional<Json> plain = parse_plain_json(text)) return *std::move(plain);
  TreeBuilder tree;
  SaxAdapter sax(tree);
  Json::sax_parse(text, &sax, Json::input_format_t::json, true, true);
  return tree.take();
}

void find_json_positions(std::string_view text, PositionTable& table) { PositionWalk(text, table).run(); }

}  // namespace orrery
