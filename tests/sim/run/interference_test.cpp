// Runs in which data-parallel communication slows the compute beside it. The harness: a chain of matrices on
// GPUs of a node each, on a switch of 1 GB/s a direction; a worker has all of the chain.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

/// Three matrices of 1000 x 1000 in fp32, each 4 MB and a bucket of its own: an all-reduce of two workers
/// takes two rounds of 2 MB, 4 ms, and two latencies of 10 us. A product of 1000 samples by a matrix takes
/// 2e9 FLOPs, 2e9 / (gflops * 1e9) seconds.
std::string chain(int gflops, const std::string& more = "") {
  return fmt::format(
      R"({{"model": {{"kind": "mlp", "widths": [1000, 1000, 1000, 1000], "seq_length": 1000}},
          "cluster": {{"nodes": 2, "gpu": {{"peak_tflops": {{"fp32": {}}}, "memory_gb": 1, "memory_gb_per_s": 1e6}},
                       "fabric": {{"kind": "switch", "nic_gbps": 8, "latency_us": 10}}}},
          "plan": {{"precision": "fp32", "bucket_mb": 4, "overlap_gradient_reduce": true,
                    "collectives": {{"all-reduce": "ring"}}}}, "stack": "ideal"{}}})",
      gflops * 1e-3, more);
}

constexpr Picoseconds kMillisecond = 1'000'000'000;
constexpr Picoseconds kReduce = 4 * kMillisecond + 20'000'000;

Report simulated(const std::string& text, const std::string& share) {
  return simulate(read(text, {"software.communication_interference=" + share}));
}

}  // namespace

TEST_CASE("reductions shorter than the backward pass of a block: their share of the time they take") {
  // Products of 20 ms: the gradients of the third and the second matrix are reduced beside the backward pass
  // of the matrix before it.
  for (const char* network : {"alpha-beta", "flow"}) {
    const std::string text = chain(100, fmt::format(R"(, "simulation": {{"network": "{}"}})", network));
    const Report base = simulated(text, "0");
    for (const auto& [share, percent] : {std::pair{"0.1", 10}, std::pair{"0.25", 25}}) {
      const Report slowed = simulated(text, share);
      CHECK(slowed.makespan_ps == base.makespan_ps + 2 * kReduce * percent / 100);
      CHECK(slowed.breakdown.compute_ps == base.breakdown.compute_ps + 2 * 2 * kReduce * percent / 100);
    }
  }
}

TEST_CASE("reductions that last longer than what runs beside them") {
  // Products of 1 ms: a reduction begins after the backward pass of the third matrix (2 ms) and lasts
  // beyond that of the others, of 2 and 1 ms, which take 1 / 0.8 of it; the reductions set the pace.
  const std::string text = chain(2000);
  const Report base = simulated(text, "0");
  const Report slowed = simulated(text, "0.2");
  CHECK(slowed.makespan_ps == base.makespan_ps);
  CHECK(slowed.breakdown.compute_ps == base.breakdown.compute_ps + 2 * 3 * kMillisecond / 4);
}

TEST_CASE("without overlap nothing runs beside reductions") {
  const std::string text = chain(100);
  const auto run_with = [&](const std::string& share) {
    return simulate(
        read(text, {"plan.overlap_gradient_reduce=false", "software.communication_interference=" + share}));
  };
  CHECK(run_with("0.3").makespan_ps == run_with("0").makespan_ps);
}

TEST_CASE("models that travel while a step computes slow it once, however many neighbours there are") {
  const std::string gossip =
      R"(, "data_parallel_sync": {"method": "gossip", "topology": "complete", "overlap": "combine-while-computing"})";
  std::string text = chain(10, gossip);
  text.replace(text.find(R"("overlap_gradient_reduce": true,)"), 32, "");
  const Report base = simulated(text, "0");
  // 12 MB in buckets of 4 and 10 us each, beside products of 200 ms.
  const Picoseconds travel = 3 * (4 * kMillisecond + 10'000'000);
  CHECK(simulated(text, "0.1").makespan_ps == base.makespan_ps + travel / 10);
}

TEST_CASE("a whole pass is slowed as its parts are") {
  const std::string text =
      R"({"model": {"kind": "transformer", "layers": 4, "hidden": 512, "heads": 8, "vocab": 1024,
    "seq_length": 512}, "cluster": {"base": "dgx-a100-80gb", "nodes": 2}, "stack": "ideal",
    "plan": {"tensor_parallel": 2, "global_batch_size": 32},
    "data_parallel_sync": {"method": "gossip", "overlap": "combine-while-computing"},
    "software": {"communication_interference": 0.3}})";
  const auto time = [&](const std::vector<std::string>& more) {
    return static_cast<double>(simulate(read(text, more)).makespan_ps);
  };
  CHECK(time({"simulation.detail=stage"}) == doctest::Approx(time({})).epsilon(0.005));
  CHECK(time({}) > time({"software.communication_interference=0"}));
}

// The gathers of the first stage take somewhat longer than its passes on the slower GPUs, and nothing there
// waits for them but what is sent on. A gradient cannot come back before its activation has gone, so no more
// of them are under way than micro-batches; nothing is beside the update, which takes what it takes without
// traffic.
TEST_CASE("traffic does not fall behind from micro-batch to micro-batch until it slows the update") {
  const auto update = [](const std::string& micro_batches, const char* share) {
    return simulate(read(R"({"model": {"kind": "mlp", "layers": 2, "hidden": 4096,
            "widths": [4096, 4096, 2048], "seq_length": 64}, "stack": "ideal",
        "cluster": {"gpus_per_node": 2, "node": {"kind": "nvswitch", "link_gb_per_s": 5}, "fabric": {"nic_gbps": 20},
                    "groups": [{"nodes": 1, "gpu": "a100-80gb"}, {"nodes": 3, "gpu": "h100"}]},
        "plan": {"tensor_parallel": 2, "pipeline_parallel": 2, "tensor_partition": ["column", "column"],
                 "precision": "fp32", "rank_order": "pp-tp-cp-ep-dp", "global_batch_size": )" +
                         micro_batches + R"(}, "software": {"communication_interference": )" + share + "}}"))
        .breakdown.optimizer_ps;
  };
  const auto alone = update("80", "0");
  for (const char* micro_batches : {"80", "800", "1600", "8000"}) {
    CAPTURE(micro_batches);
    CHECK(update(micro_batches, "0.1") == alone);
  }
}
