// Holds the simulation against what is known on paper, and against a Markov chain.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "sim/long_run/closed_forms.hpp"
#include "sim/long_run/failure_stream.hpp"
#include "sim/long_run/run_simulation.hpp"

using namespace orrery;

namespace {

constexpr Picoseconds kMinute = 60 * kPicosecondsPerSecond;

/// Steps of a minute with checkpoints; failures without memory of one kind, rate per minute.
RunModel memoryless(std::int64_t interval, Picoseconds stall, Picoseconds restart, double rate) {
  RunModel model;
  model.levels = {{interval * 400, kMinute, 1}};
  model.checkpoint.interval_steps = interval;
  model.checkpoint.stall_ps = stall;
  model.checkpoint.first.survives = {true, true, true};
  model.restart_ps = restart;
  FailureKind kind;
  kind.mean_ps = static_cast<double>(kMinute) / rate;
  model.kinds = {kind};
  return model;
}

/// Share of the time that is useful, over some repetitions.
double simulated_share(const RunModel& model, int repetitions) {
  double useful = 0;
  double wall = 0;
  for (int r = 0; r < repetitions; ++r) {
    const RunOutcome outcome = simulate_run(model, 7, static_cast<std::uint64_t>(r));
    useful += static_cast<double>(outcome.time_ps[0]);
    wall += static_cast<double>(outcome.wall_ps);
  }
  return useful / wall;
}

/// The mean time of one interval by an absorbing Markov chain: its states are minutes of training, of the
/// stall and of the restart; each is left for the next one, or for the first minute of a restart. Solved by
/// sweeps.
double interval_by_markov_chain(int training, int restart, double rate) {
  const double lost = 1 - std::exp(-rate);
  const double until_lost = 1 / rate - 1 / (std::exp(rate) - 1);  // of a minute in which something fails
  std::vector<double> left(static_cast<std::size_t>(restart + training) + 1, 0.0);
  for (int sweep = 0; sweep < 200'000; ++sweep) {
    const double before = left[0];
    for (int s = restart + training - 1; s >= 0; --s)
      left[static_cast<std::size_t>(s)] =
          (1 - lost) * (1 + left[static_cast<std::size_t>(s) + 1]) + lost * (until_lost + left[0]);
    if (std::abs(left[0] - before) < 1e-12 * left[0]) break;
  }
  return left[static_cast<std::size_t>(restart)];
}

}  // namespace

TEST_CASE("Young's and Daly's intervals") {
  // sqrt(2 x 5 x 1000) = 100.
  CHECK(young_interval(5, 1000) == doctest::Approx(100));
  // 100 x (1 + sqrt(0.0025) / 3 + 0.0025 / 9) - 5 = 96.69.
  CHECK(daly_interval(5, 1000) == doctest::Approx(96.6944).epsilon(1e-5));
  CHECK(daly_interval(2000, 1000) == 1000);
}

TEST_CASE("the closed form of effective training time on its published grid") {
  struct Point {
    double mean_hours, interval_minutes, stall_s, percent;
  };
  // Nodes of 8 A100 at 6.5, 2.34 or 1 failures in 1,000 node-days and restarts of 5 minutes (arXiv
  // 2410.21680).
  for (const Point& p : {Point{14.423, 60, 300, 88.6},
                         {1.803, 15, 60, 82.9},
                         {0.295, 7, 10, 50.8},
                         {0.821, 21, 10, 68.0},
                         {15.625, 97, 300, 89.7},
                         {2.404, 6.9, 10, 91.9}}) {
    CAPTURE(p.mean_hours);
    const RenewalTerms terms{p.interval_minutes, p.stall_s / 60, 5, 1 / (60 * p.mean_hours)};
    CHECK(100 * first_order_training_share(terms) == doctest::Approx(p.percent).epsilon(0.0015));
  }
}

TEST_CASE("renewal: the simulation takes what the law says, at any rate") {
  struct Case {
    std::int64_t interval;
    Picoseconds stall, restart;
    double rate;
  };
  for (const Case& c : {Case{60, 5 * kMinute, 5 * kMinute, 1 / 865.0},
                        {15, kMinute, 5 * kMinute, 1 / 108.0},
                        {7, kMinute / 6, 5 * kMinute, 1 / 17.7},
                        {21, kMinute / 6, 5 * kMinute, 1 / 49.3}}) {
    CAPTURE(c.rate);
    const RunModel model = memoryless(c.interval, c.stall, c.restart, c.rate);
    const double minute = static_cast<double>(kMinute);
    const RenewalTerms terms{static_cast<double>(c.interval), static_cast<double>(c.stall) / minute,
                             static_cast<double>(c.restart) / minute, c.rate};
    // 12,000 intervals: the deviation of the mean is below 0.4 % for these.
    CHECK(simulated_share(model, 30) == doctest::Approx(renewal_training_share(terms)).epsilon(0.01));
  }
}

TEST_CASE("an independent Markov chain agrees with the law and the simulation") {
  for (const double rate : {0.01, 0.05, 0.1}) {
    CAPTURE(rate);
    const double chain = interval_by_markov_chain(8 + 1, 3, rate);  // with a stall of a minute
    const RenewalTerms terms{8, 1, 3, rate};
    CHECK(8 / chain == doctest::Approx(renewal_training_share(terms)).epsilon(1e-6));
    CHECK(simulated_share(memoryless(8, kMinute, 3 * kMinute, rate), 30) ==
          doctest::Approx(8 / chain).epsilon(0.01));
  }
}

TEST_CASE("Young's interval loses least, to first order") {
  // Stall 1 minute, a failure in 1,000: sqrt(2000) = 44.7 minutes. Half and double it lose more.
  const auto share = [](std::int64_t interval) {
    RunModel model = memoryless(interval, kMinute, kMinute, 0.001);
    model.levels = {{100'000, kMinute, 1}};
    return simulated_share(model, 20);
  };
  const double best = share(45);
  CHECK(best > share(22));
  CHECK(best > share(90));
}

TEST_CASE("failures in a fixed rhythm follow the first-order formula exactly") {
  // Every 18 minutes the run stands still for 10 (arXiv 2602.00277): 44.4 %; for 3: 83.3 %. Training does not
  // go back, as replicas that go on have all of it.
  for (const auto& [stands, percent] : {std::pair{10, 44.4}, {3, 83.3}}) {
    RunModel model = memoryless(1, 0, 0, 1);
    model.checkpoint.interval_steps = 0;
    model.levels = {{100'000, kMinute, 1}};
    model.policy = RecoveryPolicy::per_replica;
    model.replicas = model.parts = model.nodes = 1000;
    model.kinds[0].law = FailureLaw::fixed;
    model.kinds[0].mean_ps = 18.0 * kMinute;
    model.reconfigure_ps = stands * kMinute;
    CHECK(100 * simulated_share(model, 1) == doctest::Approx(percent).epsilon(0.002));
  }
}

TEST_CASE("the gamma function") {
  CHECK(portable_gamma(1) == doctest::Approx(1));
  CHECK(portable_gamma(5) == doctest::Approx(24));
  CHECK(portable_gamma(1.5) == doctest::Approx(std::sqrt(std::acos(-1.0)) / 2));
}

TEST_CASE("components fail as often as they should") {
  FailureKind kind;
  kind.units = 50;
  kind.mean_ps = 1e6;
  for (const FailureLaw law : {FailureLaw::exponential, FailureLaw::weibull}) {
    kind.law = law;
    for (const double shape : {0.7, 1.0, 3.0}) {
      kind.shape = shape;
      FailureStream stream(kind, 0, 1, 2);
      std::int64_t failures = 0;
      LongPicoseconds before = 0;
      for (; stream.next() < 1'000'000'000; stream.advance(), ++failures) {
        CHECK(stream.next() >= before);
        before = stream.next();
      }
      // 50 components in 1,000 lives each: renewal theory says 50,000, and (variation^2 - 1) / 2 more a
      // component.
      CHECK(static_cast<double>(failures) == doctest::Approx(50'000).epsilon(0.02));
    }
  }
}

TEST_CASE("the young and the old fail by their age") {
  const auto first_failure = [](double shape, double age) {
    FailureKind kind;
    kind.law = FailureLaw::weibull;
    kind.mean_ps = 1e9;
    kind.shape = shape;
    kind.age_ps = age;
    double sum = 0;
    for (std::uint64_t r = 0; r < 20'000; ++r)
      sum += static_cast<double>(FailureStream(kind, 0, 5, r).next());
    return sum / 20'000;
  };
  CHECK(first_failure(3, 0) == doctest::Approx(1e9).epsilon(0.02));
  CHECK(first_failure(3, 1e9) < 0.5e9);    // worn
  CHECK(first_failure(0.5, 1e9) > 1.5e9);  // proven
}

TEST_CASE("gaps are drawn from those given, or are all alike") {
  FailureKind kind;
  kind.law = FailureLaw::empirical;
  kind.gaps_ps = {5, 7};
  FailureStream drawn(kind, 0, 3, 4);
  LongPicoseconds before = 0;
  for (int i = 0; i < 50; ++i, drawn.advance()) {
    const auto gap = static_cast<std::int64_t>(drawn.next() - before);
    CHECK((gap == 5 || gap == 7));
    before = drawn.next();
  }
  kind.law = FailureLaw::fixed;
  kind.units = 2;
  kind.mean_ps = 30;
  FailureStream clock(kind, 0, 3, 4);
  CHECK(clock.next() == 15);
  clock.advance();
  CHECK(clock.next() == 30);
}
