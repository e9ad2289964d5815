// Clusters whose nodes have different GPUs.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::RandomExperiment;
using orrery::test::read;

namespace {

/// Two nodes of two GPUs each.
std::string on(const std::string& groups, const std::string& plan = "{}") {
  return R"({"model": "gpt3-125m", "stack": "ideal", "plan": )" + plan +
         R"(, "simulation": {"network": "alpha-beta"}, "cluster": {"gpus_per_node": 2,
            "node": {"kind": "nvswitch", "link_gb_per_s": 100}, "fabric": {"nic_gbps": 100}, "groups": )" +
         groups + "}}";
}

constexpr const char* kSlow = R"([{"nodes": 2, "gpu": "a100-80gb"}])";
constexpr const char* kFast = R"([{"nodes": 2, "gpu": "h100"}])";
constexpr const char* kMixed = R"([{"nodes": 1, "gpu": "a100-80gb"}, {"nodes": 1, "gpu": "h100"}])";

Report report_of(const std::string& text) { return run(read(text)).report; }

/// A random experiment whose nodes, where there are several, are A100s and H100s in some order.
std::optional<Experiment> random_mixture(std::uint64_t seed) {
  std::optional<Experiment> e;
  try {
    e = read(RandomExperiment(seed).text_with_software());
  } catch (const InputError&) {
    return std::nullopt;
  }
  std::mt19937_64 random(seed);
  Cluster& cluster = e->cluster;
  cluster.other_gpus = {read(R"({"model": "gpt3-125m", "cluster": {"gpu": "h100"}})").cluster.gpu};
  for (std::int64_t node = 0; node < cluster.nodes; ++node) cluster.groups.push_back({1, random() % 2});
  return e;
}

}  // namespace

TEST_CASE("groups of equal GPUs are a cluster of one class") {
  const Report apart = report_of(on(R"([{"nodes": 1, "gpu": "h100"}, {"nodes": 1, "gpu": "h100"}])"));
  CHECK(apart.makespan_ps == report_of(on(kFast)).makespan_ps);
  CHECK(apart.stats.ranks == report_of(on(kFast)).stats.ranks);
}

TEST_CASE("replicas wait for those on the slower GPUs") {
  const Report mixed = report_of(on(kMixed));
  const Report slow = report_of(on(kSlow));
  const Report fast = report_of(on(kFast));
  // All meet after the backward pass; the slower ones come last there and after the optimizer step too.
  CHECK(mixed.makespan_ps == slow.makespan_ps);
  CHECK(fast.makespan_ps < slow.makespan_ps);
  // Each half of the GPUs computes as long as on its own.
  const auto busy = [](const Report& r) {
    return r.breakdown.compute_ps + r.breakdown.optimizer_ps + r.breakdown.host_ps;
  };
  CHECK(2 * busy(mixed) == busy(slow) + busy(fast));
  CHECK(mixed.stats.ranks >= 2);
  CHECK(mixed.peak_tflops_per_gpu ==
        doctest::Approx((slow.peak_tflops_per_gpu + fast.peak_tflops_per_gpu) / 2));
}

TEST_CASE("stages take the time of the GPUs they are on") {
  const std::string plan = R"({"pipeline_parallel": 2, "tensor_parallel": 2, "stage_layers": [6, 6]})";
  const Picoseconds slow = report_of(on(kSlow, plan)).makespan_ps;
  const Picoseconds mixed = report_of(on(kMixed, plan)).makespan_ps;
  const Picoseconds fast = report_of(on(kFast, plan)).makespan_ps;
  CHECK(fast < mixed);
  CHECK(mixed < slow);
}

TEST_CASE("ranks of unlike GPUs never fold together, and folding changes nothing") {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 8000; seed < 8000 + test::trials(120); ++seed) {
    CAPTURE(seed);
    std::optional<Experiment> e = random_mixture(seed);
    if (!e) continue;
    std::optional<Run> folded;
    try {
      folded = run(*e);
    } catch (const InputError&) {
      continue;
    }
    e->simulation.folding = Folding::off;
    const Run whole = run(*e);
    CHECK(folded->report.makespan_ps == whole.report.makespan_ps);
    CHECK(folded->report.breakdown.compute_ps == whole.report.breakdown.compute_ps);
    CHECK(folded->report.breakdown.bubble_ps == whole.report.breakdown.bubble_ps);
    ++compared;
  }
  CHECK(compared > test::trials(60));
}

TEST_CASE("a stage must fit into the smallest GPU that it is on") {
  const auto with = [](const std::string& groups) {
    return report_of(
        R"({"model": "gpt3-6.7b", "stack": "ideal", "plan": {"pipeline_parallel": 2, "tensor_parallel": 2},
      "cluster": {"gpus_per_node": 2, "node": {"kind": "nvswitch", "link_gb_per_s": 100}, "fabric": {"nic_gbps": 100},
                  "groups": )" +
        groups + "}}");
  };
  const std::string large = R"({"nodes": 1, "gpu": "a100-80gb"})";
  const std::string small = R"({"nodes": 1, "gpu": {"base": "a100-80gb", "name": "small", "memory_gb": 20}})";
  CHECK(with("[" + large + "," + large + "]").feasible);
  const Report second = with("[" + large + "," + small + "]");
  CHECK_FALSE(second.feasible);
  CHECK(second.gpu_memory == 20'000'000'000);
  REQUIRE(second.reasons.size() == 1);
  CHECK(second.reasons.front().starts_with("out of memory: stage 1 needs "));
  CHECK(second.reasons.front().ends_with(" per GPU, small has 20.0 GB for it"));
  CHECK(with("[" + small + "," + large + "]").reasons.front().starts_with("out of memory: stage 0 needs "));
}

TEST_CASE("power and rent are summed over groups, and unknown where one of them is") {
  // 2 GPUs of 400 W and 2 of 700 W.
  CHECK(report_of(on(kMixed)).power_w == 2 * 400 + 2 * 700);
  CHECK(report_of(on(kSlow)).power_w == 4 * 400);
  CHECK(report_of(on(kMixed)).usd_per_hour == 0);
  constexpr const char* kRented = R"([{"nodes": 1, "gpu": {"base": "a100-80gb", "usd_per_hour": 2}},
                                      {"nodes": 1, "gpu": {"base": "h100", "usd_per_hour": 3}}])";
  CHECK(report_of(on(kRented)).usd_per_hour == 2 * 2 + 2 * 3);
  constexpr const char* kHalfKnown = R"([{"nodes": 1, "gpu": {"base": "a100-80gb", "power_w": 0}},
                                         {"nodes": 1, "gpu": "h100"}])";
  CHECK(report_of(on(kHalfKnown)).power_w == 0);
}
