// Workers that leave and join while a method runs.
#include "studies/converge/presence.hpp"

#include "tests/studies/converge/runs.hpp"

namespace orrery::test {
namespace {

/// Returns workers that start apart and learn nothing, so that only averaging is left.
ConvergenceSetup averaging(SyncMethod method, std::vector<WorkerChange> changes) {
  ConvergenceSetup setup = setup_of(method, "ring");
  setup.workers = 5;
  setup.problem.learning_rate = 0;
  setup.problem.initial_spread = 1;
  setup.problem.iterations = 400;
  setup.problem.changes = std::move(changes);
  return setup;
}

/// Mean of the first models of the given workers.
Vector first_mean(const ConvergenceSetup& setup, const std::vector<std::size_t>& of) {
  ConvergenceSetup at_start = setup;
  at_start.problem.iterations = 1;
  at_start.problem.changes.clear();
  at_start.sync.method = SyncMethod::none;
  const ConvergenceRun run = converge(at_start);
  Vector sum = Vector::Zero(run.parameters);
  for (const std::size_t worker : of)
    sum += Eigen::Map<const Vector>(run.models[worker].data(), run.parameters);
  return sum / static_cast<double>(of.size());
}

double distance_to(const Vector& mean, const ConvergenceRun& run, const std::vector<std::size_t>& of) {
  double most = 0;
  for (const std::size_t worker : of)
    most = std::max(
        most,
        (Eigen::Map<const Vector>(run.models[worker].data(), run.parameters) - mean).cwiseAbs().maxCoeff());
  return most;
}

WorkerChange leaves(std::int64_t iteration, std::int64_t worker) { return {iteration, worker, -1}; }
WorkerChange joins(std::int64_t iteration, std::int64_t worker) { return {iteration, -1, worker}; }

std::string refused(const ConvergenceSetup& setup) {
  try {
    (void)converge(setup);
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
  return "";
}

}  // namespace

TEST_CASE("push-sum loses neither values nor weight with workers that leave") {
  for (const SyncOverlap overlap : {SyncOverlap::none, SyncOverlap::one_step_stale}) {
    ConvergenceSetup setup = averaging(SyncMethod::push_sum, {leaves(3, 2), leaves(7, 0)});
    setup.sync.overlap = overlap;
    const ConvergenceRun run = converge(setup);
    // The three that stay agree on the mean of all five initial models.
    CHECK(distance_to(first_mean(setup, {0, 1, 2, 3, 4}), run, {1, 3, 4}) < 1e-9);
    CHECK(run.points.back().consensus_error < 1e-18);
  }
}

TEST_CASE("who joins push-sum brings no weight") {
  const ConvergenceSetup setup = averaging(SyncMethod::push_sum, {joins(10, 4), leaves(20, 4), joins(30, 4)});
  const ConvergenceRun run = converge(setup);
  CHECK(distance_to(first_mean(setup, {0, 1, 2, 3}), run, {0, 1, 2, 3, 4}) < 1e-9);
}

TEST_CASE("gossip goes on with the mean of those that stay") {
  // At iteration 0 worker 2 leaves before it has told anybody.
  const ConvergenceSetup setup = averaging(SyncMethod::gossip, {leaves(0, 2)});
  CHECK(distance_to(first_mean(setup, {0, 1, 3, 4}), converge(setup), {0, 1, 3, 4}) < 1e-9);
}

TEST_CASE("a worker that is away counts in no mean") {
  for (const SyncMethod method : {SyncMethod::all_reduce, SyncMethod::local_sgd, SyncMethod::diloco}) {
    ConvergenceSetup setup = setup_of(method);
    setup.sync.period = 5;
    ConvergenceSetup fewer = setup;
    fewer.workers = 7;  // without the last one
    setup.problem.changes = {leaves(0, 7)};
    const ConvergenceRun with = converge(setup);
    const ConvergenceRun without = converge(fewer);
    for (std::size_t worker = 0; worker < 7; ++worker)
      for (std::size_t i = 0; i < with.models[worker].size(); ++i)
        CHECK(std::abs(with.models[worker][i] - without.models[worker][i]) < 1e-12);
  }
}

TEST_CASE("who joins learns on from the others' model") {
  for (const SyncMethod method :
       {SyncMethod::local_sgd, SyncMethod::diloco, SyncMethod::gossip, SyncMethod::push_sum}) {
    CAPTURE(static_cast<int>(method));
    ConvergenceSetup setup = setup_of(method);
    setup.sync.period = 5;
    setup.problem.changes = {leaves(10, 3), joins(30, 3)};
    const ConvergenceRun run = converge(setup);
    CHECK_FALSE(run.diverged);
    CHECK(run.points.back().loss < run.points[20].loss);
    CHECK(run.points.back().consensus_error < 1);
  }
}

TEST_CASE("changes that contradict are refused") {
  const auto with = [](std::vector<WorkerChange> changes, SyncMethod method = SyncMethod::push_sum) {
    return refused(averaging(method, std::move(changes)));
  };
  CHECK(with({leaves(3, 5)}) ==
        "/problem/changes: found worker 5 that leaves before iteration 3, allowed workers 0 to 4");
  CHECK(with({leaves(3, 1), leaves(4, 1)}) ==
        "/problem/changes: found worker 1 that leaves before iteration 4 and is away, allowed one that is "
        "there");
  CHECK(with({leaves(3, 1), joins(4, 1), joins(5, 1)}) ==
        "/problem/changes: found worker 1 that joins before iteration 5 and is there, allowed one that is "
        "away");
  CHECK(with({leaves(3, 0), leaves(4, 1), leaves(4, 2), leaves(4, 3), leaves(9, 4)}) ==
        "/problem/changes: found worker 4 that leaves before iteration 9 as the last one, allowed changes "
        "that leave "
        "one or more");
  CHECK(with({leaves(3, 1)}, SyncMethod::gradient_tracking)
            .starts_with("/problem/changes: found workers that come"));
}

}  // namespace orrery::test
