// Folding in time: micro-batches that only repeat what those before them did are not simulated. A step of
// m micro-batches is one of fewer, with the last period repeated: all figures that count or add up are
// linear in the periods.
#pragma once

#include <optional>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "sim/run/runner.hpp"

namespace orrery {

/// The report of `experiment` from a run of fewer micro-batches that reaches a steady state: times are those
/// of the whole run to the picosecond. `runner` has outlined it. Nothing where that does not pay or the
/// micro-batches do not repeat.
[[nodiscard]] std::optional<Report> simulate_repeats(const Experiment& experiment, Runner& runner,
                                                     const Figures& figures = {});

}  // namespace orrery
