#include "studies/calibrate/fit_errors.hpp"

#include <algorithm>
#include <cmath>

#include "studies/validate/statistics.hpp"

namespace orrery {
namespace {

ErrorSummary summary_of(const std::vector<double>& ratios) {
  ErrorSummary out;
  if (ratios.empty()) return out;
  for (const double ratio : ratios) {
    out.mean += std::abs(ratio - 1);
    out.bias += ratio - 1;
    out.worst = std::max(out.worst, std::abs(ratio - 1));
  }
  out.mean /= static_cast<double>(ratios.size());
  out.bias /= static_cast<double>(ratios.size());
  return out;
}

}  // namespace

FitErrors fit_errors(const Fit& fit, const RowFilter& filter) {
  std::vector<double> base, fitted, held_out;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    if (!filter(fit.problem.rows[i])) continue;
    base.push_back(fit.rows[i].base);
    fitted.push_back(fit.rows[i].fitted);
    if (fit.rows[i].held_out) held_out.push_back(*fit.rows[i].held_out);
  }
  FitErrors out{base.size(), summary_of(base), summary_of(fitted), std::nullopt};
  if (!held_out.empty()) out.held_out = summary_of(held_out);
  return out;
}

std::optional<ResidualRange> residual_range(const Fit& fit, const RowFilter& filter) {
  std::vector<double> residuals;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    const FitRow& row = fit.problem.rows[i];
    if (!filter(row) || !fit.rows[i].held_out) continue;
    residuals.push_back(1 / row.time_ratio(*fit.rows[i].held_out) - 1);
  }
  const std::size_t rows = residuals.size();
  const auto range = deciles(std::move(residuals));
  if (!range) return std::nullopt;
  return ResidualRange{rows, range->p10, range->p90};
}

}  // namespace orrery
