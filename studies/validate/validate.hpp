// Predictions beside measurements: simulates the rows of tables and says how far off they are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/simulate.hpp"
#include "studies/validate/measured_table.hpp"
#include "studies/validate/statistics.hpp"

namespace orrery {

/// The figures of one simulated run that a table may have measured, by dotted key.
struct Prediction {
  std::int64_t gpus = 0;
  bool feasible = true;  ///< whether the plan fits into memory; it is simulated either way
  std::map<std::string, double, std::less<>> figures;
};

/// Simulates `experiment`: the figures of `keys`, and the range of the step time. @throws as simulate().
[[nodiscard]] Prediction predict(const Experiment& experiment, std::span<const std::string> keys,
                                 Simulator& simulator);

/// Returns a size that the time to simulate grows with, so that the large experiments can be started first.
[[nodiscard]] std::int64_t simulation_size(const Experiment& experiment);

/// One measured figure of one row and its prediction.
struct ComparedFigure {
  std::string row;
  std::string key;
  std::int64_t gpus = 0;
  bool feasible = true;
  Pair pair;
  std::optional<double> p10;  ///< the predicted range, where there is one
  std::optional<double> p90;
  /// Predictions by fits that had not seen the row, by the property it was left out by; studies/calibrate/
  /// adds them.
  std::map<std::string, double> left_out{};
  bool kept_back = false;  ///< no constant was fitted to the row
};

struct SkippedRow {
  std::string name;
  std::string reason;
};

struct TableResult {
  std::string table;
  bool fitted = false;                  ///< constants were fitted to it; studies/calibrate/ knows
  std::string main_key;                 ///< step_time_s where it was measured, else the first key
  std::size_t infeasible = 0;           ///< plans that ran and do not fit by the model
  std::size_t failed = 0;               ///< runs out of memory
  std::size_t failed_rightly = 0;       ///< of these, plans that do not fit by the model
  std::vector<ComparedFigure> figures;  ///< by row, then in the order of the columns
  std::vector<SkippedRow> skipped;
  bool of_requests = false;                           ///< rows serve requests: each of their figures counts
  std::map<std::string, ErrorStatistics> statistics;  ///< by key; a key without figures is missing
  /// Errors of rows that are marked as kept back (MeasuredRow::kept_back), by key.
  std::map<std::string, ErrorStatistics> kept_back;
  /// Errors of rows predicted by fits that had not seen them, by the property they were left out by;
  /// studies/calibrate/ adds them.
  std::map<std::string, ErrorStatistics> left_out;

  /// Returns the figures whose errors represent the table: all of those that rows of requests have, else the
  /// main one.
  [[nodiscard]] std::vector<std::string> key_figures() const;

  /// Null where no row has the main figure.
  [[nodiscard]] const ErrorStatistics* main() const {
    const auto found = statistics.find(main_key);
    return found == statistics.end() ? nullptr : &found->second;
  }
};

/// Called as rows are done, one call at a time.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// Simulates every row of `tables` on `threads` threads. The result depends on neither their number nor
/// their order. @throws InputError with all rows that cannot be simulated although they read well.
[[nodiscard]] std::vector<TableResult> validate(const std::vector<MeasuredTable>& tables, unsigned threads,
                                                const Progress& progress = {});

}  // namespace orrery
