// Sensitivity of step times: closed forms, the sum over all keys, and against differences of simulations.
#include "studies/sensitivity/what_if.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/catalog/price_keys.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::example;
using orrery::test::read;

namespace {

/// Two replicas of two matrices of 1000 x 1000, 50 tokens, on GPUs of 1 TFLOP/s with memory of 4 TB/s. A
/// forward product takes 2 * 50 * 10^6 FLOPs, 100 us; backward 200 us for the second matrix, 100 us for the
/// first, whose input needs no gradient. Gradients of a matrix, 4 MB, are a bucket; its ring all-reduce takes
/// R = 2 (10 us + 2 MB / nic). The optimizer moves 28 bytes for each of 2 * 10^6 parameters, 14 us.
Experiment two_matrices(double nic_gbps) {
  return read(fmt::format(
      R"({{"model": {{"kind": "mlp", "widths": [1000, 1000, 1000], "seq_length": 50}},
          "cluster": {{"nodes": 2, "gpus_per_node": 1,
                       "gpu": {{"peak_tflops": {{"fp32": 1}}, "memory_gb": 1, "memory_gb_per_s": 4000}},
                       "fabric": {{"kind": "switch", "nic_gbps": {}, "latency_us": 10}}}},
          "plan": {{"data_parallel": 2, "precision": "fp32", "bucket_mb": 4, "overlap_gradient_reduce": true,
                    "collectives": {{"all-reduce": "ring"}}}},
          "stack": "ideal", "simulation": {{"network": "alpha-beta"}}}})",
      nic_gbps));
}

struct Expected {
  std::string key;
  double share_us = 0;
  double step_us = 0;  ///< with twice the rate or half the time
  std::optional<double> holds_until;
};

void check(const Experiment& experiment, double step_us, const std::vector<Expected>& expected) {
  const std::vector<WhatIf> found = what_if(experiment, {}).list;
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(found[i].key);
    CHECK(found[i].key == expected[i].key);
    CHECK(found[i].share == doctest::Approx(expected[i].share_us / step_us).epsilon(1e-6));
    CHECK(static_cast<double>(found[i].better_makespan_ps) ==
          doctest::Approx(1e6 * expected[i].step_us).epsilon(1e-9));
    REQUIRE(found[i].holds_until.has_value() == expected[i].holds_until.has_value());
    if (found[i].holds_until)
      CHECK(*found[i].holds_until == doctest::Approx(*expected[i].holds_until).epsilon(1e-6));
  }
}

/// (T(1 + h) - T(1)) / h over T(1) for a slowness 1 + h; h < 0: on the faster side.
double difference(const Experiment& experiment, const PriceKey& key, double h) {
  const auto time = [&](double slowness) {
    Experiment changed = experiment;
    double& value = key.in(changed);
    value = key.is_rate ? value / slowness : value * slowness;
    return static_cast<double>(simulate(changed).makespan_ps);
  };
  return (time(1 + h) - time(1)) / h / time(1);
}

bool is_exact(const WhatIfs& answers) { return answers.claim.find("wait for links") == std::string::npos; }

}  // namespace

TEST_CASE("what the reductions and the passes owe to links and GPUs") {
  SUBCASE("reductions bind: their stream is on the path") {
    // 80 Gb/s: R = 2 (10 us + 200 us) = 420 us. Both reductions follow the backward pass of the second
    // matrix: 200 + 200 + 420 + 420 + 14 = 1254 us, of which 400 go with the peak, 800 with the NICs, 40 with
    // the latency, 14 with the memory. Twice the NICs: R = 220, and half the latency: R = 410. The NICs stay
    // on the path until R is the 100 us of the last backward pass: 20 us + 4 MB / nic = 100 us at 400 Gb/s.
    check(two_matrices(80), 1254,
          {{"cluster.fabric.nic_gbps", 800, 854, 400},
           {"cluster.gpu.peak_tflops.fp32", 400, 1054, {}},
           {"cluster.fabric.latency_us", 40, 1234, {}},
           {"cluster.gpu.memory_gb_per_s", 14, 1247, {}}});
  }
  SUBCASE("passes bind: only the last reduction is on the path") {
    // 800 Gb/s: R = 2 (10 us + 20 us) = 60 us. 200 + 200 + 100 + 60 + 14 = 574 us. At twice the peak the last
    // backward pass takes 50 us, less than R, which is the longer way: 100 + 100 + 60 + 60 + 14 = 334 us. It
    // is from 100 us / 60 us on.
    check(two_matrices(800), 574,
          {{"cluster.gpu.peak_tflops.fp32", 500, 334, 1.0 / 0.6},
           {"cluster.fabric.nic_gbps", 40, 554, {}},
           {"cluster.fabric.latency_us", 20, 564, {}},
           {"cluster.gpu.memory_gb_per_s", 14, 567, {}}});
  }
}

TEST_CASE("without contention the shares of all rates and times add up to one") {
  // Where all times were twice as long and all rates half as high, everything would take twice as long: step
  // times are homogeneous, and Euler's theorem says that their logarithmic derivatives add up to 1.
  for (const char* name : {"megatron-145b.json", "gpt3-175b.json", "llama-13b-fsdp.json", "llama-65b.json",
                           "pipeline-1f1b.json", "torus.json"}) {
    CAPTURE(name);
    // At a given clock: within a given power, a GPU of twice the peak is not twice as fast.
    const WhatIfs answers =
        what_if(example(name, {"simulation.network=alpha-beta", "cluster.gpu.sustained_clock=0.8"}), {});
    CHECK(is_exact(answers));
    double sum = 0;
    for (const WhatIf& one : answers.list) sum += one.share;
    CHECK(sum == doctest::Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("shares lie between the differences to both sides, and are these where the path holds") {
  // T is the longest of all paths, each of them a sum that grows with the slowness of a parameter, so the
  // slope of the path lies between the slopes of the chords.
  constexpr double kApart = 1.0 / 64;
  int keys = 0;
  int straight = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string text = test::RandomExperiment(seed).text_with_software();
    const Experiment experiment =
        read(text, {"simulation.network=alpha-beta", "cluster.gpu.sustained_clock=0.8"});
    CAPTURE(seed);
    CAPTURE(text);
    for (const WhatIf& one : what_if(experiment, {}).list) {
      CAPTURE(one.key);
      const PriceKey key = price_keys_named(experiment, {one.key}).front();
      const double faster = difference(experiment, key, -kApart);
      const double slower = difference(experiment, key, kApart);
      // Prices are whole picoseconds: half of one is 1e-4 of the change by a gap of 1.5 us here.
      const double rounding = 1e-4 * one.share + 1e-6;
      CHECK(one.share >= faster - rounding);
      CHECK(one.share <= slower + rounding);
      CHECK(one.path_makespan_ps <= one.better_makespan_ps + 100'000);
      ++keys;
      if (slower - faster < 1e-5) ++straight;
    }
  }
  CHECK(keys > 100);
  CHECK(straight > keys * 8 / 10);
}

TEST_CASE("under flow shares are near the differences" * doctest::skip(test::kSanitized)) {
  for (const char* name : {"llama-65b.json", "llama-7b.yaml"}) {
    CAPTURE(name);
    const Experiment experiment = example(name);
    for (const WhatIf& one : what_if(experiment, {}).list) {
      CAPTURE(one.key);
      const PriceKey key = price_keys_named(experiment, {one.key}).front();
      const double mean =
          (difference(experiment, key, -1.0 / 64) + difference(experiment, key, 1.0 / 64)) / 2;
      CHECK(std::abs(one.share - mean) < 0.002);
    }
  }
}

TEST_CASE("beyond its end another path is longer, before it none") {
  for (const char* name : {"megatron-145b.json", "llama-65b.json"}) {
    CAPTURE(name);
    // The link of a GPU to its NICs would limit the gain from faster NICs before the path does.
    const Experiment experiment =
        example(name, {"simulation.network=alpha-beta", "cluster.gpu.nic_link_gb_per_s=1000"});
    const WhatIf nics = what_if(experiment, {"cluster.fabric.nic_gbps"}).list.front();
    REQUIRE(nics.holds_until.has_value());
    const PriceKey key = price_keys_named(experiment, {nics.key}).front();
    const double end = nics.value / *nics.holds_until;
    // Up to its end the path is straight, but for what small messages add, which has a bound: chords to
    // points before it have its slope, and a chord to a point behind it is less steep.
    const double before = difference(experiment, key, (end - 1) * 0.99);
    CHECK(before == doctest::Approx(nics.share).epsilon(5e-3));
    CHECK(difference(experiment, key, (end - 1) * 1.2) < before * (1 - 1e-3));
  }
}

TEST_CASE("keys are asked for by name") {
  const Experiment experiment = example("llama-13b-fsdp.json");
  // A named parameter that the path does not depend on has a share of 0.
  const std::vector<WhatIf> named =
      what_if(experiment, {"cluster.gpu.peak_tflops.fp32", "cluster.fabric.nic_gbps"}).list;
  REQUIRE(named.size() == 2);
  CHECK(named[0].key == "cluster.fabric.nic_gbps");
  CHECK(named[1].share == 0);
  CHECK(named[1].better_makespan_ps == named[1].path_makespan_ps);
}

TEST_CASE("groups, links of graphs and lines between sites have numbers") {
  const auto has = [](const Experiment& experiment, const char* name) {
    const std::vector<PriceKey> keys = price_keys(experiment);
    return std::ranges::find(keys, name, &PriceKey::key) != keys.end();
  };
  const Experiment mixed = read(R"({"model": "gpt3-125m", "plan": {"data_parallel": 16},
      "cluster": {"base": "dgx-h100", "groups": [{"nodes": 1, "gpu": "h100"}, {"nodes": 1, "gpu": "a100-80gb"}]}})");
  CHECK(has(mixed, "cluster.groups.1.gpu.memory_gb_per_s"));
  CHECK_FALSE(has(mixed, "cluster.gpu.memory_gb_per_s"));
  CHECK(has(example("explicit-graph.json"), "cluster.graph.links.0.gb_per_s"));
  CHECK(has(example("intellect-1.yaml"), "cluster.regions.links.0.up_gbps"));
  CHECK(has(example("intellect-1.yaml"), "cluster.regions.links.0.latency_ms"));
}

TEST_CASE("what has no derivative is refused in a line") {
  const Experiment experiment = example("llama-13b-fsdp.json");
  const auto said = [&](const char* name) {
    try {
      (void)what_if(experiment, {name});
    } catch (const InputError& error) {
      return error.diagnostics().front().message;
    }
    return std::string();
  };
  CHECK(said("cluster.fabric.nic_gbp").ends_with("did you mean \"cluster.fabric.nic_gbps\"?"));
  CHECK(said("plan.tensor_parallel").find("by which a step time has no derivative") != std::string::npos);
  CHECK_THROWS_AS(static_cast<void>(what_if(example("asynchronous.json"), {})), InputError);
}
