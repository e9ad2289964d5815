// Plans side by side as a page has them (assets/plans.js): their values of keys, figures of the result, and
// what their time and memory are made of, each a column of numbers. For the pages of comparisons, searches
// and sweeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/report.hpp"
#include "reports/page/page.hpp"

namespace orrery {

/// A key whose values tell plans apart.
struct PlanTableKey {
  std::string key;
  bool of_experiment = true;  ///< an override KEY=VALUE sets it; else it is a name, such as the experiment's
};

class PlanTable {
 public:
  explicit PlanTable(std::vector<PlanTableKey> keys);

  enum class State : std::uint8_t { feasible, infeasible, failed };

  /// Begins a plan. One value per key as an override has it, "" where the key does nothing.
  void add(const std::vector<std::string>& values, State state, std::string_view reason);
  /// Sets a figure of the plan that was added last; a figure that a plan does not have is missing in its row.
  void set_figure(std::string_view name, std::optional<double> value);
  /// Sets its figures, and its parts to the picosecond and the byte.
  void set_result(const Report& report);

  [[nodiscard]] std::size_t size() const { return states_.size(); }
  /// {"count", "keys": [{"key", "values", "of_experiment"}], "reasons", "figures", "parts": {"breakdown":
  /// [name...], "critical_path", "memory"}}
  [[nodiscard]] std::string json() const;
  /// Columns key.N, state, reason, figure.NAME, breakdown.NAME, critical_path.NAME and memory.NAME.
  void add_columns(Page& page) const;

 private:
  /// Texts of which few differ, numbered.
  class Texts {
   public:
    std::uint32_t number(std::string_view text);
    [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

   private:
    std::vector<std::string> texts_;
    std::map<std::string, std::uint32_t, std::less<>> numbers_;
  };
  /// Columns by name, in the order in which they came; NaN where a plan has no number.
  class Columns {
   public:
    void set(std::string_view name, std::size_t row, double value);
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    void add_to(Page& page, const std::string& part, std::size_t rows) const;

   private:
    std::vector<std::string> names_;
    std::vector<std::vector<double>> columns_;
    std::map<std::string, std::size_t, std::less<>> places_;
  };

  std::vector<PlanTableKey> keys_;
  std::vector<Texts> values_;                              ///< per key
  std::vector<std::vector<std::uint32_t>> value_numbers_;  ///< per key, then per plan
  std::vector<std::uint8_t> states_;
  Texts reasons_;
  std::vector<std::uint32_t> reason_numbers_;
  Columns figures_, breakdown_, critical_path_, memory_;
};

}  // namespace orrery
