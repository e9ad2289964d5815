// An experiment that serves requests, from end to end: sim/serving/ decides what is in an iteration,
// iteration_cost() what that takes.
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

/// The same without serving anything: memory and feasibility alone.
[[nodiscard]] Report report_on_serving_memory(const PreparedExperiment& prepared, const Figures& figures,
                                              Memo& memo);

}  // namespace orrery
