#include "reports/text/text_table.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::string_view kGap = "  ";

bool is_number(std::string_view cell) {
  return cell.empty() || cell == "-" || cell.find_first_not_of("0123456789.+-e%") == std::string_view::npos;
}

}  // namespace

std::size_t text_width(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, begins));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t c = 0; c < headers_.size(); ++c) {
    std::size_t width = text_width(headers_[c]);
    for (const auto& row : rows_) width = std::max(width, text_width(row[c]));
    widths.push_back(width);
    right.push_back(std::ranges::all_of(rows_, [c](const auto& row) { return is_number(row[c]); }));
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string blanks(widths[c] - text_width(cells[c]), ' ');
      out.append(kGap).append(right[c] ? blanks + cells[c] : cells[c] + blanks);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  line(headers_);
  for (const auto& row : rows_) line(row);
  return out;
}

}  // namespace orrery
