#include "sim/step/prepared_experiment.hpp"

#include <utility>

#include "sim/step/replica_graph.hpp"

namespace orrery {

PreparedExperiment::PreparedExperiment(Experiment resolved, Memo& memo)
    : experiment(std::move(resolved)),
      layout(communicator_layout_of(experiment, memo)),
      outlined(outline(experiment, layout)),
      machine(machine_of(experiment.cluster, memo)) {}

PreparedExperiment in_layers(const PreparedExperiment& prepared, Memo& memo) {
  Experiment layered = prepared.experiment;
  layered.simulation.detail = Detail::layer;
  return {std::move(layered), memo};
}

}  // namespace orrery
