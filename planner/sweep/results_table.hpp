// Reads a file of results: the points of a sweep with their results, as a table.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/sweep/column_kind.hpp"
#include "planner/sweep/database.hpp"
#include "planner/sweep/sweep.hpp"
#include "reports/writers.hpp"

namespace orrery {

struct ResultsColumn {
  std::string name;
  ColumnKind kind = ColumnKind::unknown;
  bool of_space = false;
};

/// Names a figure that a choice of points minimises or maximises.
struct Aim {
  std::string key;
  bool most = false;
};

/// Reads KEY, min:KEY or max:KEY. Without either more is better where it is of KEY: more_is_better().
[[nodiscard]] Aim parse_aim(std::string_view text);

/// Shows a sweep as it is at one moment, even if other processes write to it meanwhile. One thread at a time.
class ResultsTable {
 public:
  /// @param sweep  its id, 0: the latest. @throws as ResultsFile, also where there is no such file or sweep.
  ResultsTable(const std::string& file, std::int64_t sweep,
               std::chrono::milliseconds lock_wait = ResultsFile::kLockWait);

  /// point, state, reason, the keys of the space, those of the result.
  [[nodiscard]] const std::vector<ResultsColumn>& columns() const { return columns_; }
  [[nodiscard]] SweepSummary summary() const;
  /// Returns true if any feasible point has a number for the key.
  [[nodiscard]] bool has_figure(std::string_view key) const;
  /// Returns the default figure to compare points by: step_time_s, or tokens_per_s_per_gpu if requests are
  /// served.
  [[nodiscard]] std::string usual_figure() const;

  /// The `most` best feasible points that differ, the best first; of equal ones the first.
  /// @throws InputError for a key that the file has no numbers of, or none of a feasible point of the sweep.
  [[nodiscard]] std::vector<std::uint64_t> best(const Aim& aim, std::uint64_t most) const;
  /// The feasible points that differ than which none is better in one and at least as good in all: by the
  /// first key. Points without a value of one of them are left out. @throws as best().
  [[nodiscard]] std::vector<std::uint64_t> pareto(std::span<const Aim> aims) const;

  using Row = std::vector<ResultScalar>;  ///< per column
  /// Reads all rows, or those of some points in their order.
  void read(const std::optional<std::vector<std::uint64_t>>& points,
            const std::function<void(const Row& row)>& use) const;
  /// Reads one column.
  void read_column(std::size_t column, const std::optional<std::vector<std::uint64_t>>& points,
                   const std::function<void(const ResultScalar& value)>& use) const;

 private:
  void add_columns();
  [[nodiscard]] std::string checked(const std::string& key) const;
  void require_figure(const std::string& key, const SweepSummary& summary) const;
  void select(const std::string& columns, const std::optional<std::vector<std::uint64_t>>& points,
              const std::function<void(const Statement& row)>& use) const;
  [[nodiscard]] ResultScalar typed(ResultScalar value, std::size_t column) const;

  Database database_;
  std::int64_t sweep_ = 0;
  std::vector<ResultsColumn> columns_;
};

enum class ExportFormat : std::uint8_t {
  csv,      ///< a header line and a line per point
  jsonl,    ///< an object of JSON per point
  columns,  ///< one object of JSON, with a list per column
};
inline constexpr std::array<std::string_view, 3> kExportFormatNames{"csv", "jsonl", "columns"};

/// Exports all points of the sweep that are experiments, or those named.
void export_results(const ResultsTable& table, ExportFormat format,
                    const std::optional<std::vector<std::uint64_t>>& points, const Sink& sink);

/// Writes a page of HTML: any figure of the points against any other, and each point whole. If there are more
/// points than a browser draws, those with the shortest steps are taken.
void write_sweep_page(const ResultsTable& table, const std::string& file, const Sink& sink);

}  // namespace orrery
