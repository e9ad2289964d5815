#include "tests/studies/converge/runs.hpp"
#include "topologies/gossip/analysis.hpp"
#include "topologies/gossip/gossip.hpp"

namespace orrery::test {
namespace {

/// Averages without gradients from models spread apart.
ConvergenceSetup averaging(const std::string& topology, std::uint32_t workers, std::int64_t iterations) {
  ConvergenceSetup setup = setup_of(SyncMethod::gossip, topology);
  setup.workers = workers;
  setup.problem.learning_rate = 0;
  setup.problem.initial_spread = 1;
  setup.problem.iterations = iterations;
  return setup;
}

}  // namespace

TEST_CASE("disagreement shrinks with the spectral gap") {
  // After many steps only the slowest mode is left: its norm shrinks by 1 - gap each step, its square by
  // (1 - gap)^2. For W that are normal (here circulant or symmetric) no step is slower.
  for (const char* topology : {"ring", "grid", "torus", "star", "exponential", "hypercube", "one-way-ring"}) {
    CAPTURE(topology);
    const ConvergenceSetup setup = averaging(topology, 16, 150);
    const double kept = 1 - spectral_gap(build_gossip_graph(setup.sync, {16, 4, 1, 0}).rounds.front());
    const ConvergenceRun run = converge(setup);
    double last = 0;
    for (std::size_t k = 1; k < run.points.size(); ++k) {
      const double before = run.points[k - 1].consensus_error;
      if (before < 1e-16) break;  // below, rounding is seen
      last = std::sqrt(run.points[k].consensus_error / before);
      CHECK(last <= kept + 1e-7);
    }
    CHECK(last == doctest::Approx(kept).epsilon(0.01));
  }
}

TEST_CASE("one-peer-exponential agrees after log2 n steps, and base-k after its rounds") {
  const ConvergenceRun run = converge(averaging("one-peer-exponential", 32, 5));
  CHECK(run.points[4].consensus_error >= 1e-3);
  CHECK(run.points[5].consensus_error <= 1e-30);
  ConvergenceSetup base = averaging("base-k", 13, 0);
  base.problem.iterations =
      static_cast<std::int64_t>(build_gossip_graph(base.sync, {13, 1, 1, 0}).rounds.size());
  CHECK(converge(base).points.back().consensus_error <= 1e-28);
}

TEST_CASE("averages keep the mean") {
  for (const SyncOverlap overlap : {SyncOverlap::none, SyncOverlap::combine_while_computing}) {
    ConvergenceSetup setup = averaging("star", 9, 30);
    setup.sync.overlap = overlap;
    const ConvergenceRun run = converge(setup);
    CHECK(run.points.back().loss == doctest::Approx(run.points.front().loss).epsilon(1e-12));
  }
}

TEST_CASE("global averages every period end disagreement") {
  ConvergenceSetup setup = setup_of(SyncMethod::gossip_pga, "ring");
  setup.sync.period = 10;
  const ConvergenceRun run = converge(setup);
  for (const ConvergencePoint& point : run.points) {
    if (point.iteration % 10 == 0) CHECK(point.consensus_error <= 1e-28);
    if (point.iteration % 10 == 9) CHECK(point.consensus_error >= 1e-8);
  }
}

TEST_CASE("gossip-aga averages less often as the loss falls") {
  ConvergenceSetup setup = setup_of(SyncMethod::gossip_aga, "ring");
  setup.sync.period = 4;
  setup.sync.final_period = 6;
  setup.problem.heterogeneity = 0;
  setup.problem.iterations = 400;
  const ConvergenceRun run = converge(setup);
  std::vector<std::int64_t> averages;
  for (const ConvergencePoint& point : run.points) {
    if (point.iteration > 0 && point.consensus_error <= 1e-28) averages.push_back(point.iteration);
  }
  REQUIRE(averages.size() >= 3);
  CHECK(averages[0] == 4);
  CHECK(averages[1] == 8);  // the loss of the first average is the measure of all
  for (std::size_t i = 1; i < averages.size(); ++i) {
    CHECK(averages[i] - averages[i - 1] >= 4);
    CHECK(averages[i] - averages[i - 1] <= 6);
  }
  CHECK(averages.back() - averages[averages.size() - 2] > 4);
}

}  // namespace orrery::test
