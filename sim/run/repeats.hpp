// Folding in time: micro-batches that only repeat what those before them did are not simulated.
//
// In the steady state of a schedule every period (one micro-batch of 1F1B, p of its interleaved form)
// takes the latest times of all ranks forward by one and the same amount. Start times are maxima of
// sums, so once that holds it holds for every further period: a step of m micro-batches is one of
// fewer, with the last period repeated. All figures that count or add up are linear in the periods.
#pragma once

#include <optional>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

/// The report of `experiment` from a run of fewer micro-batches that reaches a steady state: times are those
/// of the whole run to the picosecond. Nothing where that does not pay or the
/// micro-batches do not repeat.
[[nodiscard]] std::optional<Report> simulate_repeats(const Experiment& experiment);

}  // namespace orrery
