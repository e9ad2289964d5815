#include "reports/text/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace orrery {
namespace {

/// Returns true if JSON needs no escape for a character; most texts have no other characters.
bool is_plain(char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; }

/// Writes a positive number that is a count of billionths, as gigabytes are of bytes, without a search for
/// its digits: no two numbers of at most 15 digits are the same double, so none has fewer. False where it is
/// none, or a text with an exponent might be asked for.
bool append_billionths(double value, std::string& out) {
  constexpr double kBillion = 1e9;
  constexpr std::size_t kPlaces = 9;
  constexpr double kMostDigits = 1e15;
  const double count = value * kBillion;
  if (!(value >= 1e-3) || !(count < kMostDigits)) return false;
  auto billionths = static_cast<std::uint64_t>(count + 0.5);
  if (static_cast<double>(billionths) / kBillion != value) return false;
  std::array<char, 24> digits{};
  char* at = digits.data() + digits.size();
  char* end = at;
  for (std::size_t place = 0; place < kPlaces || billionths > 0 || place == kPlaces; ++place) {
    if (place == kPlaces) *--at = '.';
    *--at = static_cast<char>('0' + billionths % 10);
    billionths /= 10;
  }
  while (end[-1] == '0' && end[-2] != '.') --end;
  out.append(at, end);
  return true;
}

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
  if (append_billionths(value, out)) return;
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
  const std::size_t at = text_.size();
  text_.resize(at + name.size() + 3);
  char* const to = text_.data() + at;
  to[0] = to[name.size() + 1] = '"';
  std::copy(name.begin(), name.end(), to + 1);
  to[name.size() + 2] = ':';
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
