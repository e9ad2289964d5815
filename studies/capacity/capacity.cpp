#include "studies/capacity/capacity.hpp"

#include <utility>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"

namespace orrery {
void check_capacity(const Experiment& experiment) {
  if (!experiment.inference)
    throw InputError("/inference", "found none, allowed an experiment that serves requests");
  if (experiment.inference->trace.has_value())
    throw InputError("/inference/requests",
                     "found a file, whose requests come when they do, allowed lengths and a number");
}

Report report_at_capacity(const Experiment& experiment) {
  check_capacity(experiment);
  Simulator simulator;
  Figures only_capacity{false, false, false, false, false, false};
  only_capacity.capacity = true;
  const Report found = simulator.simulate(experiment, only_capacity);
  if (!found.feasible) return simulator.simulate(experiment);
  const Capacity& capacity = *found.serving->capacity;
  if (capacity.requests_per_s == 0 && capacity.requests == 0) {  // nothing that could be run
    Report alone = simulator.simulate(experiment);
    alone.serving->capacity = capacity;
    return alone;
  }
  Experiment at_most = experiment;
  at_most.inference->requests_per_s =
      capacity.requests_per_s > 0 ? capacity.requests_per_s : capacity.offered_per_s;
  at_most.inference->requests = capacity.requests;
  Report report = simulator.simulate(at_most);
  report.serving->capacity = capacity;
  return report;
}

}  // namespace orrery
