// Checks the time and traffic of the methods of data_parallel_sync: closed forms without contention, and the
// laws of every run. A worker is a GPU of its own node on a switch: B = 1.008 GB/s a direction, which 3, 6,
// 7, 15 and 63 divide, L = 100 us a message. The model is a matrix of 1008 x 1000, S = 4,032,000 bytes in
// fp32, so S / B = 4 ms; memory moves 4.032 TB/s, S in 1 us.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;

namespace {

constexpr Picoseconds kMicrosecond = 1'000'000;
constexpr Picoseconds kLatency = 100 * kMicrosecond;
constexpr Picoseconds kModelTime = 4000 * kMicrosecond;  // S / B

std::string experiment(int workers, const std::string& sync, const std::string& more = "") {
  return fmt::format(
      R"({{"model": {{"kind": "mlp", "widths": [1008, 1000], "seq_length": 1}},
          "cluster": {{"nodes": {}, "gpu": {{"peak_tflops": {{"fp32": 1}}, "memory_gb": 1, "memory_gb_per_s": 4032}},
                       "fabric": {{"kind": "switch", "nic_gbps": 8.064, "latency_us": 100}}}},
          "plan": {{"precision": "fp32", "bucket_mb": 0}}, "stack": "ideal",
          "data_parallel_sync": {{{}}}{}}})",
      workers, sync, more);
}

Picoseconds step_time(int workers, const std::string& sync, const std::string& more = "") {
  const Run r = run(read(experiment(workers, sync, more)));
  CHECK(r.report.makespan_ps % r.report.steps == 0);
  return r.report.makespan_ps / r.report.steps;
}

/// Returns the time beyond a step without any synchronisation.
Picoseconds added(int workers, const std::string& sync) {
  return step_time(workers, sync) - step_time(workers, R"("method": "none")");
}

/// The kernel that adds up the models of d neighbours and its own: (d + 2) S bytes of memory traffic.
Picoseconds combine(int neighbours) { return (neighbours + 2) * kMicrosecond; }

std::string gossip(const std::string& topology) {
  return R"("method": "gossip", "topology": ")" + topology + '"';
}

}  // namespace

TEST_CASE("gossip takes a latency and the neighbours' models, whatever the number of workers") {
  for (const int n : {8, 16, 64}) {
    CAPTURE(n);
    int log2 = 0;
    while (1 << log2 < n) ++log2;
    CHECK(added(n, gossip("one-peer-exponential")) == kLatency + kModelTime + combine(1));
    CHECK(added(n, gossip("one-way-ring")) == kLatency + kModelTime + combine(1));
    CHECK(added(n, gossip("ring")) == kLatency + 2 * kModelTime + combine(2));
    CHECK(added(n, gossip("hypercube")) == kLatency + log2 * kModelTime + combine(log2));
    CHECK(added(n, gossip("exponential")) == kLatency + log2 * kModelTime + combine(log2));
    CHECK(added(n, gossip("complete")) == kLatency + (n - 1) * kModelTime + combine(n - 1));
  }
  CHECK(added(16, gossip("torus")) == kLatency + 4 * kModelTime + combine(4));
}

TEST_CASE("that alpha-beta gives neighbours away is said") {
  const auto warnings = [](const std::string& topology, const std::string& network) {
    return run(read(experiment(8, gossip(topology), R"(, "simulation": {"network": ")" + network + "\"}")))
        .report.warnings;
  };
  REQUIRE(warnings("complete", "alpha-beta").size() == 1);
  CHECK(warnings("complete", "alpha-beta")[0].starts_with(
      "messages to the 7 neighbours of a worker do not share"));
  CHECK(warnings("one-peer-exponential", "alpha-beta").empty());
  CHECK(warnings("complete", "flow").empty());
}

TEST_CASE("a push-sum message carries its weight, 8 bytes") {
  CHECK(added(8, R"("method": "push-sum")") == added(8, gossip("one-peer-exponential")) + 7937);  // 8 B at B
}

TEST_CASE("servers take in and give out the models of all others") {
  // Pushes and pulls: n - 1 models through the server's link either way; with k servers a k-th of that.
  CHECK(added(8, R"("method": "parameter-server")") == 2 * (kLatency + 7 * kModelTime));
  CHECK(added(8, R"("method": "parameter-server", "servers": 4)") == 2 * (kLatency + 7 * kModelTime / 4));
  // With as many servers as workers it is the direct all-reduce.
  CHECK(added(8, R"("method": "parameter-server", "servers": 8)") == 2 * (kLatency + 7 * kModelTime / 8));
}

TEST_CASE("global averages come every period, in place of gossip") {
  const Picoseconds none = step_time(8, R"("method": "none")");
  // A ring's 14 rounds, and a copy out of the bucket (2 S).
  const Picoseconds global = 14 * (kLatency + kModelTime / 8) + 2 * kMicrosecond;
  const Picoseconds neighbour = kLatency + kModelTime + combine(1);
  const auto text = [&](const std::string& sync) {
    std::string e = experiment(8, sync);
    e.insert(e.find("\"bucket_mb\""), R"("collectives": {"all-reduce": "ring"}, )");
    return e;
  };
  const auto total = [&](const std::string& sync) { return run(read(text(sync))).report.makespan_ps; };
  CHECK(run(read(text(R"("method": "local-sgd", "period": 5)"))).report.steps == 5);
  CHECK(total(R"("method": "local-sgd", "period": 5)") == 5 * none + global);
  // Periods of 6 and the 3 rounds of the graph: both repeat after 6 steps.
  CHECK(total(R"("method": "gossip-pga", "period": 6)") == 6 * none + 5 * neighbour + global);
  // Periods of 2, 4 and 8, so 14 steps, and 3 rounds: 42 steps.
  CHECK(total(R"("method": "gossip-aga", "period": 2, "final_period": 8)") ==
        42 * none + 33 * neighbour + 9 * global);
}

TEST_CASE("an outer optimizer takes what arrives, in fragments and later if it may") {
  const Picoseconds none = step_time(8, R"("method": "none")");
  const auto total = [](const std::string& sync) {
    return run(read(experiment(8, sync))).report.makespan_ps;
  };
  // 36 bytes of traffic a value: 9 us.
  const Picoseconds whole = total(R"("method": "diloco", "period": 10)") - 10 * none;
  const Picoseconds all_reduce = added(8, R"("method": "all-reduce")");
  CHECK(whole == all_reduce + 9 * kMicrosecond);
  // With a delay of 5 steps the transfer hides behind as many of none each, as far as they last; to keep half
  // of one's own model, that is read: 1 us.
  const Picoseconds hidden = total(R"("method": "diloco", "period": 10, "delay": 5)") - 10 * none;
  CHECK(hidden == all_reduce + 10 * kMicrosecond - 5 * none);
  CHECK(total(R"("method": "diloco", "period": 10, "fragments": 2)") > 10 * none + whole / 2);
}

TEST_CASE("models that travel while a step computes cost what is longer") {
  const Picoseconds none = step_time(8, R"("method": "none")");
  const Picoseconds transfer = kLatency + kModelTime;
  const Run r =
      run(read(experiment(8, gossip("one-peer-exponential") + R"(, "overlap": "combine-while-computing")")));
  REQUIRE(r.report.breakdown.optimizer_ps > 0);
  const Picoseconds update = static_cast<Picoseconds>(r.report.breakdown.optimizer_ps / (8 * r.report.steps));
  CHECK(transfer > none - update);
  CHECK(r.report.makespan_ps == r.report.steps * (transfer + combine(1) + update));
  CHECK(step_time(8, gossip("one-peer-exponential") + R"(, "overlap": "one-step-stale")") ==
        transfer + combine(1) + update);
}

TEST_CASE("compressors put exact bytes on the wire") {
  const auto bytes = [](const std::string& compression) {
    const std::string sync = gossip("one-peer-exponential") + R"(, "compression": )" + compression;
    return run(read(experiment(8, sync))).report.bytes_per_gpu[static_cast<std::size_t>(Dimension::data)];
  };
  constexpr double d = 1'008'000;
  CHECK(bytes(R"("none")") == 4 * d);
  CHECK(bytes(R"("quantize")") == 2 * d);
  CHECK(bytes(R"({"method": "quantize", "bits": 8})") == d + 4 * 1969);        // 1969 buckets of 512
  CHECK(bytes(R"({"method": "qsgd", "levels": 4})") == d * 4 / 8 + 4 * 1969);  // a sign and 3 bits for 0 to 4
  CHECK(bytes(R"({"method": "qsgd", "levels": 1})") == d * 2 / 8 + 4 * 1969);  // TernGrad
  CHECK(bytes(R"("sign")") == d / 8 + 4);
  CHECK(bytes(R"({"method": "top-k", "fraction": 0.01})") == 80640);         // values and places
  CHECK(bytes(R"({"method": "random-k", "fraction": 0.01})") == 40320 + 8);  // values and a seed
  CHECK(bytes(R"({"method": "low-rank", "rank": 2})") ==
        4 * 2 * (1004 + 1004));  // both factors, of a square of 1004
}

TEST_CASE("low rank that saves nothing is not taken") {
  // Factors of rank 502 of a square of 1004: 2 x 4 x 502 x 1004 = 4,032,064 bytes; the values have 4,032,000.
  const std::string large = gossip("ring") + R"(, "compression": {"method": "low-rank", "rank": 502})";
  CHECK(run(read(experiment(8, large))).report.bytes_per_gpu[static_cast<std::size_t>(Dimension::data)] ==
        2 * 4'032'000);
}

TEST_CASE("compression helps or hurts by what it takes to undo") {
  // All-reduce of signs gathers everyone's: 7 messages of S / 32 come in, in place of 2 (7/8) S.
  const Picoseconds signs = added(8, R"("method": "all-reduce", "compression": "sign")");
  CHECK(signs < added(8, R"("method": "all-reduce")") / 2);
  CHECK(added(8, R"("method": "parameter-server", "compression": "sign")") <
        added(8, R"("method": "parameter-server")") / 20);
}

TEST_CASE("barriers wait for the slowest worker, gossip for neighbours") {
  const std::string jitter = R"(, "software": {"jitter": 0.3}, "simulation": {"steps": 60})";
  const std::string heavy = R"("method": "none")";
  const auto time = [&](const std::string& sync) {
    // A wide layer: 1 s of computing a step.
    std::string e = experiment(32, sync, jitter);
    e.replace(e.find("\"seq_length\": 1"), 15, "\"seq_length\": 250000");
    return run(read(e)).report.step_time_s();
  };
  const double alone = time(heavy);
  const double barrier = time(R"("method": "all-reduce")");
  const double ring = time(gossip("ring"));
  CHECK(barrier > ring);
  CHECK(ring > alone / 1.5);
  // Mean of the largest of 32 exponential variables: the 32nd harmonic number, 4.06; E = 1 + 0.3 x 4.06.
  std::string even = experiment(32, R"("method": "all-reduce")", R"(, "simulation": {"steps": 60})");
  even.replace(even.find("\"seq_length\": 1"), 15, "\"seq_length\": 250000");
  const double without = run(read(even)).report.step_time_s();
  CHECK(barrier / without == doctest::Approx(1 + 0.3 * 4.06).epsilon(0.1));
}

TEST_CASE("a slow node is told apart, folded or not") {
  std::string slow = experiment(8, gossip("ring"), R"(, "simulation": {"steps": 1})");
  slow.replace(slow.find("\"nodes\": 8"), 10, R"("nodes": 8, "overrides": [{"node": 3, "speed": 0.5}])");
  const Run r = run(read(slow));
  const std::string text = slow;
  Experiment unfolded = read(text);
  unfolded.simulation.folding = Folding::off;
  check_same_times(r.report, run(unfolded).report);
}

TEST_CASE("folded equals unfolded for every method and topology, under both networks") {
  int runs = 0;
  for (const std::string method :
       {"gossip", "push-sum", "gossip-pga", "local-sgd", "parameter-server", "diloco", "gradient-tracking",
        "d2", "qg-dsgdm", "slowmo", "noloco", "sparse-loco", "demo", "ad-psgd", "easgd", "async-diloco"}) {
    for (const std::string topology :
         {"ring", "grid", "star", "one-peer-exponential", "base-k", "exponential"}) {
      for (const std::string level : {"gpu", "node"}) {
        for (const std::string network : {"flow", "alpha-beta"}) {
          const std::string sync = fmt::format(
              R"("method": "{}", "topology": "{}", "level": "{}", "period": 3)", method, topology, level);
          CAPTURE(sync);
          CAPTURE(network);
          std::string text = fmt::format(
              R"({{"model": {{"kind": "mlp", "widths": [64, 64, 64], "seq_length": 8}},
                  "cluster": {{"base": "dgx-1", "gpus_per_node": 4, "nodes": 6,
                               "node": {{"kind": "ring", "link_gb_per_s": 25, "latency_us": 2}},
                               "fabric": {{"kind": "fat-tree", "shape": [3, 2], "nic_gbps": 25, "latency_us": 5}}}},
                  "plan": {{"pipeline_parallel": 2, "rank_order": "dp-tp-cp-ep-pp", "global_batch_size": 24}},
                  "simulation": {{"network": "{}"}}, "stack": "ideal", "data_parallel_sync": {{{}}}}})",
              network, sync);
          std::optional<Experiment> e;
          try {
            e = read(text);
          } catch (const InputError&) {
            continue;  // nodes that share a replica unevenly
          }
          const Report folded = run(*e).report;
          e->simulation.folding = Folding::off;
          const Report unfolded = run(*e).report;
          check_same_times(folded, unfolded);
          CHECK(folded.bytes_per_gpu == unfolded.bytes_per_gpu);
          ++runs;
        }
      }
    }
  }
  CHECK(runs > 100);
}

TEST_CASE("neighbours can be placed near, or where one says") {
  // A ring of 8 over 4 nodes of 2 GPUs, far apart in order: 0 2 4 6 1 3 5 7 has no neighbours in a node.
  const auto text = [](const std::string& placement) {
    return fmt::format(
        R"({{"model": {{"kind": "mlp", "widths": [64, 64], "seq_length": 8}},
            "cluster": {{"nodes": 4, "gpus_per_node": 2,
                         "gpu": {{"peak_tflops": {{"fp32": 1}}, "memory_gb": 1, "memory_gb_per_s": 1000}},
                         "node": {{"kind": "nvswitch", "link_gb_per_s": 100}}, "fabric": {{"nic_gbps": 8}}}},
            "stack": "ideal", "data_parallel_sync": {{"method": "gossip", "placement": {},
              "topology": [[6, 2], [7, 3], [0, 4], [1, 5], [2, 6], [3, 7], [4, 1], [5, 0]], "weights": "uniform"}}}})",
        placement);
  };
  // Edges 0-2-4-6-(1)... each worker hears from two others; in the list's order each of the 16 crosses nodes.
  const auto nic = [](const Report& report) {
    for (const LinkUtilization& link : report.links) {
      if (link.kind == LinkKind::nic) return link.mean * report.step_time_s();
    }
    return 0.0;
  };
  const double linear = nic(run(read(text("\"linear\""))).report);
  const double near = nic(run(read(text("\"near\""))).report);
  CHECK(near < linear);
  CHECK_THROWS_AS(static_cast<void>(run(read(text("[0, 1, 2]")))), InputError);
  CHECK_THROWS_AS(static_cast<void>(run(read(text("[0, 1, 2, 3, 4, 5, 6, 6]")))), InputError);
}

TEST_CASE("a background thread delays each message by half a cycle and the coordinator's work") {
  // 1 ms, and 3 us for each worker's one tensor.
  const std::string thread = R"(, "software": {"cycle_time_ms": 2, "negotiation_us_per_tensor": 3})";
  for (const int n : {4, 8}) {
    CAPTURE(n);
    const Picoseconds more = (1000 + 3 * n) * kMicrosecond;
    for (const std::string& sync : {std::string(R"("method": "all-reduce")"), gossip("one-peer-exponential")})
      CHECK(step_time(n, sync, thread) == step_time(n, sync) + more);
  }
  // A single worker has no partner to negotiate with.
  CHECK(step_time(1, R"("method": "all-reduce")", thread) == step_time(1, R"("method": "all-reduce")"));
}

TEST_CASE("models of 16 bits take half the wire, and a cast at either end") {
  const auto half = [](int n) {
    const Report r = run(read(experiment(n, gossip("ring")), {"plan.wire_precision.models=bf16"})).report;
    return r.makespan_ps / r.steps;
  };
  // Two neighbours' models at 2 bytes in place of 4: S / B of 4 ms less 2 x 2 ms. A cast moves 6 bytes a
  // value, 1.5 us, before, and for each of two neighbours after.
  CHECK(half(8) == step_time(8, gossip("ring")) - kModelTime + 9 * kMicrosecond / 2);
}

TEST_CASE("what is kept between steps counts as memory") {
  const auto stage = [](const std::string& sync) {
    return run(read(experiment(8, sync))).report.stage_memory[0];
  };
  const StageMemory plain = stage(R"("method": "all-reduce")");
  constexpr Bytes kParameters = 1'008'000;
  CHECK(stage(R"("method": "diloco")").optimizer() == plain.optimizer() + 8 * kParameters);
  CHECK(stage(R"("method": "all-reduce", "compression": "top-k")").optimizer() ==
        plain.optimizer() + 4 * kParameters);
  CHECK(stage(R"("method": "all-reduce", "compression": {"method": "top-k", "error_feedback": false})")
            .optimizer() == plain.optimizer());
  CHECK(stage(gossip("ring")).workspace.total() == plain.workspace.total() + 2 * 4 * kParameters);
}
