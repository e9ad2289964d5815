// Describes the result figure that a search minimises or maximises.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/report.hpp"
#include "orrery/write.hpp"

namespace orrery {

/// Returns true if a figure of the result is better when larger, such as tokens_per_s and mfu.
[[nodiscard]] bool more_is_better(std::string_view key);

class Objective {
 public:
  /// `text`: a key of the result, or min:KEY, max:KEY. @throws InputError for a text that is no number of the
  /// result; the error names `option`.
  explicit Objective(std::string_view text, std::string_view option = "--objective");

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] bool most() const { return most_; }
  /// Returns the figures that have to be measured for the objective.
  [[nodiscard]] Figures figures() const { return selection_.figures(); }
  /// Returns the objective's value in a report; nullopt if the report does not have it.
  [[nodiscard]] std::optional<double> value(const Report& report) const;
  /// The value, turned round where more is better: the least is best. Infinite where there is no value.
  [[nodiscard]] double cost(const Report& report) const;
  /// Back from the cost.
  [[nodiscard]] double value_of_cost(double cost) const { return most_ ? -cost : cost; }
  /// Returns true if a longer step, all else equal, never improves the objective; a bound of the time then
  /// bounds the cost.
  [[nodiscard]] bool follows_time() const { return follows_time_; }
  /// Returns true if memory accounting alone gives the figure.
  [[nodiscard]] bool needs_no_run() const { return key_ == "memory.peak_gb" || key_ == "memory.reserved_gb"; }

 private:
  std::string key_;
  bool most_ = false;
  bool follows_time_ = false;
  ResultSelection selection_;
};

/// Describes a constraint of a search: an upper limit of a result figure, or a lower one if more is better.
class Limit {
 public:
  /// `text`: KEY=VALUE. @throws InputError for anything else, and as Objective.
  explicit Limit(std::string_view text);

  [[nodiscard]] const Objective& figure() const { return figure_; }
  [[nodiscard]] double value() const { return value_; }
  /// Returns true if a report keeps the limit; one without the figure does not.
  [[nodiscard]] bool kept_by(const Report& report) const;
  /// Returns the limit as text, such as "ttft_s_p99 <= 0.5".
  [[nodiscard]] std::string text() const;

 private:
  Objective figure_;
  double value_ = 0;
};

}  // namespace orrery
