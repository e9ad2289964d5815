// What brings experiments to their timelines.
#pragma once

#include <cstdint>

#include "orrery/experiment.hpp"
#include "sim/report/build_report.hpp"
#include "sim/run/periods.hpp"

namespace orrery {

class Runner {
 public:
  virtual ~Runner() = default;
  /// What the experiment runs on; valid until the next call for another one.
  virtual const Topology& topology(const Experiment& experiment) = 0;
  /// Writes the programs of an experiment, which has to stay where it is until the run is looked at.
  virtual void prepare(const Experiment& experiment) = 0;
  /// Of the programs written.
  virtual const Periods& periods() = 0;
  /// Runs them. In what is counted, bytes sent and carried, a period comes `more` times more often than it is
  /// run. The view is valid until the next prepare(), and good for these figures.
  virtual RunView run(std::int64_t more, const Figures& figures) = 0;
};

}  // namespace orrery
