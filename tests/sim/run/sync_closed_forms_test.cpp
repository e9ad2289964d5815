// Exact times of every method of data_parallel_sync where nothing is contended for, with compressors and
// without, among GPUs and among nodes, and what a delay hides. A worker is a GPU, or a node of 2, on a
// switch: B = 1.008 GB/s a direction, L = 100 us a message. The model is a matrix of 1008 x 1000, d =
// 1,008,000 values, S = 4,032,000 bytes; memory moves 4.032 TB/s, S in 1 us.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

constexpr std::int64_t kValues = 1'008'000;
constexpr Bytes kModelBytes = 4 * kValues;
constexpr Picoseconds kMessageLatency = 100'000'000;
constexpr std::int64_t kWorkers = 8;

struct Workers {
  std::string_view level;
  int gpus_per_node;
};

std::string closed_form_text(const Workers& workers, const std::string& sync, const std::string& more = "") {
  return fmt::format(
      R"({{"model": {{"kind": "mlp", "widths": [1008, 1000], "seq_length": 50}},
          "cluster": {{"nodes": {}, "gpus_per_node": {},
                       "gpu": {{"peak_tflops": {{"fp32": 1}}, "memory_gb": 1, "memory_gb_per_s": 4032}},
                       "node": {{"kind": "nvswitch", "link_gb_per_s": 1008, "latency_us": 1}},
                       "fabric": {{"kind": "switch", "nic_gbps": 8.064, "latency_us": 100}}}},
          "plan": {{"precision": "fp32", "bucket_mb": 0, "collectives": {{"all-reduce": "ring", "all-gather": "ring"}}}},
          "stack": "ideal", "data_parallel_sync": {{"level": "{}", {}}}{}}})",
      kWorkers, workers.gpus_per_node, workers.level, sync, more);
}

Report closed_form_report(const Workers& workers, const std::string& sync, const std::string& more = "") {
  return run(read(closed_form_text(workers, sync, more))).report;
}

Picoseconds makespan(const Workers& workers, const std::string& sync, const std::string& more = "") {
  return closed_form_report(workers, sync, more).makespan_ps;
}

/// A step in which workers are left alone: with two GPUs, they add up their gradients.
Picoseconds step_alone(const Workers& workers) {
  return makespan(workers, R"("method": "local-sgd", "period": 2)", R"(, "simulation": {"steps": 1})");
}

/// Returns the time to share the mean inside nodes: a broadcast.
Picoseconds shared_in_node(const Workers& workers) {
  if (workers.gpus_per_node == 1) return 0;
  // Local SGD with a period of one step takes, beyond a step alone, the all-reduce between workers, a copy (2
  // S) and this broadcast.
  const Picoseconds alone = makespan(workers, R"("method": "local-sgd", "period": 1)") - step_alone(workers);
  return alone - 14 * (kMessageLatency + kModelBytes / kWorkers * 1000 * 1000 / 1008) - 2 * 1'000'000;
}

/// Returns the time of a memory kernel at 4.032 bytes a picosecond, to the nearest picosecond.
Picoseconds kernel(Bytes traffic) { return static_cast<Picoseconds>((traffic * 1000 + 2016) / 4032); }

/// Describes the bytes that a compressor sends of the model, the memory traffic to compress it, and that to
/// unpack the messages of `n` workers.
struct CompressorCase {
  std::string_view sync;
  Bytes wire;
  std::vector<Bytes> packs;
  Bytes unpack_each;  ///< per message that came; top-k: beside a pass over the whole
  bool sums;          ///< on the way
  bool scatters = false;
};

std::vector<CompressorCase> compressor_cases() {
  constexpr Bytes s = kModelBytes;
  constexpr Bytes half = s / 2;
  constexpr Bytes sign = kValues / 8 + 4;
  constexpr Bytes fp4 = kValues / 2 + 4 * 1969;  // 1969 buckets of 512 values
  constexpr Bytes top = 8 * 10'080;
  // Error feedback reads and writes the values with the last loss (2 S + S), and keeps the new loss.
  return {
      {R"("compression": "none")", s, {}, 0, true},
      {R"("compression": "quantize")", half, {s + half}, half + s, true},
      {R"("compression": {"method": "sign", "error_feedback": false})",
       sign,
       {s, s + sign},
       sign + 2 * s,
       false},
      {R"("compression": "fp4")", fp4, {s + fp4}, fp4 + 2 * s, false},
      {R"("compression": {"method": "top-k", "error_feedback": false})",
       top,
       {s, s, s, s, s + top},
       2 * top,
       false,
       true},
  };
}

Picoseconds packing(const CompressorCase& c) {
  Picoseconds sum = 0;
  for (const Bytes traffic : c.packs) sum += kernel(traffic);
  return sum;
}

Picoseconds unpacking(const CompressorCase& c, std::int64_t received) {
  if (c.packs.empty()) return 0;
  return kernel(received * c.unpack_each + (c.scatters ? kModelBytes : 0));
}

/// Bytes over a link of 1.008 GB/s, to the nearest picosecond.
Picoseconds on_link(Bytes bytes) { return (bytes * 1'000'000 + 504) / 1008; }

/// All workers' models come together: a ring adds up n-ths of them, or hands on everyone's message.
Picoseconds brought_together(const CompressorCase& c) {
  constexpr std::int64_t n = kWorkers;
  if (!c.sums) return (n - 1) * kMessageLatency + on_link((n - 1) * c.wire);
  return 2 * (n - 1) * kMessageLatency + on_link(2 * (n - 1) * (c.wire / n));
}

constexpr std::array<Workers, 2> kLevels{Workers{"gpu", 1}, Workers{"node", 2}};

}  // namespace

TEST_CASE("gossip takes what its kernels and messages take, compressed or not, among GPUs and nodes") {
  for (const Workers& workers : kLevels) {
    const Picoseconds alone = step_alone(workers);
    const Picoseconds share = shared_in_node(workers);
    for (const CompressorCase& c : compressor_cases()) {
      CAPTURE(workers.level);
      CAPTURE(c.sync);
      for (const auto& [topology, degree] : {std::pair{"one-peer-exponential", 1}, std::pair{"ring", 2}}) {
        const std::string sync =
            fmt::format(R"("method": "gossip", "topology": "{}", {}, "overlap": )", topology, c.sync);
        const Picoseconds after = unpacking(c, degree) + kernel((degree + 2) * kModelBytes) + share;
        const Picoseconds transfer = kMessageLatency + on_link(degree * c.wire);
        const Report report = closed_form_report(workers, sync + R"("none")");
        const Picoseconds more = report.makespan_ps - report.steps * (alone + packing(c) + transfer + after);
        CHECK(std::abs(more) <= (degree - 1) * report.steps);  // two flows have half the rate each
      }
    }
  }
}

TEST_CASE("a delay hides as many steps of what travels as it has, compressed or not, among GPUs and nodes") {
  constexpr std::int64_t kPeriod = 24;
  int hidden = 0;
  for (const Workers& workers : kLevels) {
    const Picoseconds alone = step_alone(workers);
    const Picoseconds share = shared_in_node(workers);
    for (const CompressorCase& c : compressor_cases()) {
      for (const std::int64_t delay : {0, 1, 5, 11, 22}) {
        CAPTURE(workers.level);
        CAPTURE(c.sync);
        CAPTURE(delay);
        const std::string sync = fmt::format(
            R"("method": "diloco", "period": {}, "delay": {}, "mixing": 0, {})", kPeriod, delay, c.sync);
        const Picoseconds kernels = kernel(3 * kModelBytes) + packing(c) +
                                    unpacking(c, c.sums ? 1 : kWorkers) + kernel(6 * kModelBytes) + share;
        const Picoseconds exposed = std::max<Picoseconds>(0, brought_together(c) - delay * alone);
        hidden += exposed == 0;
        CHECK(makespan(workers, sync) == kPeriod * alone + kernels + exposed);
      }
    }
  }
  CHECK(hidden > 0);
}

TEST_CASE("a global average takes the same in local SGD and in place of gossip, compressed or not") {
  for (const Workers& workers : kLevels) {
    const Picoseconds alone = step_alone(workers);
    const Picoseconds share = shared_in_node(workers);
    for (const CompressorCase& c : compressor_cases()) {
      CAPTURE(workers.level);
      CAPTURE(c.sync);
      const Picoseconds global = packing(c) + brought_together(c) + unpacking(c, c.sums ? 1 : kWorkers) +
                                 kernel(2 * kModelBytes) + share;
      const Picoseconds neighbour =
          packing(c) + kMessageLatency + on_link(c.wire) + unpacking(c, 1) + kernel(3 * kModelBytes) + share;
      CHECK(makespan(workers, fmt::format(R"("method": "local-sgd", "period": 4, {})", c.sync)) ==
            4 * alone + global);
      CHECK(makespan(workers, fmt::format(R"("method": "gossip-pga", "period": 6, {})", c.sync)) ==
            6 * alone + 5 * neighbour + global);
    }
  }
}

TEST_CASE("push-sum sends its weight too, and growing periods come in turn") {
  for (const Workers& workers : kLevels) {
    const Picoseconds alone = step_alone(workers);
    const Picoseconds share = shared_in_node(workers);
    for (const CompressorCase& c : compressor_cases()) {
      CAPTURE(workers.level);
      CAPTURE(c.sync);
      const auto exchanged = [&](Bytes more) {
        return packing(c) + kMessageLatency + on_link(c.wire + more) + unpacking(c, 1) +
               kernel(3 * kModelBytes) + share;
      };
      const Report pushed = closed_form_report(workers, fmt::format(R"("method": "push-sum", {})", c.sync));
      CHECK(pushed.makespan_ps == pushed.steps * (alone + exchanged(8)));
      // Periods of 1 and 2 steps and the 3 rounds of the graph: a neighbour and two averages in 3 steps.
      const Picoseconds global = packing(c) + brought_together(c) + unpacking(c, c.sums ? 1 : kWorkers) +
                                 kernel(2 * kModelBytes) + share;
      const std::string growing = R"("method": "gossip-aga", "period": 1, "final_period": 2, )";
      CHECK(makespan(workers, fmt::format("{}{}", growing, c.sync)) == 3 * alone + exchanged(0) + 2 * global);
    }
  }
}

TEST_CASE("gradients come together in every step, by a ring or through servers, compressed or not") {
  for (const CompressorCase& c : compressor_cases()) {
    CAPTURE(c.sync);
    const Workers& gpus = kLevels[0];
    CHECK(run(read(closed_form_text(gpus, fmt::format(R"("method": "all-reduce", {})", c.sync))))
              .report.makespan_ps ==
          step_alone(gpus) + packing(c) + brought_together(c) + unpacking(c, c.sums ? 1 : kWorkers));
    for (const Workers& workers : kLevels) {
      CAPTURE(workers.level);
      // All push into the server's link, it adds up and packs again, and sends to all.
      const Picoseconds served = packing(c) + 2 * kMessageLatency + on_link(2 * (kWorkers - 1) * c.wire) +
                                 unpacking(c, kWorkers) + (c.packs.empty() ? 0 : packing(c)) +
                                 unpacking(c, 1);
      CHECK(makespan(workers, fmt::format(R"("method": "parameter-server", {})", c.sync)) ==
            step_alone(workers) + served + shared_in_node(workers));
    }
  }
}

TEST_CASE("models that travel while a step computes wait for no decompression") {
  // gossip-pga includes the global average: a step takes the longer of both, and unpacking and adding come
  // after.
  for (const CompressorCase& c : compressor_cases()) {
    CAPTURE(c.sync);
    const Workers& gpus = kLevels[0];
    const Picoseconds alone = step_alone(gpus);
    const Picoseconds update = kernel(7 * kModelBytes);
    const auto taken = [&](Picoseconds transfer, Picoseconds after) {
      return packing(c) + std::max(transfer, alone - update) + after + update;
    };
    const Picoseconds global =
        taken(brought_together(c), unpacking(c, c.sums ? 1 : kWorkers) + kernel(2 * kModelBytes));
    const Picoseconds neighbour =
        taken(kMessageLatency + on_link(c.wire), unpacking(c, 1) + kernel(3 * kModelBytes));
    CHECK(
        makespan(gpus, fmt::format(R"("method": "gossip-pga", "period": 6, "overlap": "one-step-stale", {})",
                                   c.sync)) == 5 * neighbour + global);
  }
}

TEST_CASE("fragments leave as evenly as whole steps allow, whatever the period") {
  const Workers& gpus = kLevels[0];
  const Picoseconds alone = step_alone(gpus);
  const auto each = [](std::int64_t fragments) {
    const Bytes part = (kValues + fragments - 1) / fragments * 4;
    return 14 * kMessageLatency + on_link(14 * ((part + 7) / 8)) + kernel(part * 3) + kernel(part * 6);
  };
  for (const std::int64_t period : {7, 10, 12}) {
    for (const std::int64_t fragments : {1, 3, 4, 7}) {
      CAPTURE(period);
      CAPTURE(fragments);
      CHECK(makespan(gpus, fmt::format(R"("method": "diloco", "period": {}, "fragments": {})", period,
                                       fragments)) == period * alone + fragments * each(fragments));
    }
  }
}

TEST_CASE("steps that leave out an exchange are warned of") {
  const Workers& gpus = kLevels[0];
  const auto warned = [&](const std::string& sync, int steps) {
    const Report report =
        closed_form_report(gpus, sync, fmt::format(R"(, "simulation": {{"steps": {}}})", steps));
    return !report.warnings.empty() &&
           report.warnings.front().find("no figure has its cost") != std::string::npos;
  };
  for (const std::string method : {"local-sgd", "gossip-pga", "diloco"}) {
    const std::string sync = fmt::format(R"("method": "{}", "period": 10)", method);
    CHECK(warned(sync, 9));
    CHECK(!warned(sync, 10));
  }
  CHECK(!warned(R"("method": "diloco", "period": 10, "fragments": 5)", 9));
  CHECK(!warned(R"("method": "gossip")", 1));
}

// Tokens are loaded, too: the wait belongs to loaders of any kind.
TEST_CASE("neighbours are late where loaders fetch samples, and in time where data are synthetic") {
  const auto with = [](std::string_view data) {
    return makespan({"gpu", 1}, R"("method": "gossip", "topology": "ring")",
                    fmt::format(R"(, "software": {{"exchange_wait_ms": 2}}, "training": {{"data": "{}"}},
                                   "simulation": {{"steps": 1}})",
                                data));
  };
  CHECK(with("loaded") == with("synthetic") + 2'000'000'000);
}
