#include "reports/summary/summary_text.hpp"

#include <algorithm>

#include "orrery/printable.hpp"
#include "reports/summary/figure_text.hpp"

namespace orrery {

SummaryText::SummaryText(SummaryStyle style)
    : colour_(style.colour), width_(std::clamp(style.columns, 80, 160)) {}

std::string SummaryText::painted(std::string_view code, std::string_view text) const {
  return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::size_t SummaryText::columns(std::size_t taken) const { return static_cast<std::size_t>(width_) - taken; }

void SummaryText::heading(std::string_view name, std::string_view note) {
  line("\n{}{}{}", painted("1", name), note.empty() ? "" : "  ", painted("2", note));
}

void SummaryText::wrapped(std::string_view start, std::string_view text) {
  const std::string clean = one_line(text);
  std::string rest(clean);
  std::string begin(start);
  while (!rest.empty()) {
    const std::size_t room = columns(begin.size());
    std::size_t length = rest.size();
    if (columns_of(rest) > room) {
      length = rest.rfind(' ', room);
      if (length == std::string::npos || length == 0) length = prefix_of(rest, room);
    }
    line("{}{}", begin, rest.substr(0, length));
    rest.erase(0, std::min(rest.size(), rest.find_first_not_of(' ', length)));
    begin.assign(start.empty() ? 2 : start.size(), ' ');
  }
}

void SummaryText::faint(std::string_view text) {
  const std::size_t begin = text_.size();
  wrapped("", text);
  if (colour_) text_ = text_.substr(0, begin) + painted("2", text_.substr(begin));
}

void SummaryText::list(std::string_view name, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  heading(name);
  for (const std::string& sentence : sentences) wrapped("  - ", sentence);
}

void SummaryText::part(std::string_view name, double seconds, double whole_s, std::string_view code) {
  if (seconds <= 0) return;
  const double share = seconds / whole_s;
  const std::string cells = bar(share, width_ - 46);
  line("  {:<20}{:>13}{:>7.1f} %{}", name, duration(seconds), 100 * share,
       cells.empty() ? "" : "  " + painted(code, cells));
}

}  // namespace orrery
