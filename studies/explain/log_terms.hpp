// Explains what logs measured: steps of training with or without timers, collectives of nccl-tests, requests.
// A part of explain().
#pragma once

#include <vector>

#include "orrery/experiment.hpp"
#include "studies/explain/explanation.hpp"
#include "studies/explain/measured/measured.hpp"

namespace orrery {

/// A log says how long steps are, and its timers which parts of a step are longer; what they leave open is a
/// term of its own.
void explain_logs(const Experiment& experiment, const std::vector<TrainingLog>& logs, Explanation& to);

/// Prices the same collectives on the experiment's cluster. @throws InputError as simulate()
void explain_collectives(const Experiment& experiment, const std::vector<CollectiveLog>& logs,
                         Explanation& to);

/// Splits the mean request into its time to the first token and its later ones.
/// @throws InputError if the experiment does not serve
void explain_serving(const Experiment& experiment, const std::vector<ServingMeasurement>& measured,
                     Explanation& to);

}  // namespace orrery
