// Writes the columns of the table on the terminal, as text. Internal to studies/compare/.
#pragma once

#include <vector>

#include "reports/text/column_table.hpp"
#include "studies/compare/compare.hpp"

namespace orrery {

/// Returns all columns that have any value, from left to right.
[[nodiscard]] std::vector<TableColumn> table_columns(const Comparison& comparison);

}  // namespace orrery
