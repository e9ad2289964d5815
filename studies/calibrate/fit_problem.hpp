// Defines a fit: constants of calibrations with their bounds, and the measured rows that are predicted with
// them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/catalog/constants.hpp"
#include "orrery/experiment.hpp"
#include "studies/calibrate/measured_run.hpp"
#include "studies/validate/measured_table.hpp"

namespace orrery {

struct Bounds {
  double low = 0;
  double high = 0;
};

struct FitRequest {
  std::vector<TableText> tables;
  std::vector<std::string> bases;        ///< calibrations
  std::vector<std::string> keys;         ///< each fitted in every base of its part
  std::map<std::string, Bounds> bounds;  ///< by key; the calibration's or the field's elsewhere
  std::vector<MeasuredRun> runs = {};    ///< beside the tables
};

/// Describes one constant of one calibration.
struct FitVariable {
  std::string base;
  Constant constant;
  double base_value = 0;
  Bounds bounds;
  bool logarithmic = false;  ///< searched by its logarithm

  /// Convert from and to the place between the bounds, 0 to 1.
  [[nodiscard]] double value_at(double place) const;
  [[nodiscard]] double place_of(double value) const;
  /// Returns the unit in which a change of `value` is measured: the value itself; for a linear constant, at
  /// least a share of its range, since 0 is a valid value.
  [[nodiscard]] double scale(double value) const;
};

/// A row that takes at least one of the variables.
struct FitRow {
  std::string table;
  std::string name;
  Experiment experiment;
  std::string model_key;  ///< equal for rows of the same model
  std::string figure;     ///< the measured figure: a time, a rate, or a quantity of memory
  double measured = 0;
  std::vector<bool> takes;  ///< by variable

  [[nodiscard]] bool is_rate() const;
  /// Predicted over measured step time where the figure's is `ratio`.
  [[nodiscard]] double time_ratio(double ratio) const { return is_rate() ? 1 / ratio : ratio; }
  [[nodiscard]] bool is_of(const std::string& base, const std::vector<FitVariable>& variables) const;
};

struct FitProblem {
  std::vector<std::string> bases;
  std::vector<std::string> tables;  ///< names of those with rows
  std::vector<FitVariable> variables;
  std::vector<FitRow> rows;
  bool of_memory = false;  ///< constants of memory, fitted to measured.memory.*
};

/// Returns `row`, which has no figure yet, with its measured figures: the first figure that follows from the
/// step time, or each latency and rate of requests. Empty if the row is skipped or kept back.
[[nodiscard]] std::vector<FitRow> timed_rows(const FitRow& row, const MeasuredRow& measured);

/// A row belongs to a variable when its experiment has the base's value and would have another if the base
/// had another: through `stack` or `calibration`, inherited or not, and not if the row sets the key itself.
/// @throws InputError for unknown names, keys that fit no base, bounds without room, a key no row takes from
/// its base, and everything wrong in the tables.
[[nodiscard]] FitProblem make_fit_problem(const FitRequest& request, const TableContext& context);

}  // namespace orrery
