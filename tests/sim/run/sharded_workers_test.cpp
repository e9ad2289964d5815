// ZeRO inside the workers of methods that let workers differ: the replicas of a node share out one model, and
// each exchanges its shard with the replica in the same place of other nodes. Nodes of 2 GPUs with a NIC
// each, of B = 1.008 GB/s a direction; the model has S = 4,032,000 bytes in fp32, a shard S / 2 takes 2 ms on
// a NIC and 0.5 us in memory; a message takes L = 100 us.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;

namespace {

constexpr Picoseconds kShardOnWire = 2'000'000'000;
constexpr Picoseconds kShardInMemory = 500'000;
constexpr Picoseconds kWire = 100'000'000;
constexpr std::int64_t kShardedValues = 1'008'000;

std::string two_gpu_nodes(int nodes, int zero_stage, const std::string& sync) {
  return fmt::format(
      R"({{"model": {{"kind": "mlp", "widths": [1008, 1000], "seq_length": 1}},
          "cluster": {{"nodes": {}, "gpus_per_node": 2, "node": {{"kind": "nvswitch", "link_gb_per_s": 100}},
                       "gpu": {{"peak_tflops": {{"fp32": 1}}, "memory_gb": 1, "memory_gb_per_s": 4032}},
                       "fabric": {{"kind": "switch", "nics_per_node": 2, "nic_gbps": 8.064, "latency_us": 100}}}},
          "plan": {{"precision": "fp32", "bucket_mb": 0, "zero_stage": {},
                    "collectives": {{"all-reduce": "ring", "all-gather": "ring", "reduce-scatter": "ring"}}}},
          "stack": "ideal", "data_parallel_sync": {{{}}}}})",
      nodes, zero_stage, sync);
}

/// Returns the time of all steps beyond those of one node whose GPUs shard the same.
Picoseconds beyond_a_node(int zero_stage, const std::string& sync) {
  const Report many = run(read(two_gpu_nodes(4, zero_stage, R"("level": "node", )" + sync))).report;
  const Report one = run(read(two_gpu_nodes(1, zero_stage, R"("method": "all-reduce")"))).report;
  return many.makespan_ps - many.steps * one.makespan_ps;
}

}  // namespace

TEST_CASE("shards of workers travel side by side, without a broadcast") {
  for (const int stage : {1, 2, 3}) {
    CAPTURE(stage);
    // Own shard and the neighbour's are read, the sum is written.
    CHECK(beyond_a_node(stage, R"("method": "gossip", "topology": "one-way-ring")") ==
          kWire + kShardOnWire + 3 * kShardInMemory);
    CHECK(beyond_a_node(stage, R"("method": "gossip", "topology": "ring")") ==
          kWire + 2 * kShardOnWire + 4 * kShardInMemory);
    // A ring of the 4 that hold the same shard: 6 rounds of a quarter of it; the mean is copied.
    const Picoseconds ring = 6 * (kWire + kShardOnWire / 4);
    CHECK(beyond_a_node(stage, R"("method": "local-sgd", "period": 3)") == ring + 2 * kShardInMemory);
    CHECK(beyond_a_node(stage, R"("method": "diloco", "period": 5)") == ring + 9 * kShardInMemory);
    CHECK(beyond_a_node(stage, R"("method": "noloco", "period": 5, "topology": "one-way-ring")") ==
          kWire + 2 * kShardOnWire + (3 + 8) * kShardInMemory);
  }
}

TEST_CASE("compressed shards of workers are those of their halves") {
  const auto sent = [](const std::string& sync) {
    const Report many = run(read(two_gpu_nodes(4, 1, R"("level": "node", )" + sync))).report;
    const Report one = run(read(two_gpu_nodes(1, 1, R"("method": "all-reduce")"))).report;
    return many.bytes_per_gpu[static_cast<std::size_t>(Dimension::data)] -
           one.bytes_per_gpu[static_cast<std::size_t>(Dimension::data)];
  };
  CHECK(sent(R"("method": "gossip", "topology": "one-way-ring", "compression": "quantize")") ==
        kShardedValues);
  // From each of 3 others come 3938 frequencies of 504,000 values, with 32 + 12 bits each.
  CHECK(sent(R"("method": "demo")") == 3 * 21'659);
}

TEST_CASE("all that a worker keeps is shared out among its replicas") {
  const auto memory = [](int stage, const std::string& sync) {
    return run(read(two_gpu_nodes(4, stage, R"("level": "node", )" + sync))).report.stage_memory[0];
  };
  const std::string gossip = R"("method": "gossip", "topology": "ring")";
  const StageMemory whole = memory(0, gossip);
  const StageMemory states = memory(1, gossip);
  const StageMemory all = memory(3, gossip);
  CHECK(states.parameters == whole.parameters);
  CHECK(states.optimizer() == whole.optimizer() / 2);
  CHECK(states.workspace.neighbours == whole.workspace.neighbours / 2);
  CHECK(all.parameters == whole.parameters / 2);
  CHECK(all.gradients == whole.gradients / 2);
  // The outer optimizer's two vectors too.
  CHECK(memory(1, R"("method": "diloco")").optimizer() == states.optimizer() + 8 * kShardedValues / 2);
}

TEST_CASE("sharded workers fold") {
  for (const std::string method :
       {"gossip", "gossip-pga", "diloco", "noloco", "gradient-tracking", "demo", "sparse-loco"}) {
    for (const int stage : {1, 2, 3}) {
      CAPTURE(method);
      CAPTURE(stage);
      const std::string text = fmt::format(
          R"({{"model": {{"kind": "transformer", "layers": 4, "hidden": 256, "heads": 4, "vocab": 512, "seq_length": 64}},
              "cluster": {{"base": "dgx-1", "gpus_per_node": 8, "nodes": 4,
                           "node": {{"kind": "ring", "link_gb_per_s": 25, "latency_us": 2}},
                           "fabric": {{"kind": "fat-tree", "shape": [2, 2], "nics_per_node": 4, "nic_gbps": 25}}}},
              "plan": {{"tensor_parallel": 2, "global_batch_size": 32, "zero_stage": {}, "precision": "fp16"}},
              "data_parallel_sync": {{"method": "{}", "level": "node", "topology": "ring", "period": 2}}}})",
          stage, method);
      Experiment e = read(text);
      const Report folded = run(e).report;
      e.simulation.folding = Folding::off;
      check_same_times(folded, run(e).report);
    }
  }
}
