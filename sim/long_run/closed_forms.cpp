#include "sim/long_run/closed_forms.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/random_stream.hpp"

namespace orrery {

double young_interval(double stall, double mean_between_failures) {
  return std::sqrt(2 * stall * mean_between_failures);
}

double daly_interval(double stall, double mean_between_failures) {
  if (stall >= 2 * mean_between_failures) return mean_between_failures;
  const double share = stall / (2 * mean_between_failures);
  return young_interval(stall, mean_between_failures) * (1 + std::sqrt(share) / 3 + share / 9) - stall;
}

double first_order_training_share(const RenewalTerms& terms) {
  const double kept = 1 - terms.rate * (terms.restart + terms.interval / 2);
  return std::max(0.0, kept) / (1 + terms.stall / terms.interval);
}

double renewal_training_share(const RenewalTerms& terms) {
  if (terms.rate == 0) return terms.interval / (terms.interval + terms.stall);
  const double exponent = terms.rate * (terms.interval + terms.stall + terms.restart);
  if (exponent > 600) return 0;
  const double whole = portable_exp(exponent) - portable_exp(terms.rate * terms.restart);
  return terms.interval * terms.rate / whole;
}

}  // namespace orrery
