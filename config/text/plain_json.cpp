#include "config/text/plain_json.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace orrery {
namespace {

constexpr std::size_t kMostBytes = 1 << 16;
constexpr int kMostDepth = 16;
constexpr std::size_t kMostDigits = 15;  // fits into every kind of number

/// Parses plain JSON. Every function returns true if it has read its element.
class PlainParser {
 public:
  explicit PlainParser(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  bool document(Json& value) {
    skip_blanks();
    if (!read(value, 0)) return false;
    skip_blanks();
    return at_ == end_;
  }

 private:
  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
  }

  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  /// The character after blanks.
  bool take_next(char c) {
    skip_blanks();
    return take(c);
  }

  bool read(Json& value, int depth) {
    if (at_ == end_ || depth > kMostDepth) return false;
    switch (*at_) {
      case '{':
        return read_object(value, depth);
      case '[':
        return read_list(value, depth);
      case '"':
        return read_string(value);
      case 't':
        return read_literal("true", true, value);
      case 'f':
        return read_literal("false", false, value);
      case 'n':
        return read_literal("null", nullptr, value);
      default:
        return read_integer(value);
    }
  }

  bool read_object(Json& value, int depth) {
    ++at_;
    value = Json::object();
    auto& members = value.get_ref<Json::object_t&>();
    if (take_next('}')) return true;
    std::string_view key;
    do {
      skip_blanks();
      if (!read_text(key) || !take_next(':')) return false;
      const auto [member, inserted] = members.try_emplace(std::string(key));
      skip_blanks();
      if (!inserted || !read(member->second, depth + 1)) return false;
    } while (take_next(','));
    return take('}');
  }

  bool read_list(Json& value, int depth) {
    ++at_;
    value = Json::array();
    auto& elements = value.get_ref<Json::array_t&>();
    if (take_next(']')) return true;
    do {
      skip_blanks();
      if (!read(elements.emplace_back(), depth + 1)) return false;
    } while (take_next(','));
    return take(']');
  }

  bool read_text(std::string_view& text) {
    if (!take('"')) return false;
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= ' ' && *at_ < '\x7f' && *at_ != '"' && *at_ != '\\') ++at_;
    text = {begin, static_cast<std::size_t>(at_ - begin)};
    return take('"');
  }

  bool read_string(Json& value) {
    std::string_view text;
    if (!read_text(text)) return false;
    value = text;
    return true;
  }

  template <class Value>
  bool read_literal(std::string_view word, Value literal, Json& value) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) return false;
    at_ += word.size();
    value = literal;
    return true;
  }

  /// None with a fraction or an exponent, and no zero before other digits.
  bool read_integer(Json& value) {
    const bool negative = take('-');
    const char* const begin = at_;
    std::int64_t number = 0;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9' && at_ - begin <= std::ptrdiff_t{kMostDigits})
      number = 10 * number + (*at_++ - '0');
    const auto digits = static_cast<std::size_t>(at_ - begin);
    if (digits == 0 || digits > kMostDigits || (*begin == '0' && (digits > 1 || negative))) return false;
    if (at_ != end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E')) return false;
    value = negative ? Json(-number) : Json(static_cast<std::uint64_t>(number));
    return true;
  }

  const char* at_;
  const char* end_;
};

}  // namespace

std::optional<Json> parse_plain_json(std::string_view text) {
  std::optional<Json> value(std::in_place);
  if (text.size() > kMostBytes || !PlainParser(text).document(*value)) return std::nullopt;
  return value;
}

}  // namespace orrery
