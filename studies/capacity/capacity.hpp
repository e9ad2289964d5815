// Finds the capacity of a service: the most requests per second within the limits of an experiment.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

/// The report at the highest rate that is kept, with Serving::capacity; where none is, at the lowest that was
/// tried. Of a plan that does not fit, its report.
/// @throws InputError for an experiment without `inference`, for one whose requests come from a file and so
/// have their times, and as simulate()
[[nodiscard]] Report report_at_capacity(const Experiment& experiment);

/// @throws InputError as report_at_capacity() does before it simulates anything
void check_capacity(const Experiment& experiment);

}  // namespace orrery
