// Checks that a step on several nodes waits for the slowest of them, by a share of its compute time.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "sim/cost/rank_speeds.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

std::string small_gpt(int nodes, const std::string& more = "") {
  const std::string count = std::to_string(nodes);
  return R"({"model": "gpt3-125m", "cluster": {"base": "dgx-h100", "nodes": )" + count +
         R"(}, "plan": {"global_batch_size": )" + std::to_string(32 * nodes) +
         R"(, "micro_batch_size": 4}, "simulation": {"network": "alpha-beta"})" + more + "}";
}

/// The step without communication that nothing hides, on average over GPUs.
double apart(const Report& report, int nodes) {
  double exposed = 0;
  for (const Int128 one : report.breakdown.exposed_ps) exposed += static_cast<double>(one);
  return static_cast<double>(report.makespan_ps) - exposed / (8 * nodes);
}

}  // namespace

TEST_CASE("the slowest of n exponential delays is the sum of 1/2 to 1/n beyond one") {
  const auto slowest = [](int nodes, const std::string& more = "") {
    return slowest_node(read(small_gpt(nodes, more), {"stack=ideal", "software.straggler_share=0.03"}));
  };
  CHECK(slowest(1) == 1);
  CHECK(slowest(2) == doctest::Approx(1 + 0.03 / 2));
  CHECK(slowest(3) == doctest::Approx(1 + 0.03 * (1. / 2 + 1. / 3)));
  CHECK(slowest(128) == doctest::Approx(1 + 0.03 * 4.4331).epsilon(1e-5));  // H_128 = 5.4331
  // Asynchronous workers wait only within themselves: here on one node each.
  CHECK(slowest(4, R"(, "data_parallel_sync": {"method": "none"})") == 1);
  CHECK(slowest(4, R"(, "data_parallel_sync": {"method": "ad-psgd"})") == 1);
  // A replica of 16 GPUs is on two nodes.
  CHECK(slowest_node(read(small_gpt(4, R"(, "data_parallel_sync": {"method": "none"})"),
                          {"stack=ideal", "software.straggler_share=0.03", "plan.tensor_parallel=4",
                           "plan.pipeline_parallel=4"})) == doctest::Approx(1.015));
}

TEST_CASE("slow nodes lengthen kernels alone, in proportion, folded and unfolded") {
  const std::vector<std::string> quiet{"stack=ideal", "data_parallel_sync.method=all-reduce"};
  std::vector<std::string> slow = quiet;
  slow.emplace_back("software.straggler_share=0.04");
  for (const int nodes : {1, 2}) {
    const Report without = simulate(read(small_gpt(nodes), quiet));
    const Report with = simulate(read(small_gpt(nodes), slow));
    // Two nodes: 0.04 / 2 more.
    const double expected = nodes == 1 ? 1 : 1.02;
    const auto kernels = [](const Report& report) {
      return static_cast<double>(report.breakdown.compute_ps);
    };
    CHECK(kernels(with) / kernels(without) == doctest::Approx(expected).epsilon(1e-6));
  }
  slow.emplace_back("simulation.folding=off");
  const Report unfolded = simulate(read(small_gpt(2), slow));
  slow.back() = "simulation.folding=auto";
  CHECK(unfolded.makespan_ps == simulate(read(small_gpt(2), slow)).makespan_ps);
}

// Steps of 30 to 80 ms. With 32 samples on each node, what a second node and the 127th add is what they send
// and a few percent of the step: no stack has a wait of its own for having several.
TEST_CASE("a second node costs a small model what it sends and a few percent") {
  for (const std::string& stack : test::software_stacks()) {
    CAPTURE(stack);
    const auto time = [&](int nodes) {
      return apart(simulate(read(small_gpt(nodes), {"stack=" + stack})), nodes);
    };
    const double one = time(1);
    CHECK(time(2) <= 1.03 * one);
    CHECK(time(4) <= 1.03 * one);
    CHECK(time(128) <= 1.1 * one);
  }
}
