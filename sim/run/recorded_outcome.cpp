#include "sim/run/recorded_outcome.hpp"

#include <utility>

#include "orrery/error.hpp"
#include "sim/run/asynchronous_run.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/serving_run.hpp"
#include "sim/run/training_run.hpp"
#include "sim/run/weeks.hpp"

namespace orrery {

RecordedOutcome record_outcome(const Experiment& experiment, Recording recording, const Figures& figures,
                               decltype(ServingObserver::progress) progress) {
  Memo memo;
  PreparedExperiment prepared = prepare(experiment, memo);
  RecordedOutcome outcome;
  Figures of_training;
  of_training.kernels = figures.kernels;
  if (experiment.inference) {
    auto record = recording == Recording::figures ? nullptr : std::make_unique<ServingRecord>();
    outcome.run.report = report_on_serving(prepared, figures, memo, {record.get(), std::move(progress)});
    outcome.requests = std::move(record);
  } else if (recording == Recording::figures) {
    outcome.run.report = simulate_training(prepared, of_training, memo);
  } else {
    outcome.run = recording == Recording::operations ? run_in_layers(prepared, memo) : run(prepared, memo);
    if (figures.kernels)
      outcome.run.report.kernels_ps = simulate_training(prepared, of_training, memo).kernels_ps;
  }
  add_weeks(experiment, figures, memo, outcome.run.report);
  outcome.experiment = std::move(prepared.experiment);
  return outcome;
}

void require_something_to_draw(const Experiment& experiment, const Report& report) {
  if (!experiment.inference) return require_one_timeline(experiment);
  if (!report.feasible)
    throw InputError("/inference",
                     "found nothing that can be served, so nothing to draw: " + report.reasons.front());
}

}  // namespace orrery
