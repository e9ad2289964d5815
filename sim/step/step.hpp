// Simulates one step from programs to its timeline, in the one way that every run takes. Each part is made by
// a pure function of immutable values and looked up in a memo by the content it is made from; a single run
// has an empty memo.
//
//   machine          topology                      from the cluster's wiring
//   program set      programs, their steady state  from programs of a few micro-batches
//   communicators    members of groups             from the rank grid and the kinds of groups
//   channels         matched operations            from programs and communicators
//   prices           messages on routes            from machine, communicators and message
//   rank classes     ranks that are alike          from communicators and their prices
//   tasks            edges, streams                from programs and the shape of the rank classes
//
// Costs of tasks are set for each run, in values of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "orrery/task_graph.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/cost/traffic.hpp"
#include "sim/matching/channels.hpp"
#include "sim/metrics/build_report.hpp"
#include "sim/step/machine.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/prepared_experiment.hpp"
#include "sim/step/steady_state.hpp"
#include "sim/tasks/expanded_graph.hpp"

namespace orrery {

/// A simulated step with all it consists of.
struct SimulatedStep {
  std::shared_ptr<const Machine> machine;
  Workload workload;
  std::shared_ptr<const Channels> channels;
  std::shared_ptr<const Periods> periods;  ///< where asked for
  PriceList prices;
  ExpandedGraph expanded;
  Timeline timeline;
  std::shared_ptr<const RunLayout> layout;
  TrafficCounts traffic_counts;
  Traffic traffic;  ///< of the step as it is
  Figures figures;
  WorkloadKernels kernels;             ///< where figures ask for them
  std::optional<StepAndPeriod> taken;  ///< nothing where its last periods are no steady state
  std::vector<LinkId> shared;          ///< links on which transfers met, in ascending order
  bool slows_passes = false;           ///< others meet messages of fused passes: it has to be run in layers
  ContentHash task_key;                ///< steps of equal keys have the same tasks, at any cost

  [[nodiscard]] RunView view() const;
};

/// A step is made from a prepared experiment. Refers to both.
struct StepInput {
  const PreparedExperiment& prepared;
  const Experiment& experiment = prepared.experiment;  ///< or the same with other micro-batches
};

/// @param repeats  whether the period at its end is measured as well, to be added again and again
/// @param own_programs  programs with the memory and the layers of this very experiment, for traces
/// @throws InputError if the programs or tasks would not fit into memory
[[nodiscard]] SimulatedStep simulate_step(const StepInput& input, const Figures& figures, bool repeats,
                                          bool own_programs, Memo& memo);

/// Returns the tasks of a step and their costs if transfers share those links, without a timeline: nothing is
/// run, and other overloaded links are not searched for.
/// @throws as simulate_step()
[[nodiscard]] SimulatedStep price_step(const StepInput& input, const std::vector<LinkId>& shared, Memo& memo);

}  // namespace orrery
