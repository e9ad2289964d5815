// Draws from measured files the figures that a fit is held against: the time of a step, or a rate that it
// follows from, or latencies and rates of requests.
#pragma once

#include <map>
#include <string>

#include "orrery/experiment.hpp"
#include "studies/explain/measured/measured.hpp"

namespace orrery {

/// Returns figures by their keys of the result: medians of logs after warm-up, means of the steps of traces.
/// @throws InputError where the files hold no such figure, or cannot be of the experiment
[[nodiscard]] std::map<std::string, double> measured_figures(const Experiment& experiment,
                                                             const Measurements& measured);

}  // namespace orrery
