// Checks the cost of moving weights and gradients, in closed form, and the report of a plan that moves them
// more often than necessary.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

/// Three matrices of 2 MB over 2 ranks at 1 GB/s: to gather or reduce one takes 1 MB / 1 GB/s = 1 ms, a
/// product 2 * 1000^3 / 1 TFLOP/s = 2 ms. Two micro-batches compute 2 * (3 forward + 5 backward products) =
/// 32 ms; the optimizer reads 1.5 M parameters of 28 bytes at 10 TB/s in 4.2 us.
Picoseconds step_time(const std::vector<std::string>& overrides) {
  const std::string text =
      R"({"stack": "ideal", "model": {"kind": "mlp", "widths": [1000, 1000, 1000, 1000], "seq_length": 1000},
    "cluster": {"gpu": {"peak_tflops": {"bf16": 1}, "memory_gb": 1, "memory_gb_per_s": 10000}, "nodes": 2,
      "fabric": {"kind": "switch", "nic_gbps": 8}}, "plan": {"data_parallel": 2, "global_batch_size": 4}})";
  return simulate(read(text, overrides)).makespan_ps;
}

constexpr Picoseconds kThousandthOfSecond = 1'000'000'000;
constexpr Picoseconds kUpdate = 4'200'000;

/// Returns the warnings without that on the range of the step time.
std::vector<std::string> warnings_of(const std::vector<std::string>& overrides) {
  const Experiment e = read(
      R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 1},
          "plan": {"pipeline_parallel": 2, "data_parallel": 4, "zero_stage": 2, "global_batch_size": 32}})",
      overrides);
  std::vector<std::string> warnings = simulate(e).warnings;
  std::erase_if(warnings,
                [](const std::string& warning) { return warning.find("range") != std::string::npos; });
  return warnings;
}

}  // namespace

TEST_CASE("ZeRO-2 that reduces once a step waits for one reduction, not for one a micro-batch") {
  // The parameters are gathered in 3 ms after the update.
  CHECK(step_time({"plan.zero_stage=2"}) == (32 + 2 * 3 + 3) * kThousandthOfSecond + kUpdate);
  CHECK(step_time({"plan.zero_stage=2", "plan.gradient_reduction=every-step"}) ==
        (32 + 3 + 3) * kThousandthOfSecond + kUpdate);
  // An all-reduce takes twice as long, and all weights are updated.
  CHECK(step_time({"plan.gradient_reduction=every-micro-batch"}) ==
        (32 + 2 * 6) * kThousandthOfSecond + 2 * kUpdate);
}

TEST_CASE("ZeRO-3 that keeps parameters gathers them once where it gathered twice") {
  for (const char* schedule : {"gpipe", "1f1b", "sequential"}) {
    const auto of = [&](std::vector<std::string> overrides) {
      overrides.emplace_back("plan.zero_stage=3");
      overrides.push_back(std::string("plan.pipeline_schedule=") + schedule);
      return step_time(overrides) - kUpdate;
    };
    CHECK(of({"plan.prefetch=0"}) == (32 + 2 * (3 + 3 + 3)) * kThousandthOfSecond);
    CHECK(of({"plan.reshard_after_forward=false"}) == (32 + 2 * (3 + 3)) * kThousandthOfSecond);
    CHECK(of({"plan.reshard_after_forward=false", "plan.gradient_reduction=every-step"}) ==
          (32 + 3 + 3) * kThousandthOfSecond);
    // In one unit they move together, as long as before.
    CHECK(of({"plan.fsdp_unit_layers=3"}) == (32 + 2 * (3 + 3 + 3)) * kThousandthOfSecond);
  }
}

TEST_CASE("gathered ahead, only the first unit and the last reduction are waited for") {
  const std::vector<std::string> once{"plan.zero_stage=3", "plan.prefetch=3",
                                      "plan.reshard_after_forward=false",
                                      "plan.gradient_reduction=every-step"};
  CHECK(step_time(once) == (1 + 32 + 3) * kThousandthOfSecond + kUpdate);
  std::vector<std::string> overlapped = once;
  overlapped.emplace_back("plan.overlap_gradient_reduce=true");
  CHECK(step_time(overlapped) == (1 + 32 + 1) * kThousandthOfSecond + kUpdate);
}

TEST_CASE("a plan that reduces with every micro-batch is told what that costs, and the key") {
  // A stage trains 0.71 G parameters: eight reductions and a gather of 1.42 GB. Whole gradients take 3/4 of
  // that more, less the bucket of 40 MB and the rest that waits whole.
  const std::vector<std::string> told = warnings_of({});
  REQUIRE(told.size() == 1);
  CHECK(told[0].starts_with("gradients reduced 8 times a step: 12.8 GB per GPU, and "));
  CHECK(
      told[0].ends_with(" s of waiting; plan.gradient_reduction=every-step moves 2.85 GB and fits with "
                        "0.853 GB more memory"));
  CHECK(warnings_of({"simulation.network=alpha-beta", "plan.overlap_gradient_reduce=true",
                     "cluster.node.link_gb_per_s=10000"})
            .empty());  // nobody waits
  CHECK(warnings_of({"plan.gradient_reduction=every-step"}).empty());
  CHECK(warnings_of({"plan.zero_stage=1"}).empty());
  CHECK(warnings_of({"plan.global_batch_size=8"}).empty());  // two micro-batches
  CHECK(warnings_of({"cluster.gpu.memory_gb=12"}).empty());  // no room for whole gradients
}

TEST_CASE("a plan that gathers for every pass is told of the way that moves least and fits") {
  const std::vector<std::string> told = warnings_of({"plan.zero_stage=3", "plan.prefetch=1"});
  REQUIRE(told.size() == 1);
  CHECK(told[0].starts_with("parameters gathered 16 times and gradients reduced 8 times a step: "));
  CHECK(told[0].find("; plan.zero_stage=1 moves ") != std::string::npos);
  CHECK(warnings_of(
            {"plan.zero_stage=3", "plan.reshard_after_forward=false", "plan.gradient_reduction=every-step"})
            .empty());
}
