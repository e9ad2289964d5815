#include "importers/common/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "orrery/error.hpp"

namespace orrery::importers {
namespace {

constexpr std::size_t kMaxLines = 2'000'000;
constexpr std::string_view kBlanks = " \t\r\f\v";

template <class Number>
std::optional<Number> whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<TextLine> lines_of(const SourceFile& file) {
  std::vector<TextLine> lines;
  std::string_view rest = file.text();
  for (int number = 1; !rest.empty(); ++number) {
    if (lines.size() == kMaxLines)
      throw InputError(
          {Diagnostic{file.path(), number, 1, "", fmt::format("more than {} lines", kMaxLines)}});
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({line, number});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

SourceFile head_of(const SourceFile& file, std::size_t bytes) {
  return {file.path(), std::string(file.text().substr(0, bytes))};
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string small(std::string_view text) {
  std::string letters(text);
  std::ranges::transform(letters, letters.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return letters;
}

std::optional<double> number_of(std::string_view text) {
  const std::optional<double> value = whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> integer_of(std::string_view text) { return whole<std::int64_t>(text); }

std::optional<double> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() || !std::isfinite(value)) return std::nullopt;
  return value;
}

double rounded(double value) { return number_of(fmt::format("{:.6g}", value)).value_or(value); }

SourceKey key_at(const SourceFile& file, int line, std::string key, Json value) {
  return {std::move(key), std::move(value), {file.path(), line}};
}

}  // namespace orrery::importers
