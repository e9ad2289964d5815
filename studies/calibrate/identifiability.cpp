#include "studies/calibrate/identifiability.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

/// Repeats of one run agree no better than within this.
constexpr double kRepeatability = 0.002;
/// Singular values below count as this: a direction that nothing determines.
constexpr double kLeastSingular = 1e-9;

double deviation(const std::vector<double>& residuals, const std::vector<double>& weights,
                 std::size_t unknowns) {
  double sum = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) sum += weights[i] * residuals[i] * residuals[i];
  const std::size_t free = residuals.size() > unknowns ? residuals.size() - unknowns : 1;
  return std::max(std::sqrt(sum / static_cast<double>(free)), kRepeatability);
}

/// From here on two columns lean on each other: what one explains the other explains to four fifths.
constexpr double kLeaning = 0.9;

double product(const Sensitivity& rows, const std::vector<double>& weights, std::size_t one,
               std::size_t other) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += weights[i] * rows[i][one] * rows[i][other];
  return sum;
}

}  // namespace

std::vector<Leaning> leaning(const Sensitivity& sensitivity, const std::vector<double>& weights) {
  std::vector<Leaning> out;
  const std::size_t columns = sensitivity.empty() ? 0 : sensitivity.front().size();
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t k = j + 1; k < columns; ++k) {
      const double lengths =
          std::sqrt(product(sensitivity, weights, j, j) * product(sensitivity, weights, k, k));
      const double cosine = lengths > 0 ? product(sensitivity, weights, j, k) / lengths : 0;
      if (std::abs(cosine) >= kLeaning) out.push_back({j, k, cosine});
    }
  }
  std::ranges::stable_sort(out, [](const Leaning& a, const Leaning& b) {
    return std::abs(a.correlation) > std::abs(b.correlation);
  });
  return out;
}

Determination determination(const Sensitivity& sensitivity, const std::vector<double>& residuals,
                            const std::vector<double>& weights) {
  Determination out;
  if (sensitivity.empty()) return out;
  const auto rows = static_cast<Eigen::Index>(sensitivity.size());
  const auto columns = static_cast<Eigen::Index>(sensitivity.front().size());
  Eigen::MatrixXd weighted(rows, columns);
  for (std::size_t i = 0; i < sensitivity.size(); ++i) {
    for (std::size_t j = 0; j < sensitivity[i].size(); ++j) {
      weighted(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          std::sqrt(weights[i]) * sensitivity[i][j];
    }
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(weighted, Eigen::ComputeFullV);
  Eigen::VectorXd singular = Eigen::VectorXd::Zero(columns);
  singular.head(svd.singularValues().size()) = svd.singularValues();
  out.singular_values.assign(singular.begin(), singular.end());
  const double sigma = deviation(residuals, weights, sensitivity.front().size());
  for (Eigen::Index j = 0; j < columns; ++j) {
    double variance = 0;  // of one constant, over the directions it takes part in
    for (Eigen::Index k = 0; k < columns; ++k) {
      const double share = svd.matrixV()(j, k) / std::max(singular(k), kLeastSingular);
      variance += share * share;
    }
    out.standard_errors.push_back(sigma * std::sqrt(variance));
  }
  return out;
}

}  // namespace orrery
