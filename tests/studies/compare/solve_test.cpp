// The value of a key at which a figure reaches a value: exact to three significant digits, or whole numbers.
#include "studies/compare/solve.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "orrery/error.hpp"
#include "tests/studies/compare/small_comparisons.hpp"

using namespace orrery;
using comparison_test::request;
using comparison_test::text_of;

namespace {

Solve wanted(double value) { return {"key", "figure", value}; }

template <class Figure>
std::string solved(double value, double start, Figure figure, bool whole = false) {
  return solve(wanted(value), start, whole,
               [&](const std::string& at) -> std::optional<double> { return figure(std::stod(at)); });
}

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.diagnostics().size() == 1 ? error.diagnostics().front().message : "several";
  }
  return "";
}

}  // namespace

TEST_CASE("the least number of three digits that reaches the value is found from any start") {
  const auto share = [](double x) { return x / (x + 10); };
  for (const double start : {1e-6, 1.0, 90.0, 7777.0, 1e9}) {
    CAPTURE(start);
    CHECK(solved(0.9, start, share) == "90");
    CHECK(solved(0.901, start, share) == "91.1");  // 91.01 is where it is
    CHECK(solved(0.1, start, share) == "1.12");    // 1.111...
  }
  // Falling figures: the first at which they are down there.
  const auto time = [](double x) { return 2 + 1000 / x; };
  CHECK(solved(3, 5, time) == "1000");
  CHECK(solved(2.003, 5, time) == "334000");  // 333,333.3
}

TEST_CASE("whole numbers are each their own up to a thousand, then have three digits") {
  const auto grows = [](double x) { return x * x; };
  CHECK(solved(50, 3, grows, true) == "8");
  CHECK(solved(999 * 999, 3, grows, true) == "999");
  CHECK(solved(1234.0 * 1234.0, 3, grows, true) == "1240");
}

TEST_CASE("bounds of a key end the search, and what cannot be says so") {
  const auto bounded = [](const std::string& at) -> std::optional<double> {
    const double x = std::stod(at);
    if (x < 0.5 || x > 100) return std::nullopt;
    return x;
  };
  CHECK(solve(wanted(30), 2, false, bounded) == "30");
  CHECK(error_of([&] { static_cast<void>(solve(wanted(1000), 2, false, bounded)); }) ==
        "figure is 0.5 to 32 for key from 0.5 to 32, and 1000 is not among that");
  const std::string wave = error_of([&] {
    static_cast<void>(solved(5, 1, [](double x) { return std::abs(std::log(x)) < 1 ? 1.0 : 2.0; }));
  });
  CHECK(wave.find("goes up and down with key") != std::string::npos);
}

TEST_CASE("what --for says is read") {
  CHECK(parse_solve("a.b", "utilization=0.9").figure == "utilization.gpu_mean");
  CHECK(parse_solve("a.b", "step_time_s=1e-3").value == 1e-3);
  for (const std::string wrong : {"", "x", "x=", "=1", "x=one", "x=1s", "x=inf"}) {
    CAPTURE(wrong);
    CHECK(error_of([&] { static_cast<void>(parse_solve("a", wrong)); }).find("allowed FIGURE=VALUE") !=
          std::string::npos);
  }
}

TEST_CASE("a comparison solves every row and shows it with the value found") {
  ComparisonRequest solving = request({"data_parallel_sync.method=all-reduce,none"},
                                      {"cluster.nodes=2", "cluster.fabric.nic_gbps=100"});
  solving.solve = parse_solve("cluster.fabric.nic_gbps", "utilization=0.3");
  const Comparison comparison = compare(solving, 2);
  REQUIRE(comparison.rows.size() == 2);
  const ComparedRow& row = comparison.rows[0];
  // Reached there, and not a digit below.
  CHECK(row.report->gpu_utilization_mean >= 0.3);
  const double found = std::stod(row.solved);
  solving.solve.reset();
  solving.variations.clear();
  const double digit = std::pow(10, std::floor(std::log10(found)) - 2);
  solving.overrides.push_back("cluster.fabric.nic_gbps=" + std::to_string(found - digit));
  CHECK(compare(solving, 1).rows[0].report->gpu_utilization_mean < 0.3);
  // Without exchange GPUs are as busy at any bandwidth: a row with its reason.
  CHECK(comparison.rows[1].solved.empty());
  REQUIRE(comparison.rows[1].reasons.size() == 1);
  CHECK(comparison.rows[1].reasons[0].find("is not among that") != std::string::npos);
  CHECK(text_of(comparison).find("found") != std::string::npos);
}

TEST_CASE("keys and figures that cannot be solved for are one line") {
  const auto says = [](const std::string& key, const std::string& wanted_figure) {
    ComparisonRequest solving = request({"plan.micro_batch_size=1,2"});
    return error_of([&] {
      solving.solve = parse_solve(key, wanted_figure);
      static_cast<void>(compare(solving, 1));
    });
  };
  CHECK(says("cluster.node.link_gb_per_", "mfu=0.4").find("did you mean \"cluster.node.link_gb_per_s\"") !=
        std::string::npos);
  CHECK(says("plan.precision", "mfu=0.4") ==
        "--solve: found plan.precision \"bf16\", allowed a key with a number");
  CHECK(says("plan.micro_batch_size", "mfu=0.4").find("which --vary has too") != std::string::npos);
  CHECK(says("cluster.node.link_gb_per_s", "mfuu=0.4").find("did you mean \"mfu\"") != std::string::npos);
}
