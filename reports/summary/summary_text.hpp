// Lays out the text of summaries: lines, headings, bullets and rows of times, as wide as the terminal.
// Internal to reports/.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/writers.hpp"

namespace orrery {

/// Colours of ANSI, one for each thing that time goes to, in all tables.
constexpr std::string_view kComputes = "32";  ///< and reads prompts
constexpr std::string_view kCommunicates = "33";
constexpr std::string_view kWaits = "31";
constexpr std::string_view kHost = "36";
constexpr std::string_view kOptimizes = "34";
constexpr std::string_view kDecodes = "94";
constexpr std::string_view kMixes = "35";  ///< prompts and outputs in one pass

class SummaryText {
 public:
  explicit SummaryText(SummaryStyle style);

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void blank_line() { text_ += '\n'; }
  void heading(std::string_view name, std::string_view note = "");
  /// Writes `text` behind `start`, in as many lines as it takes, broken at blanks.
  void wrapped(std::string_view start, std::string_view text);
  /// Writes `text` in faint letters, wrapped.
  void faint(std::string_view text);
  /// Writes sentences as bullets under a heading; nothing where there are none.
  void list(std::string_view name, const std::vector<std::string>& sentences);
  /// Writes a row of a table of times: seconds, their share of `whole_s` and a bar; nothing for a part of
  /// zero.
  void part(std::string_view name, double seconds, double whole_s, std::string_view code);

  /// `text` in a colour of ANSI, where the terminal has colours.
  [[nodiscard]] std::string painted(std::string_view code, std::string_view text) const;
  /// Columns beside `taken` ones.
  [[nodiscard]] std::size_t columns(std::size_t taken) const;

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  bool colour_;
  int width_;
  std::string text_;
};

}  // namespace orrery
