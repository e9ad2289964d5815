// Simulates runs of asynchronous workers: the step of all other runs gives their local steps, and
// sim/asynchronous/ decides which workers exchange models.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "sim/step/prepared_experiment.hpp"
#include "sim/step/step.hpp"

namespace orrery {

/// Refuses experiments without one timeline of all ranks, which traces and recorded runs need.
/// @throws InputError at /data_parallel_sync/method if is_asynchronous(), at /inference if it serves requests
void require_one_timeline(const Experiment& experiment);

/// @param local  steps of the experiment, in which replicas do not meet
/// @throws InputError at /simulation/steps if there are too many messages, or simulated time ends
[[nodiscard]] Report report_on_meetings(const PreparedExperiment& prepared, const SimulatedStep& local,
                                        const Figures& figures);

}  // namespace orrery
