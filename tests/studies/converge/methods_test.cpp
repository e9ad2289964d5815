#include "studies/converge/mixing.hpp"
#include "tests/sanitized.hpp"
#include "tests/studies/converge/runs.hpp"
#include "topologies/gossip/gossip.hpp"

namespace orrery::test {

namespace {

Compression largest_third() {
  Compression compression;
  compression.method = Compression::Method::top_k;
  compression.bits = 32;
  compression.fraction = 0.34;
  return compression;
}

}  // namespace

TEST_CASE("one worker is plain SGD to the bit, whatever keeps it in step") {
  const auto alone = [](SyncMethod method, SyncOverlap overlap = SyncOverlap::none) {
    ConvergenceSetup setup = setup_of(method);
    setup.workers = 1;
    setup.sync.overlap = overlap;
    return converge(setup).models;
  };
  const auto plain = alone(SyncMethod::none);
  for (const SyncMethod method :
       {SyncMethod::all_reduce, SyncMethod::parameter_server, SyncMethod::gossip, SyncMethod::push_sum,
        SyncMethod::local_sgd, SyncMethod::gossip_pga, SyncMethod::gossip_aga}) {
    CAPTURE(static_cast<int>(method));
    CHECK(alone(method) == plain);
  }
  CHECK(alone(SyncMethod::gossip, SyncOverlap::one_step_stale) == plain);
  CHECK(alone(SyncMethod::gossip, SyncOverlap::combine_while_computing) == plain);
  CHECK(alone(SyncMethod::push_sum, SyncOverlap::one_step_stale) == plain);
}

TEST_CASE("methods that average everything every step are parallel SGD to rounding") {
  const ConvergenceRun parallel = converge(setup_of(SyncMethod::all_reduce));
  const auto distance = [&](SyncMethod method, const std::string& topology, std::int64_t period) {
    ConvergenceSetup setup = setup_of(method, topology);
    setup.sync.period = period;
    return largest_difference(parallel, converge(setup));
  };
  CHECK(distance(SyncMethod::parameter_server, "ring", 1) == 0);
  CHECK(distance(SyncMethod::gossip, "complete", 1) <= 1e-12);
  CHECK(distance(SyncMethod::push_sum, "complete", 1) <= 1e-12);
  CHECK(distance(SyncMethod::local_sgd, "ring", 1) <= 1e-12);
  CHECK(distance(SyncMethod::gossip_pga, "ring", 1) <= 1e-12);
  CHECK(distance(SyncMethod::gossip, "ring", 1) >= 1e-4);
}

TEST_CASE("an outer optimizer that takes the whole change is local SGD") {
  ConvergenceSetup outer = setup_of(SyncMethod::diloco);
  outer.problem.outer_learning_rate = 1;
  outer.problem.outer_momentum = 0;
  outer.sync.period = 5;
  ConvergenceSetup local = setup_of(SyncMethod::local_sgd);
  local.sync.period = 5;
  CHECK(largest_difference(converge(outer), converge(local)) <= 1e-12);
}

TEST_CASE("diloco comes near with fragments, delay and AdamW") {
  ConvergenceSetup setup = setup_of(SyncMethod::diloco);
  setup.problem.optimizer = LocalOptimizer::adamw;
  setup.problem.learning_rate = 0.01;
  setup.problem.iterations = 1500;
  setup.problem.evaluate_every = 0;
  setup.sync.period = 20;
  for (const std::int64_t fragments : {1, 4}) {
    for (const std::int64_t delay : {0, 3}) {
      setup.sync.fragments = fragments;
      setup.sync.delay = delay;
      const ConvergenceRun run = converge(setup);
      CAPTURE(fragments);
      CAPTURE(delay);
      CHECK(excess(run) <= 0.02);
      CHECK(run.points.front().loss - run.least_loss.value() >= 0.1);
    }
  }
}

TEST_CASE("push-sum finds the mean on a directed unbalanced graph") {
  ConvergenceSetup setup = setup_of(SyncMethod::push_sum);
  setup.sync.neighbours = {{1, 2}, {0}, {1}};
  setup.workers = 3;
  setup.problem.learning_rate = 0;
  setup.problem.initial_spread = 1;
  setup.problem.iterations = 200;
  for (const SyncOverlap overlap :
       {SyncOverlap::none, SyncOverlap::combine_while_computing, SyncOverlap::one_step_stale}) {
    setup.sync.overlap = overlap;
    const ConvergenceRun run = converge(setup);
    CHECK(run.points.back().consensus_error <= 1e-24);
    // The mean of the first models has the loss of the first point.
    CHECK(run.points.back().loss == doctest::Approx(run.points.front().loss).epsilon(1e-12));
  }
}

TEST_CASE("without push-sum's weights, a directed unbalanced graph agrees on something else") {
  // Rows add up to 1: worker 0 takes 1/3 of each, worker 1 half of 0, worker 2 half of 1. The columns do not,
  // and the limit is the left eigenvector (3, 4, 2)/9 times the models, not their mean.
  Mixing rows;
  rows.begin = {0, 2, 3, 4};
  rows.from = {1, 2, 0, 1};
  rows.weight = {1.0 / 3, 1.0 / 3, 0.5, 0.5};
  rows.self = {1.0 / 3, 0.5, 0.5};
  Matrix models(1, 3);
  models << 0, 0, 9;
  for (int k = 0; k < 200; ++k) models = mix(rows, models, models, 1);
  for (const double model : models.reshaped()) CHECK(model == doctest::Approx(2));
}

TEST_CASE("more workers average more noise away") {
  // Parallel SGD keeps a distance from the least loss in proportion to the variance of its gradient, that is
  // to 1/n; alike data, so that nothing else differs.
  const auto floor_of = [](std::uint32_t workers, SyncMethod method) {
    ConvergenceSetup setup = setup_of(method, "exponential");
    setup.workers = workers;
    setup.problem.heterogeneity = 0;
    setup.problem.noise = 2;
    setup.problem.samples_per_worker = 20;
    setup.problem.batch = 20;
    setup.problem.regularization = 0.1;
    setup.problem.iterations = 3000;
    setup.problem.evaluate_every = 10;
    const ConvergenceRun run = converge(setup);
    double sum = 0;
    for (std::size_t i = 100; i < run.points.size(); ++i) sum += run.points[i].loss - run.least_loss.value();
    return sum / static_cast<double>(run.points.size() - 100);
  };
  const double one = floor_of(1, SyncMethod::all_reduce);
  for (const SyncMethod method : {SyncMethod::all_reduce, SyncMethod::gossip}) {
    const double sixteen = floor_of(16, method);
    CHECK(one / sixteen >= 10);
    CHECK(one / sixteen <= 25);
  }
}

TEST_CASE("with different data, rarer averages and sparser graphs cost accuracy" *
          doctest::skip(test::kSanitized)) {
  const auto floor_of = [](SyncMethod method, const std::string& topology, std::int64_t period) {
    ConvergenceSetup setup = setup_of(method, topology);
    setup.workers = 16;
    setup.problem.heterogeneity = 1;
    setup.problem.regularization = 0.1;
    setup.problem.batch = setup.problem.samples_per_worker;  // full gradients: no noise
    setup.problem.iterations = 2000;
    setup.problem.evaluate_every = 0;
    setup.sync.period = period;
    return excess(converge(setup));
  };
  using enum SyncMethod;
  CHECK(std::abs(floor_of(all_reduce, "ring", 1)) <= 1e-10);
  CHECK(floor_of(local_sgd, "ring", 4) > 1e-8);
  CHECK(floor_of(local_sgd, "ring", 20) > 4 * floor_of(local_sgd, "ring", 4));
  CHECK(floor_of(gossip, "exponential", 1) > 1e-8);
  CHECK(floor_of(gossip, "ring", 1) > 4 * floor_of(gossip, "exponential", 1));
  CHECK(floor_of(gossip_pga, "ring", 4) < floor_of(gossip, "ring", 1));
  CHECK(floor_of(gossip_pga, "ring", 4) < floor_of(local_sgd, "ring", 4));
}

TEST_CASE("every method learns every problem") {
  using enum SyncMethod;
  for (const ProblemKind kind :
       {ProblemKind::logistic, ProblemKind::non_convex_logistic, ProblemKind::network}) {
    for (const SyncMethod method :
         {all_reduce, parameter_server, gossip, push_sum, local_sgd, gossip_pga, gossip_aga, diloco,
          gradient_tracking, d2, qg_dsgdm, slowmo, noloco, sparse_loco, demo}) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(static_cast<int>(method));
      ConvergenceSetup setup = setup_of(method, method == d2 ? "hypercube" : "one-peer-exponential");
      if (method == qg_dsgdm) setup.problem.momentum = 0.5;
      if (method == noloco) setup.problem.outer_momentum = 0.5;
      if (method == sparse_loco || method == demo) setup.sync.compression = largest_third();
      if (method == demo) setup.problem.learning_rate = 0.01;
      setup.problem.kind = kind;
      setup.problem.iterations = 300;
      setup.problem.evaluate_every = 300;
      const ConvergenceRun run = converge(setup);
      REQUIRE(run.points.size() == 2);
      CHECK(run.points.back().loss < 0.93 * run.points.front().loss);
      CHECK(run.points.back().gradient_norm < 0.7 * run.points.front().gradient_norm);
    }
  }
}

TEST_CASE("every topology learns, with gossip and with push-sum") {
  for (const GossipTopologyEntry& entry : gossip_topologies()) {
    for (const SyncMethod method : {SyncMethod::gossip, SyncMethod::push_sum}) {
      CAPTURE(entry.name);
      CAPTURE(static_cast<int>(method));
      ConvergenceSetup setup = setup_of(method, std::string(entry.name));
      setup.workers = 16;
      setup.problem.iterations = 200;
      setup.problem.evaluate_every = 200;
      const ConvergenceRun run = converge(setup);
      CHECK(excess(run) <= 0.3 * (run.points.front().loss - run.least_loss.value()));
    }
  }
}

TEST_CASE("full gradients without heterogeneity come to the least loss") {
  ConvergenceSetup setup = setup_of(SyncMethod::gossip, "ring");
  setup.problem.batch = setup.problem.samples_per_worker;
  setup.problem.heterogeneity = 0;
  setup.problem.learning_rate = 0.5;
  setup.problem.regularization = 0.05;
  setup.problem.iterations = 1000;
  setup.sync.method = SyncMethod::all_reduce;
  CHECK(std::abs(excess(converge(setup))) <= 1e-12);
}

TEST_CASE("the result does not depend on the number of threads") {
  for (const SyncMethod method : {SyncMethod::gossip, SyncMethod::diloco, SyncMethod::all_reduce}) {
    ConvergenceSetup setup = setup_of(method, "exponential");
    setup.workers = 24;
    setup.problem.kind = ProblemKind::network;
    setup.problem.dimension = 30;
    setup.problem.hidden = 20;
    setup.problem.batch = 32;
    setup.problem.iterations = 4;
    const ConvergenceRun one = converge(setup);
    for (const unsigned threads : {2U, 7U}) {
      setup.threads = threads;
      const ConvergenceRun more = converge(setup);
      CHECK(more.models == one.models);
      CHECK(more.points.back().loss == one.points.back().loss);
    }
  }
}

}  // namespace orrery::test
