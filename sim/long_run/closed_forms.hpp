// Gives the laws of runs with checkpoints and failures without memory that the
// simulation is held against, and that are printed beside it. Times in one unit, whichever.
#pragma once

namespace orrery {

/// The interval that loses least, to first order: sqrt(2 x stall x mean) (Young 1974).
[[nodiscard]] double young_interval(double stall, double mean_between_failures);

/// Young's interval to a higher order (Daly 2006, equation 37); the mean where stalls are longer than twice
/// that.
[[nodiscard]] double daly_interval(double stall, double mean_between_failures);

struct RenewalTerms {
  double interval = 0;  ///< of training, from one checkpoint to the next
  double stall = 0;     ///< of a checkpoint
  double restart = 0;   ///< all from a failure to the next step
  double rate = 0;      ///< of failures
};

/// The share of the time that is training that counts, to first order in the rate: (1 - rate x (restart +
/// interval / 2)) / (1 + stall / interval) (Kokolis et al. 2025, arXiv 2410.21680).
[[nodiscard]] double first_order_training_share(const RenewalTerms& terms);

/// That share for any rate, by renewal: an interval of length t without failure, in which failures also
/// strike restarts, takes e^(rate x restart) (e^(rate x t) - 1) / rate on average.
[[nodiscard]] double renewal_training_share(const RenewalTerms& terms);

}  // namespace orrery
