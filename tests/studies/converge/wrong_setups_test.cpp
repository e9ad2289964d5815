#include "tests/studies/converge/runs.hpp"

namespace orrery::test {
namespace {

std::string diagnostic_of(const ConvergenceSetup& setup) {
  try {
    (void)converge(setup);
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
  return "";
}

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

}  // namespace

TEST_CASE("runs that would not end or not fit are refused before they begin") {
  ConvergenceSetup setup = setup_of(SyncMethod::all_reduce);
  setup.workers = 5000;
  CHECK(begins(diagnostic_of(setup),
               "/problem/workers: found none, and the plan has 5000 workers; allowed are"));
  setup.workers = 8;
  setup.problem.iterations = 1'000'000'000'000;
  CHECK(begins(diagnostic_of(setup), "/problem/iterations: found iterations x workers x batch"));
  setup.problem.iterations = 10;
  setup.problem.dimension = 100'000'000;
  CHECK(begins(diagnostic_of(setup), "/problem/samples_per_worker: found"));
}

TEST_CASE("forms that are not there are refused") {
  ConvergenceSetup setup = setup_of(SyncMethod::push_sum);
  setup.sync.compression.method = Compression::Method::sign;
  CHECK(begins(diagnostic_of(setup), "/data_parallel_sync/compression: found a method with push-sum"));
  setup.sync.method = SyncMethod::gossip;
  setup.sync.overlap = SyncOverlap::one_step_stale;
  CHECK(begins(diagnostic_of(setup), "/data_parallel_sync/compression: found a method with one-step-stale"));
  setup = setup_of(SyncMethod::all_reduce);
  setup.problem.optimizer = LocalOptimizer::adamw;
  setup.problem.momentum = 0.9;
  CHECK(begins(diagnostic_of(setup), "/problem/momentum: found a value that does nothing with adamw"));
  setup = setup_of(SyncMethod::diloco);
  setup.sync.fragments = 11;
  CHECK(begins(diagnostic_of(setup), "/data_parallel_sync/fragments: found 11"));
  setup = setup_of(SyncMethod::qg_dsgdm);
  CHECK(begins(diagnostic_of(setup), "/problem/momentum: found none with qg-dsgdm"));
  CHECK(begins(diagnostic_of(setup_of(SyncMethod::d2)),
               "/data_parallel_sync/topology: found a graph with 3 rounds for the method d2; allowed are"));
  CHECK(begins(diagnostic_of(setup_of(SyncMethod::d2, "exponential")),
               "/data_parallel_sync/topology: found a graph with edges that go one way for the method d2"));
  setup = setup_of(SyncMethod::gossip, "hypercube");
  setup.workers = 6;
  CHECK(begins(diagnostic_of(setup), "/data_parallel_sync/topology: found \"hypercube\" over 6 workers"));
}

TEST_CASE("a run that diverges says so and ends") {
  ConvergenceSetup setup = setup_of(SyncMethod::all_reduce);
  setup.problem.learning_rate = 1e9;
  setup.problem.regularization = 1;
  setup.problem.iterations = 100'000;
  const ConvergenceRun run = converge(setup);
  CHECK(run.diverged);
  CHECK(run.points.size() < 1000);
}

}  // namespace orrery::test
