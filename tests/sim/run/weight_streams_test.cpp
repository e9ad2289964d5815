// Gathers of parameters, sums within the shards and sums over their copies beside the passes and beside each
// other, by hand: what of them a step waits for.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::RandomExperiment;
using orrery::test::read;

namespace {

constexpr Picoseconds kMs = 1'000'000'000;

/// Three matrices of 2 MB under ZeRO-3 on two ranks: at 1 GB/s a gather or a reduction takes 1 MB / 1 GB/s =
/// 1 ms. A product takes 2 * 1000^3 / 1 TFLOP/s = 2 ms: forward three of them, backward two of the third and
/// the second matrix and one of the first, whose input needs no gradient.
std::string three_matrices(double gbps, int micro_batches, const std::string& plan) {
  return fmt::format(
      R"({{"stack": "ideal", "model": {{"kind": "mlp", "widths": [1000, 1000, 1000, 1000], "seq_length": 1000}},
          "cluster": {{"gpu": {{"peak_tflops": {{"bf16": 1}}, "memory_gb": 1, "memory_gb_per_s": 1e6}}, "nodes": 2,
                       "fabric": {{"kind": "switch", "nic_gbps": {}}}}},
          "plan": {{"data_parallel": 2, "global_batch_size": {}, "zero_stage": 3{}}}}})",
      gbps, 2 * micro_batches, plan);
}

Picoseconds step_time(const std::string& text, const std::string& network, const std::string& ahead,
                      const std::string& beside) {
  return simulate(read(text, {"simulation.network=" + network, "plan.prefetch=" + ahead,
                              "plan.overlap_gradient_reduce=" + beside}))
      .makespan_ps;
}

/// Rounds a time to milliseconds, since an optimizer that takes no time adds a little.
std::int64_t in_ms(Picoseconds time) { return (time + kMs / 2) / kMs; }

}  // namespace

TEST_CASE("eight matrices under ZeRO-3 wait for the first gather and the last reduction") {
  // A gather or a reduction of 8192 x 8192 weights over 8 ranks at 100 GB/s: 2 * 8192^2 * 7/8 / 100e9
  // = 1.174405 ms. A layer computes 11 ms forward and 22 backward, so one of each is hidden beside it.
  constexpr Picoseconds one = 1'174'405'120;
  const auto exposed = [](const std::vector<std::string>& overrides) {
    const Report report = simulate(read(
        R"({"model": {"kind": "mlp", "layers": 8, "hidden": 8192, "seq_length": 1},
            "cluster": {"gpu": {"peak_tflops": {"bf16": 100}, "memory_gb": 80, "memory_gb_per_s": 1e6},
                        "gpus_per_node": 8, "nodes": 1, "node": {"kind": "nvswitch", "link_gb_per_s": 100}},
            "stack": "ideal", "plan": {"zero_stage": 3, "micro_batch_size": 8192, "global_batch_size": 65536,
                                       "overlap_gradient_reduce": true, "overlap_parameter_gather": true}})",
        overrides));
    const auto all =
        static_cast<double>(report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)]);
    return all / 8 / static_cast<double>(one);  // in gathers
  };
  for (const std::string network : {"simulation.network=alpha-beta", "simulation.network=flow"}) {
    CAPTURE(network);
    CHECK(exposed({network}) == doctest::Approx(2).epsilon(1e-9));
    // Further units ahead hide nothing more.
    CHECK(exposed({network, "plan.prefetch=2"}) == doctest::Approx(2).epsilon(1e-9));
    CHECK(exposed({network, "plan.prefetch=7"}) == doctest::Approx(2).epsilon(1e-9));
    CHECK(exposed({network, "plan.reshard_after_forward=false"}) == doctest::Approx(2).epsilon(1e-9));
    // Compute waits for each of the 8 reductions.
    CHECK(exposed({network, "plan.overlap_gradient_reduce=false"}) == doctest::Approx(9).epsilon(1e-9));
    // And for each gather.
    CHECK(exposed({network, "plan.overlap_gradient_reduce=false", "plan.overlap_parameter_gather=false"}) ==
          doctest::Approx(24).epsilon(1e-9));
  }
  // Each of the 16 gathers alone, seven of them beside a reduction: that takes no time of its own without
  // contention, and as long as the gather where both share the links.
  const std::string alone = "plan.overlap_parameter_gather=false";
  CHECK(exposed({"simulation.network=alpha-beta", alone}) == doctest::Approx(17).epsilon(1e-9));
  CHECK(exposed({"simulation.network=flow", alone}) == doctest::Approx(24).epsilon(1e-9));
}

TEST_CASE("over several micro-batches gathers and reductions that compute hides cost nothing") {
  // Two micro-batches compute 2 * 16 ms; 12 gathers and 6 reductions of 1 ms.
  const std::string text = three_matrices(8, 2, "");
  for (const char* network : {"alpha-beta", "flow"}) {
    CAPTURE(network);
    for (const char* ahead : {"1", "2", "5"})
      CHECK(in_ms(step_time(text, network, ahead, "true")) == 32 + 1 + 1);
    CHECK(in_ms(step_time(text, network, "1", "false")) == 32 + 1 + 6);
    CHECK(in_ms(step_time(text, network, "0", "false")) == 32 + 12 + 6);
  }
  // Five gathers, two of each backward pass and the first one of the second micro-batch, meet a reduction.
  CHECK(in_ms(step_time(text, "alpha-beta", "0", "true")) == 32 + 12 + 1);
  CHECK(in_ms(step_time(text, "flow", "0", "true")) == 32 + 12 + 5 + 1);
}

TEST_CASE("where gathers and reductions take longer than compute, each stream sets its pace") {
  // At 0.2 GB/s one takes 5 ms. Gathers follow each other from 0 on: those of the forward pass end at 5, 10,
  // 15, of the backward pass at 20, 25, 30. The third matrix runs backward from 20 to 24, so the reductions
  // end at 29, 34, 39; on one stream behind each other it would be 55.
  const std::string text = three_matrices(1.6, 1, "");
  CHECK(in_ms(step_time(text, "alpha-beta", "1", "true")) == 39);
  CHECK(in_ms(step_time(text, "alpha-beta", "2", "true")) == 39);
  // Where they share the links these are never idle: nine of 5 ms.
  CHECK(in_ms(step_time(text, "flow", "1", "true")) == 45);
}

TEST_CASE("sums over the copies of what is sharded keep neither gathers nor sums in the shards waiting") {
  // Two nodes of two GPUs, a copy in each: gathers and reductions go at 1 GB/s in 1 ms, and the 1 MB of a
  // shard over the two copies, there and back, in 1 MB / W.
  const auto step = [](double gbps, const std::string& network) {
    const std::string text = fmt::format(
        R"({{"stack": "ideal", "model": {{"kind": "mlp", "widths": [1000, 1000, 1000, 1000], "seq_length": 1000}},
            "cluster": {{"gpu": {{"peak_tflops": {{"bf16": 1}}, "memory_gb": 1, "memory_gb_per_s": 1e6}},
                         "nodes": 2, "gpus_per_node": 2, "node": {{"kind": "nvswitch", "link_gb_per_s": 1}},
                         "fabric": {{"kind": "switch", "nics_per_node": 2, "nic_gbps": {}}}}},
            "plan": {{"data_parallel": 4, "global_batch_size": 4, "zero_stage": 3, "zero_group_size": 2,
                      "collectives": {{"all-reduce": "ring"}}}}}})",
        gbps);
    return in_ms(step_time(text, network, "1", "true"));
  };
  for (const char* network : {"alpha-beta", "flow"}) {
    // W = 0.5 GB/s, 2 ms: beside the next matrix. The first gather, 16 ms, the last two sums.
    CHECK(step(4, network) == 1 + 16 + 1 + 2);
    // W = 1/6 GB/s, 6 ms: sums over the copies follow each other from 12 on, when the third matrix's
    // gradients (1 + 6 + 4) are in their shards (1), and nothing else waits for them.
    // Under flow that is a ms later: the reduction shares links with the gather for the first matrix.
    CHECK(step(8.0 / 6, network) == (network == std::string("flow") ? 13 : 12) + 3 * 6);
  }
}

TEST_CASE("units gathered ahead and reductions beside compute never make a step longer") {
  // Where messages disturb neither each other nor kernels, and the host takes no time to issue them, both
  // only take dependencies away.
  int compared = 0;
  for (std::uint64_t seed = 4000; seed < 4000 + test::trials(240); ++seed) {
    RandomExperiment random(seed);
    const std::string text = random.text();
    CAPTURE(seed);
    CAPTURE(text);
    const bool units = text.find("\"zero_stage\": 3") != std::string::npos;
    const auto step = [&](const std::string& beside, const std::string& ahead) -> std::optional<Picoseconds> {
      std::vector<std::string> overrides{"stack=ideal", "software.communication_interference=0",
                                         "simulation.network=alpha-beta",
                                         "plan.overlap_gradient_reduce=" + beside};
      if (units) overrides.push_back("plan.prefetch=" + ahead);
      try {
        return simulate(read(text, overrides)).makespan_ps;
      } catch (const InputError&) {
        return std::nullopt;
      }
    };
    const auto none = step("false", "0");
    if (!none) continue;
    ++compared;
    const auto reduced = step("true", "0");
    CHECK(*reduced <= *none);
    if (!units) continue;
    const auto one = step("true", "1");
    CHECK(*one <= *reduced);
    CHECK(*step("true", "3") <= *one);
    CHECK(*step("false", "1") <= *none);
    CHECK(*one <= *step("false", "1"));
  }
  CHECK(compared > 0);
}
