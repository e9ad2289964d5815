// Records an experiment's outcome and the times in it: one kind of record for training steps, for
// asynchronous workers, and for served requests. The face and the command line take it without asking which
// of them ran.
#pragma once

#include <memory>

#include "orrery/experiment.hpp"
#include "orrery/serving_record.hpp"
#include "sim/run/run.hpp"
#include "sim/serving/serve.hpp"

namespace orrery {

struct RecordedOutcome {
  Experiment experiment;  ///< nothing of its plan is left open
  Run run;                ///< the report, and of training all that the step is made of
  std::unique_ptr<const ServingRecord> requests;  ///< where requests were served and recorded

  [[nodiscard]] const Report& report() const { return run.report; }
};

/// Says how much of an outcome is recorded.
enum class Recording : std::uint8_t {
  figures,     ///< the report alone, as simulate() makes it
  timeline,    ///< and times of the simulated operations
  operations,  ///< the same, of every operation of every layer
};

/// @param figures   which of a served run are measured; of training all are, kernels where asked for
/// @param progress  of requests that are served; may be empty
/// @throws as simulate()
[[nodiscard]] RecordedOutcome record_outcome(const Experiment& experiment, Recording recording,
                                             const Figures& figures = {},
                                             decltype(ServingObserver::progress) progress = {});

/// @throws InputError where an outcome has nothing to draw: no timeline that all ranks share, or nothing that
/// can be
///         served
void require_something_to_draw(const Experiment& experiment, const Report& report);

}  // namespace orrery
