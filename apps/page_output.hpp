// Declares the option --html of a run, which writes a page.
#pragma once

#include "config/experiment/read_experiment.hpp"
#include "orrery/write.hpp"
#include "sim/run/recorded_outcome.hpp"

namespace orrery {

/// The page of the outcome of `read`, whose operations were recorded; runs whose workers keep no step with
/// each other have one without timelines.
void write_page_of(const RecordedOutcome& outcome, const LocatedExperiment& read, const Sink& sink);

}  // namespace orrery
