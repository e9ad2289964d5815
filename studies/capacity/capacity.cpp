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

std::vector<ServedRate> serve_at_rates(const Experiment& experiment, const Report& at_capacity) {
  std::vector<ServedRate> rates;
  if (!at_capacity.serving || !at_capacity.serving->capacity) return rates;
  const Capacity& capacity = *at_capacity.serving->capacity;
  const double unit = capacity.requests_per_s > 0 ? capacity.requests_per_s : capacity.offered_per_s;
  Simulator simulator;
  Experiment at_rate = experiment;
  if (capacity.requests > 0) at_rate.inference->requests = capacity.requests;
  for (const double share : {0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.33}) {
    at_rate.inference->requests_per_s = unit * share;
    try {
      rates.push_back({unit * share, *simulator.simulate(at_rate).serving});
    } catch (const InputError&) {
      continue;  // the run would be longer than simulated time goes, as the search of the capacity met it,
                 // too
    }
  }
  return rates;
}

}  // namespace orrery
