// What a search makes small or large: a number of the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/report.hpp"
#include "orrery/write.hpp"

namespace orrery {

/// Whether more of a figure of the result is better, such as of tokens_per_s and mfu.
[[nodiscard]] bool more_is_better(std::string_view key);

class Objective {
 public:
  /// `text`: a key of the result, or min:KEY, max:KEY. @throws InputError for what is no number of the
  /// result, which it calls `option`.
  explicit Objective(std::string_view text, std::string_view option = "--objective");

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] bool most() const { return most_; }
  /// What has to be measured for it.
  [[nodiscard]] Figures figures() const { return selection_.figures(); }
  /// Of a report; nothing where the report does not have it.
  [[nodiscard]] std::optional<double> value(const Report& report) const;
  /// The value, turned round where more is better: the least is best. Infinite where there is no value.
  [[nodiscard]] double cost(const Report& report) const;
  /// Back from the cost.
  [[nodiscard]] double value_of_cost(double cost) const { return most_ ? -cost : cost; }
  /// Whether a longer step, all else equal, never makes it better: then a bound of the time bounds the cost.
  [[nodiscard]] bool follows_time() const { return follows_time_; }
  /// Whether accounting for memory gives it already.
  [[nodiscard]] bool needs_no_run() const { return key_ == "memory.peak_gb" || key_ == "memory.reserved_gb"; }

 private:
  std::string key_;
  bool most_ = false;
  bool follows_time_ = false;
  ResultSelection selection_;
};

/// What a plan has to keep to be found: most that a number of its result may be, or least where more is
/// better.
class Limit {
 public:
  /// `text`: KEY=VALUE. @throws InputError for anything else, and as Objective.
  explicit Limit(std::string_view text);

  [[nodiscard]] const Objective& figure() const { return figure_; }
  [[nodiscard]] double value() const { return value_; }
  /// Whether a report keeps it; one without the figure does not.
  [[nodiscard]] bool kept_by(const Report& report) const;
  /// As it is read: "ttft_s_p99 <= 0.5".
  [[nodiscard]] std::string text() const;

 private:
  Objective figure_;
  double value_ = 0;
};

}  // namespace orrery
