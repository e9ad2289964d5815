#include <fmt/format.h>

#include <string>

#include "studies/validate/text_parts.hpp"
#include "studies/validate/writers.hpp"

namespace orrery {
namespace {

/// `text` as a cell of a Markdown table.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '<' || c == '`') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

void write_left_out(const TableResult& result, const std::string& way, const TextSink& sink) {
  const auto found = result.left_out.find(way);
  if (found == result.left_out.end()) return sink(" | | |");
  const ErrorStatistics& s = found->second;
  sink(fmt::format(" {} | {} | {} |", percent(s.mean_abs_error), signed_percent(s.bias),
                   s.inside_p10_p90 ? percent(*s.inside_p10_p90) : ""));
}

void write_overview_line(const TableResult& result, const std::string& key,
                         const std::vector<std::string>& ways, const TextSink& sink) {
  const std::string name = escaped(overview_label(result, key));
  const auto found = result.statistics.find(key);
  if (found == result.statistics.end())
    return sink(fmt::format("| {} | 0 | {} | | | | | | | |\n", name, result.skipped.size()));
  const ErrorStatistics& s = found->second;
  sink(fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |", name, s.rows, result.skipped.size(),
                   percent(s.mean_abs_error), percent(s.median_abs_error), percent(s.p90_abs_error),
                   percent(s.max_abs_error), signed_percent(s.bias), correlation(s.rank_correlation),
                   correlation(s.rank_correlation_within_model)));
  for (const std::string& way : ways) write_left_out(result, way, sink);
  sink("\n");
}

void write_overview_page(const std::vector<TableResult>& results, const TextSink& sink) {
  const std::vector<std::string> ways = ways_left_out(results);
  sink("| table | rows | skipped | mean | median | p90 | max | bias | rank correlation | within a model |");
  for (const std::string& way : ways) sink(fmt::format(" {} left out: mean | bias | inside |", way));
  sink("\n|---|---|---|---|---|---|---|---|---|---|");
  for (std::size_t i = 0; i < ways.size(); ++i) sink("---|---|---|");
  sink("\n");
  for (const TableResult& result : results) {
    for (const std::string& key : result.key_figures()) write_overview_line(result, key, ways, sink);
  }
}

void write_table(const TableResult& result, const TextSink& sink) {
  sink(fmt::format("\n## {}\n\n", escaped(result.table)));
  for (const auto& [key, s] : result.statistics) {
    sink(fmt::format("`{}`: {}, mean error {}, bias {}.\n", key, counted_rows(s.rows),
                     percent(s.mean_abs_error), signed_percent(s.bias)));
  }
  for (const auto& [key, s] : result.kept_back) {
    sink(fmt::format("`{}` of rows kept back from fits: {}, mean error {}, bias {}.\n", key,
                     counted_rows(s.rows), percent(s.mean_abs_error), signed_percent(s.bias)));
  }
  if (result.infeasible > 0) {
    sink(fmt::format("{} with a plan that does not fit into memory by the model, marked †.\n",
                     counted_rows(result.infeasible)));
  }
  if (!result.figures.empty()) {
    sink("\n| run | GPUs | predicted | measured | error |\n|---|---|---|---|---|\n");
  }
  for (const ComparedFigure& f : result.figures) {
    sink(fmt::format("| {}{} | {} | {:.5g} | {:.5g} | {} |\n", escaped(row_label(f, result)),
                     f.feasible ? "" : " †", f.gpus, f.pair.predicted, f.pair.measured,
                     signed_percent(f.pair.error())));
  }
  const auto skipped = reasons(result);
  if (!skipped.empty()) sink("\nSkipped:\n\n");
  for (const auto& [reason, count] : skipped)
    sink(fmt::format("- {}: {}\n", counted_rows(count), escaped(reason)));
}

}  // namespace

void write_validation_page(const std::vector<TableResult>& results, std::string_view command,
                           const TextSink& sink) {
  sink("# Validation results\n\n");
  sink(fmt::format("Written by `{}`; not edited by hand.\n", command));
  sink("[validate.md](validate.md) says how to read it.\n");
  sink(
      "Errors are predicted / measured - 1; mean, median, p90 and max are of their absolute values, in "
      "the\n");
  sink("overview those of the step time where a table has it.\n\n");
  write_overview_page(results, sink);
  for (const TableResult& result : results) write_table(result, sink);
}

}  // namespace orrery
