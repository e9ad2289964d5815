// The columns of the table on the terminal, as text. Internal to comparison/.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "studies/compare/compare.hpp"

namespace orrery {

struct TableColumn {
  std::string header;
  std::string unit;                ///< "" where there is none
  std::vector<std::string> cells;  ///< per row
  bool right = true;               ///< numbers end alike, words begin alike
  int importance = 0;              ///< where room is short, the least important columns go first
  std::string words;               ///< how a value that all rows share is said, such as "GPUs"

  [[nodiscard]] std::size_t width() const;
  /// Whether all rows that say something say the same, and what.
  [[nodiscard]] bool same_in_all_rows() const;
  [[nodiscard]] const std::string& shared_value() const;
};

/// All columns there are something to say in, from left to right.
[[nodiscard]] std::vector<TableColumn> table_columns(const Comparison& comparison);

}  // namespace orrery
