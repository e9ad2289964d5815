// Runs of small problems for the tests of this folder.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "studies/converge/converge.hpp"

namespace orrery::test {

/// 8 workers, 10 features, 60 iterations with batches of 4.
inline ConvergenceSetup setup_of(SyncMethod method, const std::string& topology = "one-peer-exponential") {
  ConvergenceSetup setup;
  setup.workers = 8;
  setup.workers_per_node = 4;
  setup.seed = 7;
  setup.sync.method = method;
  setup.sync.topology = topology;
  setup.problem.samples_per_worker = 40;
  setup.problem.batch = 4;
  setup.problem.learning_rate = 0.1;
  setup.problem.iterations = 60;
  setup.problem.evaluate_every = 1;
  setup.problem.heterogeneity = 0.5;
  return setup;
}

inline double largest_difference(const ConvergenceRun& a, const ConvergenceRun& b) {
  REQUIRE(a.models.size() == b.models.size());
  double most = 0;
  for (std::size_t worker = 0; worker < a.models.size(); ++worker) {
    for (std::size_t i = 0; i < a.models[worker].size(); ++i) {
      most = std::max(most, std::abs(a.models[worker][i] - b.models[worker][i]));
    }
  }
  return most;
}

inline double excess(const ConvergenceRun& run) { return run.points.back().loss - run.least_loss.value(); }

}  // namespace orrery::test
