#include "studies/calibrate/left_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "studies/validate/text_parts.hpp"

namespace orrery {
namespace {

constexpr const char* kAll = "all";

/// Deviations of the rows that `wanted` lets through.
template <class Wanted>
std::optional<Deciles> deciles_where(const LeftOutRows& rows, Wanted wanted) {
  std::vector<double> deviations;
  for (std::size_t i = 0; i < rows.ratios.size(); ++i)
    if (!rows.groups[i].empty() && wanted(i)) deviations.push_back(rows.deviation(i));
  return deciles(std::move(deviations));
}

Pair pair_of(const JointProblem& problem, const LeftOutRows& rows, std::size_t row) {
  Pair pair{rows.ratios[row], 1, problem.fit.rows[row].model_key};
  if (const auto range = range_of(problem, rows, row))
    pair.inside = range->p10 <= rows.deviation(row) && rows.deviation(row) <= range->p90;
  return pair;
}

}  // namespace

std::vector<LeftOutRows> left_out_rows(const JointProblem& problem, const std::vector<LeftOut>& by,
                                       unsigned threads, const JointProgress& progress) {
  std::vector<LeftOutRows> out;
  auto ratios = leave_out(problem, by, threads, progress);
  for (std::size_t k = 0; k < by.size(); ++k) {
    out.push_back({by[k], groups_of(problem, by[k]), std::move(ratios[k])});
    for (std::size_t i = 0; i < out.back().ratios.size(); ++i)
      out.back().ratios[i] = problem.fit.rows[i].time_ratio(out.back().ratios[i]);
  }
  return out;
}

std::optional<Deciles> range_of(const JointProblem& problem, const LeftOutRows& rows, std::size_t row) {
  const auto other = [&](std::size_t i) { return rows.groups[i] != rows.groups[row]; };
  if (rows.by == LeftOut::model) {
    const std::string& stack = problem.fit.rows[row].experiment.stack;
    const auto own = deciles_where(
        rows, [&](std::size_t i) { return other(i) && problem.fit.rows[i].experiment.stack == stack; });
    if (own) return own;
  }
  return deciles_where(rows, other);
}

std::set<std::string> fitted_tables(const Catalog& catalog) {
  std::set<std::string> out;
  for (const std::string& name : catalog.names(CatalogKind::calibration)) {
    const auto entry =
        nlohmann::json::parse(catalog.text(CatalogKind::calibration, name), nullptr, true, true);
    if (entry.value("part", "") != "software" || !entry.contains("fit")) continue;
    for (const auto& table : entry["fit"].value("tables", nlohmann::json::array()))
      if (table.is_string()) out.insert(table.get<std::string>());
  }
  return out;
}

void add_left_out(const JointProblem& problem, const std::vector<LeftOutRows>& all,
                  std::vector<TableResult>& results) {
  for (TableResult& result : results) {
    for (const LeftOutRows& rows : all) {
      const std::string way(kLeftOutNames[static_cast<std::size_t>(rows.by)]);
      std::vector<Pair> pairs;
      for (std::size_t i = 0; i < rows.ratios.size(); ++i) {
        const FitRow& row = problem.fit.rows[i];
        if (row.table != result.table || rows.groups[i].empty()) continue;
        pairs.push_back(pair_of(problem, rows, i));
        for (ComparedFigure& figure : result.figures) {
          if (figure.row == row.name && figure.key == row.figure)
            figure.left_out[way] = figure.pair.measured * row.time_ratio(rows.ratios[i]);
        }
      }
      if (!pairs.empty()) result.left_out[way] = error_statistics(pairs);
    }
  }
}

void mark_fitted(const Catalog& catalog, std::vector<TableResult>& results) {
  const std::set<std::string> tables = fitted_tables(catalog);
  for (TableResult& result : results) {
    const bool says_itself =
        result.of_requests && std::ranges::any_of(result.figures, std::not_fn(&ComparedFigure::kept_back));
    result.fitted = tables.contains(result.table) || says_itself;
  }
}

std::vector<LeftOutGroup> left_out_groups(const JointProblem& problem, const LeftOutRows& rows) {
  std::map<std::string, std::vector<Pair>> pairs;
  std::vector<Pair> all;
  for (std::size_t i = 0; i < rows.ratios.size(); ++i) {
    if (rows.groups[i].empty()) continue;
    pairs[rows.groups[i]].push_back(pair_of(problem, rows, i));
    all.push_back(pairs[rows.groups[i]].back());
  }
  std::vector<LeftOutGroup> out;
  for (const auto& [group, list] : pairs) out.push_back({group, error_statistics(list)});
  if (!all.empty()) out.push_back({kAll, error_statistics(all)});
  return out;
}

namespace {

/// Returns true if a group has a name; models are named only by the rows of tables.
bool is_named(const LeftOutSummary& summary, const LeftOutGroup& group) {
  return summary.by != LeftOut::model || group.group == kAll;
}

}  // namespace

void write_left_out_text(const std::vector<LeftOutSummary>& summaries,
                         const std::function<void(std::string_view)>& sink) {
  for (const LeftOutSummary& summary : summaries) {
    std::size_t width = 8;
    for (const LeftOutGroup& g : summary.groups)
      if (is_named(summary, g)) width = std::max(width, g.group.size());
    sink(fmt::format("\n{:<{}}  {:>5}  {:>8}  {:>8}  {:>8}  {:>8}  left out by {}\n", "left out", width,
                     "rows", "mean", "p90", "bias", "inside",
                     kLeftOutNames[static_cast<std::size_t>(summary.by)]));
    for (const LeftOutGroup& g : summary.groups) {
      if (!is_named(summary, g)) continue;
      const ErrorStatistics& s = g.errors;
      sink(fmt::format("{:<{}}  {:>5}  {:>8}  {:>8}  {:>8}  {:>8}\n", g.group, width, s.rows,
                       percent(s.mean_abs_error), percent(s.p90_abs_error), signed_percent(s.bias),
                       s.inside_p10_p90 ? percent(*s.inside_p10_p90) : "-"));
    }
  }
}

}  // namespace orrery
