#include "studies/compare/practice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "orrery/error.hpp"
#include "studies/validate/csv_text.hpp"

namespace orrery {
namespace {

/// Finds the cells of a table by the names in its first line.
class PublishedTable {
 public:
  PublishedTable(std::string_view text, std::string source)
      : source_(std::move(source)), rows_(read_csv(text, source_)) {
    if (rows_.empty()) throw wrong(1, 1, "found no line, wanted names of columns");
  }

  [[nodiscard]] std::size_t runs() const { return rows_.size() - 1; }

  [[nodiscard]] std::string text(std::size_t run, std::string_view name) const {
    return cell(run, name).text;
  }

  [[nodiscard]] std::optional<double> number(std::size_t run, std::string_view name) const {
    const CsvCell& found = cell(run, name);
    if (found.text.empty()) return std::nullopt;
    double value = 0;
    const char* const end = found.text.data() + found.text.size();
    const auto [stopped, error] = std::from_chars(found.text.data(), end, value);
    if (error != std::errc() || stopped != end)
      throw wrong(found.line, found.column,
                  fmt::format("{}: found \"{}\", wanted a number", name, found.text));
    return value;
  }

 private:
  [[nodiscard]] const CsvCell& cell(std::size_t run, std::string_view name) const {
    const CsvRow& names = rows_.front();
    const auto column = std::ranges::find(names, name, &CsvCell::text);
    if (column == names.end()) throw wrong(1, 1, fmt::format("found no column \"{}\"", name));
    const auto index = static_cast<std::size_t>(column - names.begin());
    const CsvRow& row = rows_[run + 1];
    if (index >= row.size())
      throw wrong(row.front().line, 1, fmt::format("found {} cells, wanted {}", row.size(), names.size()));
    return row[index];
  }

  [[nodiscard]] InputError wrong(int line, int column, std::string message) const {
    return InputError({Diagnostic{source_, line, column, "", std::move(message)}});
  }

  std::string source_;
  std::vector<CsvRow> rows_;
};

PublishedRun run_of(const PublishedTable& table, std::size_t i) {
  PublishedRun run;
  run.method = table.text(i, "method");
  run.topology = table.text(i, "topology");
  run.workers = static_cast<std::int64_t>(table.number(i, "workers").value_or(0));
  run.period = static_cast<std::int64_t>(table.number(i, "period").value_or(1));
  const auto steps = table.number(i, "steps");
  const auto all_reduce_steps = table.number(i, "all_reduce_steps");
  if (steps && all_reduce_steps) run.steps_ratio = *steps / *all_reduce_steps;
  run.reached = table.text(i, "reached") != "no";
  const auto value = table.number(i, "value");
  const auto all_reduce_value = table.number(i, "all_reduce_value");
  if (value && all_reduce_value) run.change = *value - *all_reduce_value;
  run.unit = table.text(i, "unit");
  return run;
}

bool keeps_exact_averages(SyncMethod method) {
  return method == SyncMethod::all_reduce || method == SyncMethod::parameter_server;
}

/// The range over runs with steps; none where no run has any.
std::optional<PracticeRange> range_of(const std::vector<PublishedRun>& runs) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  PracticeRange range{kNever, 0};
  for (const PublishedRun& run : runs) {
    if (!run.steps_ratio) continue;
    range.least = std::min(range.least, *run.steps_ratio);
    range.most = std::max(range.most, run.reached ? *run.steps_ratio : kNever);
  }
  return std::isfinite(range.least) ? std::optional(range) : std::nullopt;
}

std::string range_text(double least, double most, std::string_view format) {
  const std::string low = fmt::format(fmt::runtime(format), least);
  const std::string high = fmt::format(fmt::runtime(format), most);
  return low == high ? low : low + " to " + high;
}

/// Writes changes after equal steps, a range for each unit.
std::string changes_text(const std::vector<PublishedRun>& runs) {
  std::string text;
  std::set<std::string> units;
  for (const PublishedRun& run : runs) {
    if (!run.change || !units.insert(run.unit).second) continue;
    double least = *run.change;
    double most = *run.change;
    for (const PublishedRun& other : runs) {
      if (!other.change || other.unit != run.unit) continue;
      least = std::min(least, *other.change);
      most = std::max(most, *other.change);
    }
    text += (text.empty() ? ", after equal steps " : " and ") + range_text(least, most, "{:+.2f}") + " " +
            run.unit;
  }
  return text;
}

std::string steps_text(const std::vector<PublishedRun>& runs) {
  const std::optional<PracticeRange> range = range_of(runs);
  if (!range) return "";
  if (range->least == 1 && range->most == 1) return " as many steps";
  if (std::isfinite(range->most)) return " " + range_text(range->least, range->most, "{:.3g}") + " times";
  return fmt::format(" more than {:.3g} times", range->least);
}

/// Describes runs of one method: graph, workers, steps, changes.
std::string runs_text(const std::vector<PublishedRun>& runs) {
  if (runs.empty()) return "";
  const auto [fewest, most] = std::ranges::minmax(runs, {}, &PublishedRun::workers);
  const auto longest = std::ranges::max(runs, {}, &PublishedRun::period).period;
  std::string text = runs.front().method;
  if (!runs.front().topology.empty()) text += " over " + runs.front().topology;
  if (longest > 1) text += fmt::format(" with period {}", longest);
  text +=
      " of " + range_text(static_cast<double>(fewest.workers), static_cast<double>(most.workers), "{:.0f}");
  return text + " workers" + steps_text(runs) + changes_text(runs);
}

bool is_like(const PublishedRun& run, const DataParallelSync& sync) {
  const bool graph = run.topology.empty() || (run.topology == sync.topology && sync.neighbours.empty());
  const bool period =
      run.period == 1 || sync.period == run.period || (run.reached && sync.period < run.period);
  return graph && period;
}

/// Names the experiment as runs_text() does runs.
std::string named(const DataParallelSync& sync, std::int64_t workers, bool with_period) {
  std::string text(kSyncMethodNames[static_cast<std::size_t>(sync.method)]);
  if (sync.gossips()) text += " over " + (sync.neighbours.empty() ? sync.topology : "a graph of its own");
  if (with_period) text += fmt::format(" with period {}", sync.period);
  return text + fmt::format(" of {} workers", workers);
}

}  // namespace

std::vector<PublishedRun> read_published_runs(std::string_view text, const std::string& source) {
  const PublishedTable table(text, source);
  std::vector<PublishedRun> runs;
  for (std::size_t i = 0; i < table.runs(); ++i) runs.push_back(run_of(table, i));
  return runs;
}

Practice practice_of(const DataParallelSync& sync, std::int64_t workers,
                     const std::vector<PublishedRun>& runs) {
  const bool compressed = sync.compression.method != Compression::Method::none;
  if (keeps_exact_averages(sync.method) && !compressed) return {PracticeRange{}, "", ""};
  const std::string_view method = kSyncMethodNames[static_cast<std::size_t>(sync.method)];
  std::vector<PublishedRun> of_method;
  std::ranges::copy_if(runs, std::back_inserter(of_method),
                       [&](const PublishedRun& run) { return run.method == method; });
  std::vector<PublishedRun> alike;
  std::ranges::copy_if(of_method, std::back_inserter(alike),
                       [&](const PublishedRun& run) { return is_like(run, sync); });
  const bool large_enough = std::ranges::any_of(
      alike, [&](const PublishedRun& run) { return run.steps_ratio && run.workers >= workers; });
  if (large_enough && !compressed) {
    Practice practice{range_of(alike), runs_text(alike), ""};
    const bool shorter = std::ranges::any_of(
        alike, [&](const PublishedRun& run) { return run.period > 1 && sync.period < run.period; });
    if (shorter) practice.range->least = std::min(practice.range->least, 1.0);
    return practice;
  }
  const bool has_period =
      std::ranges::any_of(of_method, [](const PublishedRun& run) { return run.period > 1; });
  return {std::nullopt, runs_text(of_method),
          named(sync, workers, has_period) + (compressed ? ", compressed" : "")};
}

}  // namespace orrery
