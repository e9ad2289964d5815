#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "config/catalog/constants.hpp"
#include "orrery/error.hpp"
#include "studies/calibrate/identifiability.hpp"
#include "studies/calibrate/optimizer.hpp"

using namespace orrery;

TEST_CASE("the minimum of a bowl with a kink is found, the same every time") {
  const FitObjective bowl = [](std::span<const double> x) {
    return std::hypot(x[0] - 0.3, 2 * (x[1] - 0.9)) + std::abs(x[0] - 0.3);
  };
  const Minimum found = minimize(bowl, {0.5, 0.5}, 0.1, 300);
  CHECK(found.at[0] == doctest::Approx(0.3).epsilon(0.01));
  CHECK(found.at[1] == doctest::Approx(0.9).epsilon(0.01));
  CHECK(found.evaluations <= 301);
  CHECK(minimize(bowl, {0.5, 0.5}, 0.1, 300).at == found.at);
  const Minimum line = minimize([](std::span<const double> x) { return x[0]; }, {0.5}, 0.1, 50);
  CHECK(line.at[0] == doctest::Approx(0));
}

TEST_CASE("what an objective throws comes out") {
  const FitObjective broken = [](std::span<const double>) -> double { throw std::out_of_range("broken"); };
  CHECK_THROWS_AS(static_cast<void>(minimize(broken, {0.5, 0.5}, 0.1, 50)), std::out_of_range);
}

TEST_CASE("standard errors are those of least squares") {
  // One constant, 4 rows of derivative 2, residuals of 0.01: sigma = sqrt(4e-4 / 3), error = sigma / (2 sqrt
  // 4).
  const Determination one = determination({{2}, {2}, {2}, {2}}, {0.01, -0.01, 0.01, -0.01}, {1, 1, 1, 1});
  CHECK(one.standard_errors[0] == doctest::Approx(std::sqrt(4e-4 / 3) / 4));
  CHECK(one.singular_values[0] == doctest::Approx(4));
  // The second constant does nothing; the third and fourth only their sum does.
  const Determination more = determination({{1, 0, 1, 1}, {2, 0, 1, 1}, {3, 0, 1, 1}}, {0, 0, 0}, {1, 1, 1});
  CHECK(more.standard_errors[0] < 0.01);
  for (const std::size_t j : {1, 2, 3}) CHECK(more.standard_errors[j] > 100);
}

// Columns (1, 2, 3) and (-2, -4, -6) are one direction; (1, -1, 1) has 2 of sqrt(14 * 3) = 6.5 in common with
// them. The third row counts nothing in the second case, which leaves (1, 2) and (1, 2.1).
TEST_CASE("constants lean on each other where they move rows alike") {
  const auto pairs = leaning({{1, -2, 1}, {2, -4, -1}, {3, -6, 1}}, {1, 1, 1});
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].one == 0);
  CHECK(pairs[0].other == 1);
  CHECK(pairs[0].correlation == doctest::Approx(-1));
  CHECK(leaning({{1, 1}, {2, 2.1}, {0, 9}}, {1, 1, 0}).size() == 1);
  CHECK(leaning({{1, 1}, {2, 2.1}, {0, 9}}, {1, 1, 1}).empty());
  CHECK(leaning({{0, 1}, {0, 2}}, {1, 1}).empty());  // one without effect leans on none
  CHECK(leaning({}, {}).empty());
}

TEST_CASE("constants are read and set by key") {
  Experiment experiment;
  for (const char* key : {"software.forward_issue_us", "cluster.gpu.sustained_clock", "cluster.node.ramp_us",
                          "cluster.fabric.base_latency_us"}) {
    const Constant constant = constant_named(key);
    constant.set(experiment, 0.25);
    CHECK(constant.get(experiment) == 0.25);
  }
  CHECK(experiment.cluster.node.ramp_us == 0.25);
  CHECK(constant_named("cluster.gpu.sustained_clock").part == "gpu");
  for (const char* key : {"plan.tensor_parallel", "cluster.gpu.sms", "software.gathers_tensors", "", "x"})
    CHECK_THROWS_AS(constant_named(key), InputError);
}
