#include "reports/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace orrery {
namespace {

/// Whether a character stands for itself; most texts have no other.
bool is_plain(char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; }

}  // namespace

void append_json(std::string_view text, std::string& out) {
  if (std::ranges::all_of(text, is_plain)) {
    out += '"';
    out += text;
    out += '"';
  } else {
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

void append_json(double value, std::string& out) {
  std::array<char, 64> digits{};
  const auto end = [&] { return nlohmann::detail::to_chars(digits.begin(), digits.end(), value); };
  std::isfinite(value) ? out.append(digits.begin(), end()) : out.append("null");
}

void append_json(std::int64_t value, std::string& out) {
  std::array<char, 24> digits{};
  out.append(digits.begin(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

void append_json(bool value, std::string& out) { out += value ? "true" : "false"; }

void append_json(std::nullptr_t, std::string& out) { out += "null"; }

void JsonText::begin(char bracket) {
  text_ += bracket;
  ++depth_;
  empty_ = true;
}

void JsonText::end(char bracket) {
  --depth_;
  if (!empty_) break_line();
  text_ += bracket;
  empty_ = false;
}

void JsonText::key(std::string_view name) {
  element();
  text_ += '"';
  text_ += name;
  text_ += '"';
  text_ += ':';
  if (indent_ >= 0) text_ += ' ';
}

void JsonText::element() {
  if (!empty_) text_ += ',';
  empty_ = false;
  break_line();
}

void JsonText::break_line() {
  if (indent_ >= 0) text_.append(1, '\n').append(static_cast<std::size_t>(indent_ * depth_), ' ');
}

}  // namespace orrery
