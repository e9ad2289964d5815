// Simulates an experiment that serves requests, from end to end: sim/serving/ decides which requests are in
// an iteration, iteration_cost() how long it takes.
#pragma once

#include "orrery/report.hpp"
#include "sim/serving/serve.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/prepared_experiment.hpp"

namespace orrery {

/// @param prepared  an experiment with `inference`
/// @throws InputError where its model or plan cannot serve
[[nodiscard]] Report report_on_serving(const PreparedExperiment& prepared, const Figures& figures, Memo& memo,
                                       const ServingObserver& observer = {});

/// Reports on memory and feasibility alone: nothing is served.
[[nodiscard]] Report report_on_serving_memory(const PreparedExperiment& prepared, const Figures& figures,
                                              Memo& memo);

}  // namespace orrery
