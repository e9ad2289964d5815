// Checks workers at several sites: the time of an average over a slow line, the choice of workers, the routes
// of gossip. A model of 1008 x 1000 values, S = 4,032,000 bytes; NICs of 1.008 GB/s without latency; lines of
// a tenth of that, 20 ms.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::example;
using orrery::test::read;

namespace {

constexpr Picoseconds kMilli = 1'000'000'000;
constexpr Picoseconds kMicro = 1'000'000;

std::string at_sites(const std::string& sites, const std::string& sync, const std::string& more = "") {
  return fmt::format(
      R"({{"model": {{"kind": "mlp", "widths": [1008, 1000], "seq_length": 1}},
          "cluster": {{"gpu": {{"peak_tflops": {{"fp32": 1}}, "memory_gb": 1, "memory_gb_per_s": 4032}},
                       "fabric": {{"kind": "switch", "nic_gbps": 8.064}},
                       "regions": {{"sites": [{}], "links": [
                           {{"from": "east", "to": "west", "up_gbps": 0.8064, "latency_ms": 20}}]}}}},
          "plan": {{"precision": "fp32", "bucket_mb": 0, "collectives": {{"all-reduce": "ring"}}}}, "stack": "ideal",
          "data_parallel_sync": {{{}}}{}}})",
      sites, sync, more);
}

constexpr const char* kOneEach = R"({"name": "east"}, {"name": "west"})";
constexpr const char* kTwoEach = R"({"name": "east", "nodes": 2}, {"name": "west", "nodes": 2})";

Picoseconds added_at(const std::string& sites, const std::string& sync) {
  return run(read(at_sites(sites, sync))).report.makespan_ps -
         run(read(at_sites(sites, R"("method": "none")"))).report.makespan_ps;
}

}  // namespace

TEST_CASE("an average between two sites is two crossings of the line with half of the model") {
  // S / 2 at 0.1008 GB/s is 20 ms; the mean is copied out of its bucket, 2 S at 4.032 TB/s.
  CHECK(added_at(kOneEach, R"("method": "local-sgd", "period": 1)") ==
        2 * (20 * kMilli + 20 * kMilli) + 2 * kMicro);
}

TEST_CASE("a ring over sites crosses each line once in either direction") {
  // 4 workers: 6 rounds of S / 4, 10 ms each on the line; a part goes over a line in every second of them.
  CHECK(added_at(kTwoEach, R"("method": "local-sgd", "period": 1)") ==
        6 * 10 * kMilli + 3 * 20 * kMilli + 2 * kMicro);
}

TEST_CASE("a site is a worker: its replicas reduce, one crosses the line, and all get it") {
  const std::string by_site = R"("method": "local-sgd", "period": 1, "level": "site")";
  const Run r = run(read(at_sites(kTwoEach, by_site)));
  CHECK(r.report.workers == 2);
  // Every step an all-reduce of two gradients at 1.008 GB/s, 2 x 2 ms; the crossing; the broadcast, 4 ms.
  CHECK(added_at(kTwoEach, by_site) ==
        2 * 2 * kMilli + 2 * (20 * kMilli + 20 * kMilli) + 2 * kMicro + 4 * kMilli);
}

TEST_CASE("sites fold as they are simulated one by one") {
  for (const char* sync : {R"("method": "diloco", "period": 4, "level": "site")",
                           R"("method": "gossip", "topology": "ring")", R"("method": "all-reduce")"}) {
    CAPTURE(sync);
    const Experiment folded = read(at_sites(kTwoEach, sync));
    Experiment whole = folded;
    whole.simulation.folding = Folding::off;
    check_same_times(run(folded).report, run(whole).report);
  }
}

TEST_CASE("near gossip stays within sites as far as it can") {
  // A ring whose neighbours are at different sites: 8 models cross in either direction, 40 ms each; 2 where
  // the ring goes through one site and then through the other.
  const std::string sites = R"({"name": "east", "nodes": 4}, {"name": "west", "nodes": 4})";
  const std::string ring =
      R"("method": "gossip", "topology": [[4, 7], [4, 5], [5, 6], [6, 7], [0, 1], [1, 2], [2, 3], [3, 0]])";
  CHECK(added_at(sites, ring) == 20 * kMilli + 8 * 40 * kMilli + 4 * kMicro);
  CHECK(added_at(sites, ring + R"(, "placement": "near")") == 20 * kMilli + 2 * 40 * kMilli + 4 * kMicro);
}

TEST_CASE("what is no site is refused") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      (void)run(read(text));
    } catch (const InputError& error) {
      return error.diagnostics().front().pointer + ": " + error.diagnostics().front().message;
    }
    return "";
  };
  const std::string by_site = R"("method": "diloco", "level": "site")";
  CHECK(message(at_sites(R"({"name": "east", "nodes": 2}, {"name": "west", "nodes": 1})", by_site)) ==
        "/data_parallel_sync/level: found \"site\", allowed only where each site holds equally many of the 3 "
        "replicas, side by side");
  CHECK(message(R"({"model": "resnet-50", "cluster": {"base": "v100-tcp-25g", "nodes": 2}, "plan": {},
                    "data_parallel_sync": {"method": "diloco", "level": "site"}})") ==
        "/data_parallel_sync/level: found \"site\", allowed only with cluster.regions");
}

TEST_CASE("the time of communication is counted in the steps that have it") {
  const auto read_at = [](const char* gbps) {
    return example("growth.json", {"cluster.nodes=2", "data_parallel_sync={method: local-sgd, period: 1000}",
                                   std::string("cluster.fabric={kind: switch, nic_gbps: ") + gbps + "}"});
  };
  // One average of 25,557,032 values of 32 bits in 1,000 steps, there and back: 1,635,650,048 bits.
  CHECK_NOTHROW((void)read_at("0.1"));
  CHECK_NOTHROW((void)read_at("1.7e-6"));
  CHECK_THROWS_AS((void)read_at("1.6e-6"), InputError);
}

TEST_CASE("INTELLECT-1: the share of computing and the MFU of its report") {
  // arXiv 2412.01152: 83 % around the world and 96 % within the USA, MFU 36.2 to 41.4 %.
  const std::string usa =
      "cluster.regions.sites=[{name: asia, nodes: 0}, {name: us-west, nodes: 5}, {name: us-central, nodes: "
      "5}, "
      "{name: us-east, nodes: 4}, {name: europe, nodes: 0}]";
  const Report alone =
      simulate(example("intellect-1.yaml", {"data_parallel_sync.period=10000", "simulation.steps=1"}));
  const Report world = simulate(example("intellect-1.yaml"));
  const Report country = simulate(example("intellect-1.yaml", {usa}));
  CHECK(std::abs(alone.step_time_s() / world.step_time_s() - 0.83) < 0.015);
  CHECK(std::abs(alone.step_time_s() / country.step_time_s() - 0.96) < 0.01);
  CHECK(std::abs(world.mfu() / 0.362 - 1) < 0.05);
  CHECK(std::abs(country.mfu() / 0.414 - 1) < 0.05);
}

TEST_CASE("NoLoCo: a meeting of two is about ten times faster than a tree over 1,000 replicas") {
  // 1,024 workers with 50 ms and 1 Gb/s between any two; a model of a million values, 4 MB.
  const auto added = [](const std::string& method) {
    const auto text = [](const std::string& sync) {
      return fmt::format(
          R"({{"model": {{"kind": "mlp", "widths": [1000, 1000], "seq_length": 1}},
              "cluster": {{"gpu": "h100", "nodes": 1024, "fabric": {{"kind": "switch", "nic_gbps": 1, "latency_us": 50000}}}},
              "stack": "ideal", "simulation": {{"steps": 1}},
              "plan": {{"micro_batch_size": 1, "bucket_mb": 0, "collectives": {{"all-reduce": "tree"}}}},
              "data_parallel_sync": {{"method": "{}", "period": 1}}}})",
          sync);
    };
    return to_seconds(simulate(read(text(method))).makespan_ps);
  };
  const double ratio = added("diloco") / added("noloco");
  CHECK(ratio > 7);
  CHECK(ratio < 20);
}
