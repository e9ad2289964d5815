// What a RecordedRun holds: the run as the simulator keeps it, and how to find operations in it.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/rank_grid.hpp"
#include "orrery/recorded_run.hpp"
#include "reports/trace/labels.hpp"
#include "reports/trace/plan.hpp"
#include "sim/run/run.hpp"

namespace orrery {

/// Its parts refer to each other, so it stays where it is.
struct RecordedRun::State {
  explicit State(const Experiment& of)
      : experiment(of),
        grid(of.plan),
        run(run_in_layers(of)),
        view(run.view()),
        plan(plan_operations(view, grid, TraceOptions{})) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Experiment experiment;
  RankGrid grid;
  Run run;
  RunView view;
  TracePlan plan;  ///< of all steps
  TraceLabels labels;
};

}  // namespace orrery
