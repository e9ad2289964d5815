// Tables on a terminal: columns of text that give way where there is no room.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Marks a cell without a value.
inline constexpr const char* kEmptyCell = "-";

struct TableColumn {
  std::string header;
  std::string unit;                ///< "" where there is none
  std::vector<std::string> cells;  ///< per row
  bool right = true;               ///< numbers end alike, words begin alike
  int importance = 0;  ///< where room is short, the least important columns go first; 90 and more stay
  std::string words;   ///< how a value that all rows share is said, such as "GPUs"; "": never

  [[nodiscard]] std::size_t width() const;
  /// Returns true if all rows with a value have the same one; shared_value() returns it.
  [[nodiscard]] bool same_in_all_rows() const;
  [[nodiscard]] const std::string& shared_value() const;
};

/// A unit of a quantity: its size in base units.
struct TableUnit {
  double size = 1;
  std::string_view name;
};
inline constexpr std::array<TableUnit, 5> kTimeUnits{
    {{1e-6, "us"}, {1e-3, "ms"}, {1, "s"}, {3600, "h"}, {86400, "days"}}};
inline constexpr std::array<TableUnit, 4> kSizeUnits{{{1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};

/// Values in base units; nullopt for cells without a value.
using ColumnValues = std::vector<std::optional<double>>;

/// The unit in which the middle of the values above 0, by ratio, is at least 1.
[[nodiscard]] TableUnit unit_for(const ColumnValues& values, std::span<const TableUnit> units);

/// Numbers in one unit, with as many decimals as give the smallest four digits.
[[nodiscard]] TableColumn figure_column(std::string header, const ColumnValues& values,
                                        std::span<const TableUnit> units, int importance);

/// The ends of dotted keys that tell them apart: nodes, or plan.nodes beside cluster.nodes.
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& keys);

/// `text`, or its beginning and dots.
[[nodiscard]] std::string shortened(std::string text, std::size_t most);

/// Returns true if a cell is a number, or empty.
[[nodiscard]] bool is_number_cell(const std::string& text);

/// `text` in colour, or bold, by the code of ANSI; as it is without `colour`.
[[nodiscard]] std::string painted(bool colour, std::string_view code, std::string_view text);

struct TableStyle {
  std::size_t width = 80;   ///< most columns of text
  bool colour = false;      ///< with ANSI colours
  std::string_view shared;  ///< words for columns that moved above the table
  std::string_view all;     ///< where those are that there was no room for, such as "--csv has all"
};

/// A table: columns that are alike in all rows move into a line above it where there is no room, then the
/// least important ones are left out. `bad`: rows in red.
[[nodiscard]] std::string table_text(std::vector<TableColumn> columns, const TableStyle& style,
                                     const std::function<bool(std::size_t row)>& bad = {});

}  // namespace orrery
