// Tests asynchronous methods against loops over the times at which steps end.
#include "studies/converge/event_order.hpp"
#include "studies/converge/objective.hpp"
#include "tests/studies/converge/runs.hpp"
#include "topologies/gossip/gossip.hpp"

namespace orrery::test {
namespace {

/// Workers whose steps take 1, 2, 1 and 4 parts of the slowest one's 4: speeds 4, 2, 4 and 1.
const std::vector<double> kUneven{4, 2, 4, 1};
constexpr std::int64_t kParts = 4;

ConvergenceSetup uneven(SyncMethod method) {
  ConvergenceSetup setup = setup_of(method, "complete");
  setup.workers = 4;
  setup.speeds = kUneven;
  setup.problem.iterations = 12;
  return setup;
}

/// Calls `end` with worker and its step for all steps of 12 iterations in order of time.
template <class End>
void for_each_end(const End& end) {
  constexpr std::int64_t kTakes[]{1, 2, 1, 4};
  for (std::int64_t part = 1; part <= 12 * kParts; ++part)
    for (std::uint32_t worker = 0; worker < 4; ++worker)
      if (part % kTakes[worker] == 0) end(worker, part / kTakes[worker]);
}

double difference(const Matrix& expected, const ConvergenceRun& run) {
  double most = 0;
  for (Eigen::Index i = 0; i < expected.cols(); ++i) {
    const std::vector<double>& found = run.models[static_cast<std::size_t>(i)];
    most = std::max(
        most,
        (expected.col(i) - Eigen::Map<const Vector>(found.data(), expected.rows())).cwiseAbs().maxCoeff());
  }
  return most;
}

}  // namespace

TEST_CASE("steps end in order of time, then of workers") {
  StepEnds ends(kUneven, 4);
  std::vector<std::pair<std::uint32_t, std::int64_t>> found;
  while (ends.ends_by(2)) {
    const StepEnd end = ends.next();
    found.emplace_back(end.worker, end.step);
  }
  std::vector<std::pair<std::uint32_t, std::int64_t>> expected;
  for_each_end([&](std::uint32_t worker, std::int64_t step) { expected.emplace_back(worker, step); });
  REQUIRE(found.size() == 2 * (4 + 2 + 4 + 1));
  expected.resize(found.size());
  CHECK(found == expected);
}

TEST_CASE("ad-psgd averages with a random neighbour and steps by an old gradient") {
  const ConvergenceSetup setup = uneven(SyncMethod::ad_psgd);
  const auto objective = make_objective(setup.problem, 4, setup.seed);
  const GossipGraph graph = build_gossip_graph(setup.sync, {4, 4, 12, setup.seed});
  Matrix x(objective->dimension(), 4);
  x.colwise() = objective->start();
  Matrix read = x;
  std::vector<int> meetings(4, 0);
  for_each_end([&](std::uint32_t i, std::int64_t step) {
    const Vector g = objective->gradient(i, step - 1, read.col(i));
    const std::uint32_t j = partner_of({0, i, step}, graph, setup.seed);
    REQUIRE(j != i);
    ++meetings[j];
    const Vector both = x.col(i) + x.col(j);
    x.col(j) = both / 2;
    x.col(i) = both / 2 - 0.1 * g;
    read.col(i) = x.col(i);
  });
  CHECK(difference(x, converge(setup)) <= 1e-12);
  for (const int count : meetings) CHECK(count > 15);  // of 132 between 4
}

TEST_CASE("easgd's workers and centre pull at each other") {
  ConvergenceSetup setup = uneven(SyncMethod::easgd);
  setup.sync.period = 2;
  setup.problem.outer_learning_rate = 0.8;  // a fifth of what is between them
  const auto objective = make_objective(setup.problem, 4, setup.seed);
  Matrix x(objective->dimension(), 4);
  x.colwise() = objective->start();
  Vector centre = objective->start();
  for_each_end([&](std::uint32_t i, std::int64_t step) {
    const Vector g = objective->gradient(i, step - 1, x.col(i));
    const Vector apart = x.col(i) - centre;
    if (step % 2 == 0) {
      x.col(i) -= 0.2 * apart;
      centre += 0.2 * apart;
    }
    x.col(i) -= 0.1 * g;
  });
  CHECK(difference(x, converge(setup)) <= 1e-12);
}

TEST_CASE("asynchronous diloco takes changes as they come, and momentum with every fourth") {
  ConvergenceSetup setup = uneven(SyncMethod::async_diloco);
  setup.sync.period = 3;
  const auto objective = make_objective(setup.problem, 4, setup.seed);
  Matrix x(objective->dimension(), 4);
  x.colwise() = objective->start();
  Matrix began = x;
  Vector y = objective->start(), v = Vector::Zero(x.rows()), sum = Vector::Zero(x.rows());
  int taken = 0;
  for_each_end([&](std::uint32_t i, std::int64_t step) {
    x.col(i) -= 0.1 * objective->gradient(i, step - 1, x.col(i));
    if (step % 3 != 0) return;
    const Vector change = (began.col(i) - x.col(i)) / 4;
    sum += change;
    y -= 0.7 * change;
    if (++taken % 4 == 0) {
      v = 0.9 * v + sum;
      y -= 0.7 * 0.9 * v;
      sum.setZero();
    }
    x.col(i) = y;
    began.col(i) = y;
  });
  CHECK(difference(x, converge(setup)) <= 1e-12);
}

TEST_CASE("asynchronous diloco of one worker is diloco") {
  ConvergenceSetup one = setup_of(SyncMethod::diloco);
  one.workers = 1;
  one.sync.period = 4;
  const ConvergenceRun expected = converge(one);
  one.sync.method = SyncMethod::async_diloco;
  CHECK(largest_difference(expected, converge(one)) <= 1e-13);
}

TEST_CASE("asynchronous methods learn, the same to the bit every time") {
  for (const SyncMethod method : {SyncMethod::ad_psgd, SyncMethod::easgd, SyncMethod::async_diloco}) {
    CAPTURE(static_cast<int>(method));
    ConvergenceSetup setup = uneven(method);
    setup.problem.iterations = 300;
    setup.problem.evaluate_every = 300;
    setup.problem.outer_learning_rate = 0.5;
    setup.problem.outer_momentum = 0.5;
    const ConvergenceRun run = converge(setup);
    CHECK(run.points.back().loss < 0.93 * run.points.front().loss);
    CHECK(converge(setup).models == run.models);
  }
}

}  // namespace orrery::test
