// Runs whose workers keep no step with each other, from experiment to report. A worker is a GPU of its own
// node, B = 1.008 GB/s, L = 0.1 ms; its model of 4,032,000 bytes takes X = 4.1 ms one way, memory moves it in
// 1 us.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/run/asynchronous_run.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/report_text.hpp"

using namespace orrery;
using orrery::test::example;
using orrery::test::read;
using orrery::test::text_of;

namespace {

constexpr Picoseconds kMicro = 1'000'000;
constexpr Picoseconds kOneWay = 4100 * kMicro;

std::string workers_of_one_gpu(int workers, const std::string& sync, const std::string& more = "") {
  return fmt::format(
      R"({{"model": {{"kind": "mlp", "widths": [1008, 1000], "seq_length": 8192}},
          "cluster": {{"nodes": {}, "gpu": {{"peak_tflops": {{"fp32": 1}}, "memory_gb": 4, "memory_gb_per_s": 4032}},
                       "fabric": {{"kind": "switch", "nic_gbps": 8.064, "latency_us": 100}}}},
          "plan": {{"precision": "fp32", "bucket_mb": 0}}, "stack": "ideal",
          "data_parallel_sync": {{{}}}{}}})",
      workers, sync, more);
}

Report report_of(int workers, const std::string& sync, const std::vector<std::string>& set) {
  return simulate(read(workers_of_one_gpu(workers, sync), set));
}

Int128 sum_of_breakdown(const Report& report) {
  const Breakdown& b = report.breakdown;
  Int128 sum = b.compute_ps + b.optimizer_ps + b.bubble_ps + b.host_ps;
  for (const Int128 exposed : b.exposed_ps) sum += exposed;
  return sum;
}

const std::vector<std::string> kSyncs{
    R"("method": "ad-psgd", "topology": "ring", "overlap": "none")",
    R"("method": "ad-psgd", "topology": "random-matching", "overlap": "combine-while-computing")",
    R"("method": "easgd", "period": 2)",
    R"("method": "async-diloco", "period": 3, "servers": 2)",
};

}  // namespace

TEST_CASE("two workers of AD-PSGD meet after each step: one way, and three passes of memory over the model") {
  const Picoseconds alone = report_of(2, R"("method": "none")", {}).makespan_ps;
  const Report report = report_of(2, R"("method": "ad-psgd", "overlap": "none")", {"simulation.steps=5"});
  const Picoseconds meeting = kOneWay + 3 * kMicro;
  CHECK(report.makespan_ps == 5 * (alone + meeting) + meeting);
  // Ten meetings of two models, shared by two GPUs and five steps.
  CHECK(report.bytes_per_gpu[static_cast<std::size_t>(Dimension::data)] ==
        doctest::Approx(10 * 4032000.0 / 5));
  REQUIRE(report.asynchrony);
  CHECK(report.asynchrony->meetings == 10);
}

TEST_CASE("the centre: there, its update, back, and the model taken in") {
  // Servers 2: half of the model each way takes 2.1 ms and the other half stays; both workers come at once,
  // so a server takes its own half first (12 bytes a value: 1.5 us), then the other's. Worker and centre read
  // two models and write one (3 us).
  const Picoseconds alone = report_of(2, R"("method": "none")", {}).makespan_ps;
  const Report report =
      report_of(2, R"("method": "easgd", "period": 1, "servers": 2)", {"simulation.steps=3"});
  const Picoseconds meeting = 2 * 2100 * kMicro + 3 * kMicro / 2 + 3 * kMicro;
  CHECK(report.makespan_ps == 3 * (alone + meeting));
}

TEST_CASE("a worker four times slower takes a quarter of all-reduce, and its own share of AD-PSGD") {
  const Picoseconds alone = report_of(4, R"("method": "none")", {}).makespan_ps;
  const std::vector<std::string> slow{"simulation.steps=65", "cluster.overrides=[{gpu: 0, speed: 0.25}]"};
  // 20 + 3 x 80 = 65 x 4 steps in 80 of the others' steps.
  const Report pairs = report_of(
      4, R"("method": "ad-psgd", "topology": "complete", "overlap": "combine-while-computing")", slow);
  CHECK(pairs.makespan_ps == 80 * alone);
  CHECK(pairs.asynchrony->fewest_steps == 20);
  CHECK(pairs.asynchrony->most_steps == 80);
  CHECK(report_of(4, R"("method": "all-reduce")", slow).makespan_ps > 65 * 4 * alone);
}

TEST_CASE("times of all GPUs add up to the run") {
  for (const std::string& sync : kSyncs) {
    for (const char* network : {"flow", "alpha-beta"}) {
      CAPTURE(sync);
      CAPTURE(network);
      const Report report = simulate(read(
          R"({"model": {"kind": "transformer", "layers": 4, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256},
              "cluster": {"base": "dgx-a100-80gb", "gpus_per_node": 4, "nodes": 6, "overrides": [{"gpu": 5, "speed": 0.5}]},
              "plan": {"tensor_parallel": 2, "pipeline_parallel": 2, "global_batch_size": 12},
              "software": {"jitter": 0.1}, "data_parallel_sync": {)" +
          sync + R"(}, "simulation": {"steps": 7, "network": ")" + network + "\"}}"));
      CHECK(sum_of_breakdown(report) == Int128{report.gpus} * report.makespan_ps);
      CHECK(report.gpus == 24);
      CHECK(report.asynchrony->fewest_steps <= 7);
      CHECK(report.asynchrony->most_steps >= 7);
    }
  }
}

TEST_CASE("run, simulate and a simulator that knows other runs tell the same") {
  Simulator simulator;
  for (const std::string& sync : kSyncs) {
    CAPTURE(sync);
    const Experiment experiment =
        read(workers_of_one_gpu(6, sync), {"simulation.steps=9", "software.jitter=0.2"});
    const std::string text = text_of(simulate(experiment));
    CHECK(text_of(simulator.simulate(experiment)) == text);
    CHECK(text_of(run(experiment).report) == text);
    Experiment unfolded = experiment;
    unfolded.simulation.folding = Folding::off;
    CHECK(simulate(unfolded).makespan_ps == simulate(experiment).makespan_ps);
  }
}

TEST_CASE("one worker alone has nobody to meet") {
  for (const std::string& sync : kSyncs) {
    CAPTURE(sync);
    if (sync.find("servers") != std::string::npos) continue;
    const Report report = report_of(1, sync, {});
    CHECK(report.makespan_ps == report_of(1, R"("method": "none")", {}).makespan_ps);
    CHECK_FALSE(report.asynchrony);
  }
}

TEST_CASE("a run too short for an exchange says so") {
  const auto warns = [](const Report& report) {
    return std::ranges::any_of(report.warnings, [](const std::string& one) {
      return one.find("the first exchange with the centre comes after step 8") != std::string::npos;
    });
  };
  CHECK(warns(report_of(2, R"("method": "easgd", "period": 8)", {"simulation.steps=7"})));
  CHECK_FALSE(warns(report_of(2, R"("method": "easgd", "period": 8)", {})));
}

TEST_CASE("there is no timeline of all ranks") {
  CHECK_THROWS_WITH_AS(require_one_timeline(read(workers_of_one_gpu(2, kSyncs[0]))),
                       doctest::Contains("found \"ad-psgd\", whose workers have no timeline in common"),
                       InputError);
  CHECK_NOTHROW(require_one_timeline(read(workers_of_one_gpu(2, R"("method": "gossip")"))));
}

TEST_CASE("too many messages are refused before they are sent") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(report_of(64, R"("method": "async-diloco", "period": 1, "servers": 64)",
                                  {"simulation.steps=10000"})),
      doctest::Contains("allowed 1e+07"), InputError);
}
