// What brings experiments to their timelines.
#pragma once

#include <cstdint>
#include <optional>

#include "orrery/experiment.hpp"
#include "sim/metrics/build_report.hpp"
#include "sim/run/periods.hpp"

namespace orrery {

/// A step of so many micro-batches, otherwise as `experiment`.
[[nodiscard]] inline Experiment with_micro_batches(const Experiment& experiment, std::int64_t micro_batches) {
  Experiment other = experiment;
  other.plan.global_batch_size =
      micro_batches * experiment.plan.micro_batch_size * experiment.plan.data_parallel;
  return other;
}

class Runner {
 public:
  virtual ~Runner() = default;
  /// Looks at an experiment, which has to stay where it is until the run is looked at: what its stages hold,
  /// its parameters and FLOPs, without programs.
  virtual const Workload& outline(const Experiment& experiment) = 0;
  /// Writes its programs, of so many micro-batches a step.
  virtual void write(std::int64_t micro_batches) = 0;
  /// Of the programs written.
  virtual const Periods& periods() = 0;
  /// Runs them: what the whole run takes, and where a period comes `more` times more often than it is run,
  /// its last one. Nothing where those at its end differ. Valid until the next write() or run().
  virtual const std::optional<WholeAndPart>& run(std::int64_t more, const Figures& figures) = 0;
  /// The latest run, to report on. In what is counted, bytes sent and carried, those `more` are counted too.
  [[nodiscard]] virtual RunView view() const = 0;
};

}  // namespace orrery
