// Simulates an experiment that serves requests, from end to end: sim/serving/ decides which requests are in
// an iteration, iteration_cost() how long it takes.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "sim/serving/serve.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// @param experiment  with `inference`; its plan leaves nothing open
/// @throws InputError where its model or plan cannot serve
[[nodiscard]] Report report_on_serving(const Experiment& experiment, const Figures& figures, Memo& memo,
                                       const ServingObserver& observer = {});

/// Returns the report of a plan that may have "auto" values.
/// @throws as report_on_serving()
[[nodiscard]] Report observe_serving(const Experiment& experiment, const Figures& figures,
                                     const ServingObserver& observer);

/// Returns memory and feasibility without serving any request.
[[nodiscard]] Report report_on_serving_memory(const Experiment& experiment, const Figures& figures,
                                              Memo& memo);

}  // namespace orrery
