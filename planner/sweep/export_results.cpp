// Files of results as CSV and JSON.
#include <string>

#include "planner/sweep/results_table.hpp"
#include "reports/text/csv_field.hpp"
#include "reports/text/json_text.hpp"

namespace orrery {
namespace {

using Points = std::optional<std::vector<std::uint64_t>>;

void append_scalar(const ResultScalar& value, std::string& out) {
  std::visit(
      [&out](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>)
          append_json(nullptr, out);
        else if constexpr (std::is_same_v<Held, std::string>)
          append_json(std::string_view(held), out);
        else
          append_json(held, out);
      },
      value);
}

/// Numbers and flags as in JSON; nothing is an empty cell.
std::string csv_cell(const ResultScalar& value) {
  if (std::holds_alternative<std::monostate>(value)) return "";
  if (const auto* text = std::get_if<std::string>(&value)) return csv_field(*text);
  std::string out;
  append_scalar(value, out);
  return out;
}

void write_csv(const ResultsTable& table, const Points& points, const Sink& sink) {
  std::string header;
  for (const ResultsColumn& column : table.columns())
    header += (header.empty() ? "" : ",") + csv_field(column.name);
  sink(header + "\n");
  table.read(points, [&](const ResultsTable::Row& row) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += (c == 0 ? "" : ",") + csv_cell(row[c]);
    sink(line + "\n");
  });
}

void write_lines(const ResultsTable& table, const Points& points, const Sink& sink) {
  table.read(points, [&](const ResultsTable::Row& row) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += c == 0 ? '{' : ',';
      append_json(std::string_view(table.columns()[c].name), line);
      line += ':';
      append_scalar(row[c], line);
    }
    sink(line + "}\n");
  });
}

void write_columns(const ResultsTable& table, const Points& points, const Sink& sink) {
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    std::string text = c == 0 ? "{" : ",\n";
    append_json(std::string_view(table.columns()[c].name), text);
    text += ": [";
    bool first = true;
    table.read_column(c, points, [&](const ResultScalar& value) {
      constexpr std::size_t kBlock = 1 << 16;
      if (!std::exchange(first, false)) text += ',';
      append_scalar(value, text);
      if (text.size() < kBlock) return;
      sink(text);
      text.clear();
    });
    sink(text + "]");
  }
  sink("}\n");
}

}  // namespace

void export_results(const ResultsTable& table, ExportFormat format, const Points& points, const Sink& sink) {
  switch (format) {
    case ExportFormat::csv:
      return write_csv(table, points, sink);
    case ExportFormat::jsonl:
      return write_lines(table, points, sink);
    case ExportFormat::columns:
      return write_columns(table, points, sink);
  }
}

}  // namespace orrery
