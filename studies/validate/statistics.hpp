// Computes how far predictions are from measurements. Plain numbers; knows nothing of tables or experiments.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Holds one predicted figure beside the measured one.
struct Pair {
  double predicted = 0;
  double measured = 0;                        ///< above 0
  std::string group;                          ///< pairs whose order among each other matters
  std::optional<bool> inside = std::nullopt;  ///< whether `measured` lies in a predicted range
  bool fits = true;                           ///< by the model; a plan that does not fit is not chosen

  /// predicted / measured - 1
  [[nodiscard]] double error() const { return predicted / measured - 1; }
};

struct ErrorStatistics {
  std::size_t rows = 0;
  double mean_abs_error = 0;
  double median_abs_error = 0;  ///< between the two middle ones where their number is even
  double p90_abs_error = 0;     ///< interpolated between neighbours: position 0.9 (n - 1)
  double max_abs_error = 0;
  double bias = 0;  ///< mean error, with its sign
  /// Spearman's, equal values sharing their mean rank; none where a side has no two different values.
  std::optional<double> rank_correlation;
  /// The rank correlation within each group of at least kSmallestGroup pairs: mean weighted by pairs, and
  /// lowest.
  std::optional<double> rank_correlation_within_model;
  std::optional<double> lowest_within_model;
  /// Kendall's tau-b within the same groups: mean weighted by pairs, and lowest.
  std::optional<double> kendall_within_model;
  std::optional<double> lowest_kendall_within_model;
  /// The loss from choosing the plan of a group that is predicted to be the fastest of those that fit:
  /// measured over the least measured - 1; mean of the groups, and largest. For times, where less is better.
  std::optional<double> regret_within_model;
  std::optional<double> largest_regret_within_model;
  std::optional<double> inside_p10_p90;  ///< share of the pairs with a predicted range
};

inline constexpr std::size_t kSmallestGroup = 4;

/// `pairs` must not be empty.
[[nodiscard]] ErrorStatistics error_statistics(std::span<const Pair> pairs);

/// Values between which the next one of their kind lies in 8 of 10 cases: at the positions (n + 1) / 10 and
/// 9 (n + 1) / 10 of the n sorted, counted from 1. None for fewer than 9, which do not tell.
struct Deciles {
  double p10 = 0;
  double p90 = 0;
};
[[nodiscard]] std::optional<Deciles> deciles(std::vector<double> values);

/// Spearman's rank correlation of two lists of equal length.
[[nodiscard]] std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b);

/// Kendall's tau-b of two lists of equal length; none where a side has no two different values.
[[nodiscard]] std::optional<double> kendall_tau(std::span<const double> a, std::span<const double> b);

}  // namespace orrery
