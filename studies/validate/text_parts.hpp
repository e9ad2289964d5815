// Words and numbers that the terminal and the page share. Internal to validation/.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "studies/validate/validate.hpp"

namespace orrery {

/// A ratio as "4.2 %", and with its sign as "-4.2 %".
std::string percent(double ratio);
std::string signed_percent(double ratio);
/// "1 row", "2 rows".
std::string counted_rows(std::size_t count);
/// Three decimals, "-" where there is none.
std::string correlation(const std::optional<double>& value);
/// The row's name, with the key where it is not the table's main one.
std::string row_label(const ComparedFigure& figure, const TableResult& result);
/// The table's name in an overview, with the figure where rows of requests have several.
std::string overview_label(const TableResult& result, const std::string& key);
/// Why rows were skipped, and how many.
std::map<std::string, std::size_t> reasons(const TableResult& result);

/// Returns the properties by which rows of any table were left out.
std::vector<std::string> ways_left_out(const std::vector<TableResult>& results);

}  // namespace orrery
