#include "reports/text/column_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/text/text_table.hpp"

namespace orrery {
namespace {

constexpr std::size_t kColumnGap = 2;  ///< blanks between columns, and before the first
constexpr int kStays = 90;             ///< importance from which on a column is never left out

struct Range {
  double least = 0;  ///< above 0
  double most = 0;
};

Range range_of(const ColumnValues& values) {
  Range range;
  for (const auto& value : values) {
    if (!value || *value <= 0 || !std::isfinite(*value)) continue;
    range.least = range.least > 0 ? std::min(range.least, *value) : *value;
    range.most = std::max(range.most, *value);
  }
  return range;
}

/// Decimals that give the smallest value four digits, and at most three.
int decimals_for(double least) {
  if (least <= 0) return 0;
  return std::clamp(3 - static_cast<int>(std::floor(std::log10(least))), 0, 3);
}

std::string number(double value, int decimals) {
  if (std::isinf(value)) return "never";
  return fmt::format("{:.{}f}", value, decimals);
}

/// The last `parts` parts of a dotted key.
std::string ending(const std::string& key, std::size_t parts) {
  std::size_t begin = key.size();
  while (parts-- > 0 && begin != std::string::npos && begin > 0) begin = key.rfind('.', begin - 1);
  return begin == std::string::npos || begin == 0 ? key : key.substr(begin + 1);
}

std::size_t width_of(const std::vector<TableColumn>& columns) {
  std::size_t width = 0;
  for (const TableColumn& column : columns) width += kColumnGap + column.width();
  return width;
}

class ColumnTableText {
 public:
  ColumnTableText(std::vector<TableColumn> columns, const TableStyle& style)
      : columns_(std::move(columns)), style_(style) {}

  std::string text(const std::function<bool(std::size_t row)>& bad) {
    const std::size_t rows = columns_.empty() ? 0 : columns_.front().cells.size();
    while (width_of(columns_) > style_.width && move_up()) {
    }
    while (width_of(columns_) > style_.width && leave_out()) {
    }
    notes();
    header();
    for (std::size_t i = 0; i < rows; ++i) row(i, bad && bad(i));
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }
  [[nodiscard]] std::string in(std::string_view code, std::string_view text) const {
    return painted(style_.colour, code, text);
  }

  /// Says the least important column that is alike in all rows above the table.
  bool move_up() {
    const auto fits = [](const TableColumn& column) {
      return !column.words.empty() && column.same_in_all_rows();
    };
    return take(fits, shared_);
  }

  bool leave_out() {
    return take([](const TableColumn& column) { return column.importance < kStays; }, dropped_);
  }

  template <class Fits>
  bool take(Fits fits, std::vector<TableColumn>& taken) {
    auto least = columns_.end();
    for (auto column = columns_.begin(); column != columns_.end(); ++column) {
      const bool less = least == columns_.end() || column->importance < least->importance;
      if (less && fits(*column)) least = column;
    }
    if (least == columns_.end()) return false;
    taken.push_back(std::move(*least));
    columns_.erase(least);
    return true;
  }

  void notes() {
    std::string facts;
    for (const TableColumn& column : shared_) {
      facts += fmt::format("{}{} {}", facts.empty() ? "" : ", ", column.words, column.shared_value());
    }
    if (!facts.empty()) line("  " + in("2", fmt::format("{}: {}", style_.shared, facts)));
    std::string hidden;
    for (const TableColumn& column : dropped_) hidden += (hidden.empty() ? "" : ", ") + column.header;
    if (!hidden.empty()) line("  " + in("2", fmt::format("no room for: {} ({})", hidden, style_.all)));
    if (!out_.empty()) out_ += "\n";
  }

  std::string cells(const std::vector<std::string>& texts) const {
    std::string out;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string blanks(columns_[i].width() - text_width(texts[i]), ' ');
      out += std::string(kColumnGap, ' ') + (columns_[i].right ? blanks + texts[i] : texts[i] + blanks);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  }

  void header() {
    std::vector<std::string> names;
    std::vector<std::string> units;
    for (const TableColumn& column : columns_) {
      names.push_back(column.header);
      units.push_back(column.unit);
    }
    line(in("1", cells(names)));
    if (std::ranges::any_of(units, [](const std::string& unit) { return !unit.empty(); }))
      line(in("2", cells(units)));
  }

  void row(std::size_t index, bool bad) {
    std::vector<std::string> texts;
    for (const TableColumn& column : columns_) texts.push_back(column.cells[index]);
    line(bad ? in("31", cells(texts)) : cells(texts));
  }

  std::vector<TableColumn> columns_;
  const TableStyle& style_;
  std::vector<TableColumn> shared_;
  std::vector<TableColumn> dropped_;
  std::string out_;
};

}  // namespace

std::size_t TableColumn::width() const {
  std::size_t width = std::max(text_width(header), text_width(unit));
  for (const std::string& cell : cells) width = std::max(width, text_width(cell));
  return width;
}

const std::string& TableColumn::shared_value() const {
  const auto said = std::ranges::find_if(cells, [](const std::string& cell) { return cell != kEmptyCell; });
  return said == cells.end() ? cells.front() : *said;
}

bool TableColumn::same_in_all_rows() const {
  const std::string& value = shared_value();
  return std::ranges::all_of(cells,
                             [&](const std::string& cell) { return cell == value || cell == kEmptyCell; });
}

TableUnit unit_for(const ColumnValues& values, std::span<const TableUnit> units) {
  const Range range = range_of(values);
  const double middle = std::sqrt(range.least * range.most);
  TableUnit best = units.front();
  for (const TableUnit& unit : units) {
    if (middle >= unit.size) best = unit;
  }
  return best;
}

TableColumn figure_column(std::string header, const ColumnValues& values, std::span<const TableUnit> units,
                          int importance) {
  const TableUnit unit = unit_for(values, units);
  const int decimals = decimals_for(range_of(values).least / unit.size);
  TableColumn column{std::move(header), std::string(unit.name), {}, true, importance, ""};
  for (const auto& value : values)
    column.cells.push_back(value ? number(*value / unit.size, decimals) : kEmptyCell);
  return column;
}

std::vector<std::string> short_names(const std::vector<std::string>& keys) {
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    std::size_t parts = 1;
    const auto alike = [&](const std::string& other) { return ending(other, parts) == ending(key, parts); };
    while (ending(key, parts) != key && std::ranges::count_if(keys, alike) > 1) ++parts;
    names.push_back(ending(key, parts));
  }
  return names;
}

std::string shortened(std::string text, std::size_t most) {
  if (text.size() > most) text = text.substr(0, most - 3) + "...";
  return text;
}

bool is_number_cell(const std::string& text) {
  return text == kEmptyCell ||
         (!text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string::npos);
}

std::string painted(bool colour, std::string_view code, std::string_view text) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string table_text(std::vector<TableColumn> columns, const TableStyle& style,
                       const std::function<bool(std::size_t row)>& bad) {
  return ColumnTableText(std::move(columns), style).text(bad);
}

}  // namespace orrery
