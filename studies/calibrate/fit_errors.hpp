// Reports the errors of a fit: before, after, and on rows it has not seen.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "studies/calibrate/calibrate.hpp"

namespace orrery {

/// Summarises predicted / measured - 1.
struct ErrorSummary {
  double mean = 0;   ///< of the absolute errors
  double worst = 0;  ///< of the absolute errors
  double bias = 0;   ///< mean with sign
};

struct FitErrors {
  std::size_t rows = 0;
  ErrorSummary base, fitted;
  std::optional<ErrorSummary> held_out;
};

using RowFilter = std::function<bool(const FitRow&)>;

/// Returns the errors on the rows that pass `filter`; all zero if there are none.
[[nodiscard]] FitErrors fit_errors(const Fit& fit, const RowFilter& filter);

/// Deciles of measured over predicted step time less one, on rows held out.
struct ResidualRange {
  std::size_t rows = 0;
  double p10 = 0;
  double p90 = 0;
};

/// None where fewer rows than tell a decile were held out.
[[nodiscard]] std::optional<ResidualRange> residual_range(const Fit& fit, const RowFilter& filter);

/// Writes constants and errors as tables for a terminal.
void write_fit_text(const Fit& fit, const std::function<void(std::string_view)>& sink);

}  // namespace orrery
