#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "studies/validate/text_parts.hpp"
#include "studies/validate/writers.hpp"

namespace orrery {
namespace {

/// Columns on a terminal: as many as characters, not bytes.
std::size_t width_of(std::string_view text) {
  const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

void write_rows(const TableResult& result, const TextSink& sink) {
  std::size_t width = 3;
  for (const ComparedFigure& figure : result.figures)
    width = std::max(width, width_of(row_label(figure, result)));
  sink(fmt::format("  {}  {:>7}  {:>11}  {:>11}  {:>8}\n", padded("run", width), "GPUs", "predicted",
                   "measured", "error"));
  for (const ComparedFigure& figure : result.figures) {
    sink(fmt::format("  {}  {:>7}  {:>11.5g}  {:>11.5g}  {:>8}{}\n", padded(row_label(figure, result), width),
                     figure.gpus, figure.pair.predicted, figure.pair.measured,
                     signed_percent(figure.pair.error()), figure.feasible ? "" : "  does not fit"));
  }
}

void write_statistics(const std::string& key, const ErrorStatistics& s, const TextSink& sink) {
  sink(fmt::format("  {}: {}, mean error {}, median {}, p90 {}, max {}, bias {}\n", key, counted_rows(s.rows),
                   percent(s.mean_abs_error), percent(s.median_abs_error), percent(s.p90_abs_error),
                   percent(s.max_abs_error), signed_percent(s.bias)));
  if (s.rank_correlation)
    sink(fmt::format("  {}: rank correlation {}", key, correlation(s.rank_correlation)));
  if (s.rank_correlation_within_model) {
    sink(fmt::format(", within a model {} (lowest {})", correlation(s.rank_correlation_within_model),
                     correlation(s.lowest_within_model)));
  }
  if (s.rank_correlation) sink("\n");
  if (key == "step_time_s" && s.kendall_within_model && s.regret_within_model) {
    sink(fmt::format(
        "  {}: plans of one model: Kendall's tau {} (lowest {}), chosen plan {} off the best measured "
        "(at most {})\n",
        key, correlation(s.kendall_within_model), correlation(s.lowest_kendall_within_model),
        percent(*s.regret_within_model), percent(*s.largest_regret_within_model)));
  }
  if (s.inside_p10_p90) sink(fmt::format("  {}: {} inside p10 to p90\n", key, percent(*s.inside_p10_p90)));
}

void write_block(const TableResult& result, const TextSink& sink) {
  sink(fmt::format("{}  {}\n", result.table, result.main_key));
  if (!result.figures.empty()) write_rows(result, sink);
  for (const auto& [key, s] : result.statistics) write_statistics(key, s, sink);
  for (const auto& [key, s] : result.kept_back) {
    sink(fmt::format("  {} of rows kept back from fits: {}, mean error {}, bias {}\n", key,
                     counted_rows(s.rows), percent(s.mean_abs_error), signed_percent(s.bias)));
  }
  if (result.failed > 0) {
    sink(
        fmt::format("  {} failed for lack of memory, {} of them with a plan that does not fit by the model\n",
                    counted_rows(result.failed), result.failed_rightly));
  }
  if (result.infeasible > 0) {
    sink(fmt::format("  {} with a plan that does not fit into memory by the model\n",
                     counted_rows(result.infeasible)));
  }
  for (const auto& [reason, count] : reasons(result)) {
    sink(fmt::format("  {} skipped: {}\n", counted_rows(count), reason));
  }
  sink("\n");
}

void write_overview_row(const TableResult& result, const std::string& key,
                        const std::vector<std::string>& ways, const TextSink& sink) {
  const auto found = result.statistics.find(key);
  if (found == result.statistics.end())
    return sink(fmt::format("  {:>5}  {:>7}\n", 0, result.skipped.size()));
  const ErrorStatistics& s = found->second;
  sink(fmt::format("  {:>5}  {:>7}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>6}  {:>6}", s.rows,
                   result.skipped.size(), percent(s.mean_abs_error), percent(s.median_abs_error),
                   percent(s.p90_abs_error), percent(s.max_abs_error), signed_percent(s.bias),
                   correlation(s.rank_correlation), correlation(s.rank_correlation_within_model)));
  for (const std::string& way : ways) {
    const auto left = result.left_out.find(way);
    sink(fmt::format("  {:>11}", left == result.left_out.end() ? "-" : percent(left->second.mean_abs_error)));
  }
  sink("\n");
}

void write_overview_text(const std::vector<TableResult>& results, const TextSink& sink) {
  std::size_t width = 5;
  for (const TableResult& result : results) {
    for (const std::string& key : result.key_figures())
      width = std::max(width, width_of(overview_label(result, key)));
  }
  sink(fmt::format("{}  {:>5}  {:>7}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>6}  {:>6}",
                   padded("table", width), "rows", "skipped", "mean", "median", "p90", "max", "bias", "rank",
                   "model"));
  const std::vector<std::string> ways = ways_left_out(results);
  for (const std::string& way : ways) sink(fmt::format("  {:>11}", "out: " + way));
  sink("\n");
  for (const TableResult& result : results) {
    for (const std::string& key : result.key_figures()) {
      sink(padded(overview_label(result, key), width));
      write_overview_row(result, key, ways, sink);
    }
  }
}

}  // namespace

void write_validation_text(const std::vector<TableResult>& results, const TextSink& sink) {
  for (const TableResult& result : results) write_block(result, sink);
  write_overview_text(results, sink);
}

}  // namespace orrery
