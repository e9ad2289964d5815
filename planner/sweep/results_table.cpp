#include "planner/sweep/results_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "planner/methods/objective.hpp"
#include "planner/sweep/results_layout.hpp"
#include "reports/text/json_text.hpp"

namespace orrery {
namespace {

using Points = std::optional<std::vector<std::uint64_t>>;

/// `path`, where such a file can be read: one that is not there is no empty table.
const std::string& readable(const std::string& path) {
  if (::access(path.c_str(), R_OK) == 0) return checked_results_file(path);
  throw InputError({Diagnostic{path, 0, 0, "", std::generic_category().message(errno)}});
}

/// Returns true if `a` is better in one figure and as good in all others.
bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] > b[k]) return false;
    better = better || a[k] < b[k];
  }
  return better;
}

/// A feasible point, and its figures as costs: the least is best.
struct Candidate {
  std::uint64_t point = 0;
  std::vector<double> costs;
};

/// Returns the undominated points. They are in order of the first cost, so that no later one dominates an
/// earlier one, except for equal first costs, which the others put in order.
std::vector<std::uint64_t> undominated(std::vector<Candidate> candidates) {
  std::ranges::sort(candidates, {}, [](const Candidate& c) { return std::tie(c.costs, c.point); });
  std::vector<const Candidate*> front;
  for (const Candidate& candidate : candidates) {
    const auto loses = [&](const Candidate* other) { return dominates(other->costs, candidate.costs); };
    if (std::ranges::none_of(front, loses)) front.push_back(&candidate);
  }
  std::vector<std::uint64_t> points;
  for (const Candidate* candidate : front) points.push_back(candidate->point);
  return points;
}

}  // namespace

Aim parse_aim(std::string_view text) {
  const bool turned = text.starts_with("min:") || text.starts_with("max:");
  const std::string_view key = text.substr(turned ? 4 : 0);
  return {std::string(key), turned ? text.starts_with("max:") : more_is_better(key)};
}

ResultsTable::ResultsTable(const std::string& file, std::int64_t sweep, std::chrono::milliseconds lock_wait)
    : database_(readable(file), Database::Access::read, lock_wait) {
  check_results_layout(database_);
  database_.run("BEGIN");  // up to its end
  sweep_ = summarize_sweep(database_, sweep).sweep;
  add_columns();
}

void ResultsTable::add_columns() {
  columns_ = {{"point", ColumnKind::count, false},
              {"state", ColumnKind::text, false},
              {"reason", ColumnKind::text, false}};
  Statement rows = database_.prepare("SELECT part, name, kind FROM columns ORDER BY part DESC, id");
  while (rows.step()) {
    ResultsColumn column{rows.text(1), column_kind(rows.text(2)), rows.text(0) == "space"};
    // The value that the plan was asked for takes precedence over the one that it ran with.
    if (std::ranges::find(columns_, column.name, &ResultsColumn::name) == columns_.end())
      columns_.push_back(std::move(column));
  }
}

SweepSummary ResultsTable::summary() const { return summarize_sweep(database_, sweep_); }

bool ResultsTable::has_figure(std::string_view key) const {
  const bool known = std::ranges::any_of(columns_, [key](const ResultsColumn& column) {
    return column.name == key && (column.kind == ColumnKind::number || column.kind == ColumnKind::count);
  });
  if (!known) return false;
  Statement row = database_.prepare(
      fmt::format("SELECT 1 FROM plans WHERE sweep = ? AND state = 'feasible' AND {} IS NOT NULL LIMIT 1",
                  sql_name(std::string(key))));
  return row.bind(1, sweep_).step();
}

std::string ResultsTable::usual_figure() const {
  const bool serves = !has_figure("step_time_s") && has_figure("tokens_per_s_per_gpu");
  return serves ? "tokens_per_s_per_gpu" : "step_time_s";
}

std::string ResultsTable::checked(const std::string& key) const {
  std::vector<std::string_view> known;
  for (const ResultsColumn& column : columns_)
    if (column.kind == ColumnKind::count || column.kind == ColumnKind::number ||
        column.kind == ColumnKind::unknown)  // no point has a value: require_figure()
      known.push_back(column.name);
  if (std::ranges::find(known, key) != known.end()) return sql_name(key);
  throw InputError({Diagnostic{database_.path(), 0, 0, "",
                               fmt::format("found {}, allowed a column of numbers, such as step_time_s{}",
                                           quote(key), hint(key, known))}});
}

/// Throws if no point has the figure, such as cost if no rent is known, since a choice by it would silently
/// be empty.
void ResultsTable::require_figure(const std::string& key, const SweepSummary& summary) const {
  if (summary.feasible == 0 || has_figure(key)) return;
  throw InputError({Diagnostic{database_.path(), 0, 0, "",
                               fmt::format("none of the {} feasible points has a value of {}, allowed a "
                                           "figure that some have",
                                           summary.feasible, quote(key))}});
}

std::vector<std::uint64_t> ResultsTable::best(const Aim& aim, std::uint64_t most) const {
  const std::string key = checked(aim.key);
  require_figure(aim.key, summary());
  Statement rows =
      database_.prepare(fmt::format("SELECT min(point) FROM plans WHERE sweep = ? AND state = 'feasible' AND "
                                    "{0} IS NOT NULL GROUP BY content "
                                    "ORDER BY {0} {1}, min(point) LIMIT ?",
                                    key, aim.most ? "DESC" : "ASC"));
  rows.bind(1, sweep_).bind(2, static_cast<std::int64_t>(std::min<std::uint64_t>(most, 1ULL << 62)));
  std::vector<std::uint64_t> points;
  while (rows.step()) points.push_back(static_cast<std::uint64_t>(rows.integer(0)));
  return points;
}

std::vector<std::uint64_t> ResultsTable::pareto(std::span<const Aim> aims) const {
  const SweepSummary about = summary();
  std::string keys;
  std::string known;
  for (const Aim& aim : aims) {
    keys += ", " + checked(aim.key);
    known += fmt::format(" AND {} IS NOT NULL", checked(aim.key));
    require_figure(aim.key, about);
  }
  Statement rows = database_.prepare(
      fmt::format("SELECT min(point){} FROM plans WHERE sweep = ? AND state = 'feasible'{} GROUP BY content",
                  keys, known));
  rows.bind(1, sweep_);
  std::vector<Candidate> candidates;
  while (rows.step()) {
    Candidate candidate{static_cast<std::uint64_t>(rows.integer(0)), {}};
    for (std::size_t k = 0; k < aims.size(); ++k) {
      const double value = rows.number(static_cast<int>(1 + k));
      candidate.costs.push_back(aims[k].most ? -value : value);
    }
    candidates.push_back(std::move(candidate));
  }
  return undominated(std::move(candidates));
}

void ResultsTable::select(const std::string& columns, const Points& points,
                          const std::function<void(const Statement& row)>& use) const {
  const std::string from = fmt::format("SELECT {} FROM plans WHERE sweep = ?", columns);
  if (!points) {
    Statement rows = database_.prepare(from + " ORDER BY point");
    rows.bind(1, sweep_);
    while (rows.step()) use(rows);
    return;
  }
  Statement row = database_.prepare(from + " AND point = ?");
  for (const std::uint64_t point : *points) {
    row.bind(1, sweep_).bind(2, static_cast<std::int64_t>(point));
    while (row.step()) use(row);
  }
}

/// The value as one of the column's kind.
ResultScalar ResultsTable::typed(ResultScalar value, std::size_t column) const {
  const ColumnKind kind = columns_[column].kind;
  const auto* count = std::get_if<std::int64_t>(&value);
  if (count != nullptr && kind == ColumnKind::flag) return *count != 0;
  if (count != nullptr && kind == ColumnKind::number) return static_cast<double>(*count);
  if (count != nullptr && kind == ColumnKind::text) return std::to_string(*count);
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr || kind != ColumnKind::text) return value;
  std::string text;
  append_json(*number, text);
  return text;
}

void ResultsTable::read(const Points& points, const std::function<void(const Row& row)>& use) const {
  std::string names;
  for (const ResultsColumn& column : columns_) names += (names.empty() ? "" : ", ") + sql_name(column.name);
  Row values(columns_.size());
  select(names, points, [&](const Statement& row) {
    for (std::size_t c = 0; c < values.size(); ++c) values[c] = typed(row.scalar(static_cast<int>(c)), c);
    use(values);
  });
}

void ResultsTable::read_column(std::size_t column, const Points& points,
                               const std::function<void(const ResultScalar& value)>& use) const {
  select(sql_name(columns_[column].name), points,
         [&](const Statement& row) { use(typed(row.scalar(0), column)); });
}

}  // namespace orrery
