#include "studies/calibrate/fit_errors.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr std::size_t kLeastRows = 8;

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

/// The value at `share` of the way through `sorted`, between neighbours.
double ratio_quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
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
    const double ratio = *fit.rows[i].held_out;
    residuals.push_back((row.is_rate() ? ratio : 1 / ratio) - 1);
  }
  if (residuals.size() < kLeastRows) return std::nullopt;
  std::ranges::sort(residuals);
  return ResidualRange{residuals.size(), ratio_quantile(residuals, 0.1), ratio_quantile(residuals, 0.9)};
}

}  // namespace orrery
