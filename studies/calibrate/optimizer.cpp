#include "studies/calibrate/optimizer.hpp"

#include <algorithm>
#include <exception>
#include <nlopt.hpp>

namespace orrery {
namespace {

constexpr double kSmallestStep = 1e-4;
constexpr double kSmallestGain = 1e-5;  ///< of the objective, relative

/// The objective as NLopt calls it; keeps the best point and the first exception.
struct Search {
  const FitObjective& objective;
  Minimum best;
  std::exception_ptr error;

  double evaluate(const std::vector<double>& at) {
    const double value = objective(at);
    if (best.evaluations++ == 0 || value < best.value) {
      best.value = value;
      best.at = at;
    }
    return value;
  }

  static double call(const std::vector<double>& at, std::vector<double>& /*gradient*/, void* self) {
    auto& search = *static_cast<Search*>(self);
    try {
      return search.evaluate(at);
    } catch (...) {
      if (!search.error) search.error = std::current_exception();
      throw nlopt::forced_stop();
    }
  }
};

void run(nlopt::algorithm method, Search& search, std::vector<double> start, double step, int evaluations) {
  nlopt::opt optimizer(method, static_cast<unsigned>(start.size()));
  optimizer.set_lower_bounds(0.0);
  optimizer.set_upper_bounds(1.0);
  optimizer.set_initial_step(step);
  optimizer.set_xtol_abs(kSmallestStep);
  optimizer.set_ftol_rel(kSmallestGain);
  optimizer.set_maxeval(evaluations);
  optimizer.set_min_objective(&Search::call, &search);
  double value = 0;
  try {
    optimizer.optimize(start, value);
  } catch (const nlopt::roundoff_limited&) {  // as near as numbers allow
  } catch (const nlopt::forced_stop&) {
  }
  if (search.error) std::rethrow_exception(search.error);
}

}  // namespace

Minimum minimize(const FitObjective& objective, const std::vector<double>& start, double step,
                 int evaluations) {
  Search search{objective, {start, 0, 0}, nullptr};
  // A quadratic model gets near the minimum quickly; subplex crosses the kinks that are left.
  if (start.size() > 1) run(nlopt::LN_BOBYQA, search, start, step, std::max(1, evaluations / 2));
  const double next_step = start.size() > 1 ? step / 5 : step;
  const int left = std::max(1, evaluations - search.best.evaluations);
  run(nlopt::LN_SBPLX, search, search.best.at, next_step, left);
  return std::move(search.best);
}

}  // namespace orrery
