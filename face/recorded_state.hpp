// A RecordedRun holds the outcome as the simulator keeps it; of training it can find each operation.
#pragma once

#include <optional>

#include "orrery/experiment.hpp"
#include "orrery/rank_grid.hpp"
#include "orrery/recorded_run.hpp"
#include "reports/trace/labels.hpp"
#include "reports/trace/plan.hpp"
#include "sim/run/recorded_outcome.hpp"

namespace orrery {

/// The operations of steps of training. Its parts refer to each other and to the run, so it stays where it
/// is.
struct RecordedStep {
  RecordedStep(const Plan& of, const Run& run)
      : grid(of), view(run.view()), plan(plan_operations(view, grid, TraceOptions{})) {}
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  RankGrid grid;
  RunView view;
  TracePlan plan;  ///< of all steps
  TraceLabels labels;
};

struct RecordedRun::State {
  explicit State(const Experiment& of) : experiment(of), outcome(record_outcome(of, Recording::operations)) {
    if (!experiment.inference) step.emplace(experiment.plan, outcome.run);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Experiment experiment;
  RecordedOutcome outcome;
  std::optional<RecordedStep> step;  ///< none where requests were served
};

}  // namespace orrery
