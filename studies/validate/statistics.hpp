// How far predictions are from measurements. Plain numbers; knows nothing of tables or experiments.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// One predicted figure beside the measured one.
struct Pair {
  double predicted = 0;
  double measured = 0;                        ///< above 0
  std::string group;                          ///< pairs whose order among each other matters
  std::optional<bool> inside = std::nullopt;  ///< whether `measured` lies in a predicted range

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
  /// The same within each group of at least kSmallestGroup pairs: mean weighted by pairs, and lowest.
  std::optional<double> rank_correlation_within_model;
  std::optional<double> lowest_within_model;
  std::optional<double> inside_p10_p90;  ///< share of the pairs with a predicted range
};

inline constexpr std::size_t kSmallestGroup = 4;

/// `pairs` must not be empty.
[[nodiscard]] ErrorStatistics error_statistics(std::span<const Pair> pairs);

/// Spearman's rank correlation of two lists of equal length.
[[nodiscard]] std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace orrery
