#include "studies/validate/text_parts.hpp"

#include <fmt/format.h>

#include <set>

namespace orrery {

std::string percent(double ratio) { return fmt::format("{:.1f} %", 100 * ratio); }

std::string signed_percent(double ratio) { return fmt::format("{:+.1f} %", 100 * ratio); }

std::string counted_rows(std::size_t count) { return fmt::format("{} row{}", count, count == 1 ? "" : "s"); }

std::string correlation(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "-";
}

std::string row_label(const ComparedFigure& figure, const TableResult& result) {
  return figure.key == result.main_key ? figure.row : figure.row + " " + figure.key;
}

std::string overview_label(const TableResult& result, const std::string& key) {
  return result.of_requests ? result.table + " " + key : result.table;
}

std::map<std::string, std::size_t> reasons(const TableResult& result) {
  std::map<std::string, std::size_t> out;
  for (const SkippedRow& row : result.skipped) ++out[row.reason];
  return out;
}

std::vector<std::string> ways_left_out(const std::vector<TableResult>& results) {
  std::set<std::string> ways;
  for (const TableResult& result : results)
    for (const auto& [way, errors] : result.left_out) ways.insert(way);
  return {ways.begin(), ways.end()};
}

}  // namespace orrery
