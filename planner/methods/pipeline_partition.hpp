// States the partition problem of an experiment, with the simulator's own prices of blocks and its own
// accounting of memory, and its solutions as experiments.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "planner/methods/partition.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// Says which keys may be chosen; the others stay as the plan has them.
struct PartitionChoices {
  bool layers = false;  ///< plan.stage_layers
  bool recompute =
      false;  ///< plan.recompute.stage_layers: of the modules that the plan computes again, or of layers
  bool placement = false;  ///< cluster.groups: on which of them which stage runs
};

class PipelinePartition {
 public:
  /// Copies its inputs. @throws InputError if prices cannot be made, and as partition_obstacle()
  PipelinePartition(const Experiment& experiment, PartitionChoices choices, Memo& memo);
  ~PipelinePartition();
  PipelinePartition(PipelinePartition&&) noexcept;

  [[nodiscard]] const PartitionProblem& problem() const;
  /// The groups of nodes that `partition` puts stages on, in order.
  [[nodiscard]] std::vector<NodeGroup> groups_of(const Partition& partition) const;
  /// Returns the modules that the plan recomputes in a stage that does so.
  [[nodiscard]] ModuleSet recomputed() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> self_;
};

/// Returns why stages of `experiment` cannot be priced one by one, in words; "" if they can.
[[nodiscard]] std::string partition_obstacle(const Experiment& experiment);

}  // namespace orrery
