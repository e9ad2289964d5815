#include "studies/calibrate/row_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

#include "orrery/error.hpp"
#include "orrery/parallel.hpp"

namespace orrery {
double robust_loss(double log_ratio) { return std::hypot(1.0, log_ratio / kErrorOfInterest) - 1; }

double robust_weight(double log_ratio) { return 1 / std::hypot(1.0, log_ratio / kErrorOfInterest); }

RowPredictor::RowPredictor(const FitProblem& problem, unsigned threads)
    : problem_(problem), threads_(threads) {}

double RowPredictor::ratio(const FitRow& row, std::span<const double> values) {
  Experiment experiment = row.experiment;
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (row.takes[j]) problem_.variables[j].constant.set(experiment, values[j]);
  }
  const Prediction prediction = predict(experiment, {&row.figure, 1}, simulator_);
  const auto found = prediction.figures.find(row.figure);
  if (found == prediction.figures.end() || !(found->second > 0)) {
    throw InputError({Diagnostic{row.table, 0, 0, "", row.name + ": no " + row.figure + " is predicted"}});
  }
  return found->second / row.measured;
}

std::vector<double> RowPredictor::ratios(std::span<const std::size_t> rows, std::span<const double> values) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return simulation_size(problem_.rows[rows[i]].experiment); });
  std::vector<double> out(rows.size());
  std::vector<std::exception_ptr> errors(rows.size());
  for_each_index(rows.size(), threads_, [&](std::size_t i) {
    try {
      out[order[i]] = ratio(problem_.rows[rows[order[i]]], values);
    } catch (...) {
      errors[order[i]] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return out;
}

double RowPredictor::loss(std::span<const std::size_t> rows, std::span<const double> values) {
  double sum = 0;
  for (const double ratio : ratios(rows, values)) sum += robust_loss(std::log(ratio));
  return sum / static_cast<double>(rows.size());
}

}  // namespace orrery
