// The option --html of a run: the page that shows it.
#pragma once

#include "config/experiment/read_experiment.hpp"
#include "orrery/serving_record.hpp"
#include "orrery/write.hpp"
#include "sim/run/run.hpp"

namespace orrery {

/// The page of the run of `read`; runs whose workers keep no step with each other have one without timelines.
void write_page_of(const Run& run, const LocatedExperiment& read, const Sink& sink);

/// The page of requests that were served.
void write_page_of(const Report& report, const ServingRecord& record, const LocatedExperiment& read,
                   const Sink& sink);

}  // namespace orrery
