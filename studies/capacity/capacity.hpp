// Finds the capacity of a service: the most requests per second within the limits of an experiment.
#pragma once

#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "reports/chart/serving_scene.hpp"

namespace orrery {

/// Returns the report at the highest rate that meets the limits, with Serving::capacity; if none does, at the
/// lowest rate that was tried. For a plan that does not fit it returns the plan's report.
/// @throws InputError for an experiment without `inference`, for one whose requests come from a file and so
/// have their times, and as simulate()
[[nodiscard]] Report report_at_capacity(const Experiment& experiment);

/// Serves as many requests as `at_capacity` did at rates from a tenth of its capacity to a third above it;
/// rates whose run would be too long are left out. None for a plan without capacity.
[[nodiscard]] std::vector<ServedRate> serve_at_rates(const Experiment& experiment, const Report& at_capacity);

/// @throws InputError as report_at_capacity() does before it simulates anything
void check_capacity(const Experiment& experiment);

}  // namespace orrery
