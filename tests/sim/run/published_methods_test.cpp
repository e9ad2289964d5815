// Checks the time, traffic and memory of decentralised methods with momentum, corrections and outer
// optimizers: closed forms without contention. As in synchronization_test.cpp a worker is a GPU of its own
// node on a switch, S / B = 4 ms, a message takes L = 100 us, memory moves S in 1 us.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>

#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

constexpr Picoseconds kOneMicro = 1'000'000;
constexpr Picoseconds kModelOnWire = 4000 * kOneMicro;
constexpr Picoseconds kMessage = 100 * kOneMicro;
constexpr std::int64_t kModelValues = 1'008'000;

Report method_report(const std::string& sync) {
  return run(read(fmt::format(
                 R"({{"model": {{"kind": "mlp", "widths": [1008, 1000], "seq_length": 1}},
          "cluster": {{"nodes": 8, "gpu": {{"peak_tflops": {{"fp32": 1}}, "memory_gb": 1, "memory_gb_per_s": 4032}},
                       "fabric": {{"kind": "switch", "nic_gbps": 8.064, "latency_us": 100}}}},
          "plan": {{"precision": "fp32", "bucket_mb": 0,
                    "collectives": {{"all-reduce": "ring", "all-gather": "ring"}}}},
          "stack": "ideal", "data_parallel_sync": {{{}}}}})",
                 sync)))
      .report;
}

/// Returns the time of all steps beyond that without any synchronisation.
Picoseconds added_by(const std::string& sync) {
  const Report report = method_report(sync);
  return report.makespan_ps - report.steps * method_report(R"("method": "none")").makespan_ps;
}

double data_bytes(const std::string& sync) {
  return method_report(sync).bytes_per_gpu[static_cast<std::size_t>(Dimension::data)];
}

Bytes states_of(const std::string& sync) { return method_report(sync).stage_memory[0].optimizer(); }

/// An all-reduce over 8 workers as a ring: 14 rounds of an eighth.
constexpr Picoseconds kRing = 14 * (kMessage + kModelOnWire / 8);

}  // namespace

TEST_CASE("gradient tracking moves two models a neighbour") {
  // Estimate, gradient and the last gradient are read, two of them written: 5 S. Sums of d neighbours: 2 (d +
  // 2) S.
  CHECK(added_by(R"("method": "gradient-tracking", "topology": "ring")") ==
        kMessage + 4 * kModelOnWire + (5 + 8) * kOneMicro);
  CHECK(added_by(R"("method": "gradient-tracking", "topology": "one-way-ring")") ==
        kMessage + 2 * kModelOnWire + (5 + 6) * kOneMicro);
  CHECK(data_bytes(R"("method": "gradient-tracking", "topology": "ring")") == 4 * 4 * kModelValues);
}

TEST_CASE("exact diffusion and quasi-global momentum move what gossip moves") {
  // Correction: 4 S before the exchange; the sums of d neighbours (d + 2) S; 2 S for the next correction.
  CHECK(added_by(R"("method": "d2")") == kMessage + 2 * kModelOnWire + (4 + 4 + 2) * kOneMicro);
  // The momentum and the model before the step: 4 S.
  CHECK(added_by(R"("method": "qg-dsgdm", "topology": "one-way-ring")") ==
        kMessage + kModelOnWire + (3 + 4) * kOneMicro);
  CHECK(data_bytes(R"("method": "d2")") == data_bytes(R"("method": "gossip", "topology": "ring")"));
}

TEST_CASE("slow momentum is a global average and 6 S of traffic a period") {
  CHECK(added_by(R"("method": "slowmo", "base": "local-sgd", "period": 5)") == kRing + 6 * kOneMicro);
  CHECK(added_by(R"("method": "slowmo", "topology": "one-way-ring", "period": 5)") ==
        kRing + 6 * kOneMicro + 4 * (kMessage + kModelOnWire + 3 * kOneMicro));
}

TEST_CASE("noloco moves change and model to one partner every period, whatever the workers") {
  // 16 rounds of random pairs, one every 5 steps: 80 steps. The change is 3 S; what came and the worker's own
  // are read, 2 + 2 S, momentum too, and momentum and both models written, 4 S.
  const std::string sync = R"("method": "noloco", "period": 5)";
  CHECK(method_report(sync).steps == 80);
  CHECK(added_by(sync) == 16 * (kMessage + 2 * kModelOnWire + (3 + 8) * kOneMicro));
  CHECK(data_bytes(sync) == doctest::Approx(2 * 4 * kModelValues / 5.0));
}

TEST_CASE("sparse-loco gathers two bits a value and twelve a place") {
  // 64 of each 4096: 15750 of 1,008,000 values of 2 + 12 bits, 27,563 bytes; a scale for each of 247 chunks.
  constexpr Bytes kSent = 27'563 + 4 * 247;
  const std::string sync = R"("method": "sparse-loco", "period": 5)";
  CHECK(data_bytes(sync) == doctest::Approx(7 * kSent / 5.0));
  // The change 3 S; lost values are added, 3 S, the largest found, S, taken out, S, and the others kept, 2 S;
  // what all 8 sent is read and written once over the whole, S; the outer model takes it, 4 S.
  const Picoseconds kernels = 15 * kOneMicro;
  const Picoseconds messages = 7 * (kMessage + transfer_ps(kSent, 1'008'000'000, 1));
  const auto small = static_cast<Picoseconds>((1 + 1 + 16) * kSent / 4.032);  // of what is sent and received
  CHECK(std::abs(added_by(sync) - messages - kernels - small) <= 10);         // each kernel is rounded
}

TEST_CASE("demo gathers the largest frequencies of a momentum every step") {
  // 32 of each 64 x 64: 7875 values of 32 + 12 bits.
  constexpr Bytes kSent = 43'313;
  CHECK(data_bytes(R"("method": "demo")") == 7 * kSent);
  const Picoseconds messages = 7 * (kMessage + transfer_ps(kSent, 1'008'000'000, 1));
  // Two products there and two back at the sender, two back at the receiver, of 2 x 64 d operations at 1
  // TFLOP/s.
  const Picoseconds products = 6 * 129'024'000;
  // Lost values 3 S and 2 S, the largest found and taken out 2 S, what all sent S.
  CHECK(added_by(R"("method": "demo")") > messages + products + 8 * kOneMicro);
  CHECK(added_by(R"("method": "demo")") < messages + products + 10 * kOneMicro);
}

TEST_CASE("the largest values and their places take the bits that they are given") {
  const auto bytes = [](const std::string& compression) {
    return data_bytes(R"("method": "gossip", "topology": "one-way-ring", "compression": )" + compression);
  };
  // 10,080 values.
  CHECK(bytes(R"({"method": "top-k"})") == 10'080 * 8);
  CHECK(bytes(R"({"method": "top-k", "chunk": 4096})") == 10'080 * (32 + 12) / 8);
  CHECK(bytes(R"({"method": "top-k", "chunk": 1000, "bits": 16})") == 10'080 * (16 + 10) / 8);
  CHECK(bytes(R"({"method": "top-k", "chunk": 1000, "bits": 4})") == 10'080 * (4 + 10) / 8 + 4 * 1008);
  CHECK(bytes(R"({"method": "dct-top-k", "chunk": 4096})") == 10'080 * (32 + 12) / 8);
}

TEST_CASE("methods keep vectors as long as the model") {
  const Bytes plain = states_of(R"("method": "all-reduce")");
  CHECK(states_of(R"("method": "gradient-tracking")") == plain + 8 * kModelValues);
  CHECK(states_of(R"("method": "d2")") == plain + 4 * kModelValues);
  CHECK(states_of(R"("method": "qg-dsgdm")") == plain + 4 * kModelValues);
  CHECK(states_of(R"("method": "slowmo")") == plain + 8 * kModelValues);
  CHECK(states_of(R"("method": "noloco")") == plain + 8 * kModelValues);
  CHECK(states_of(R"("method": "sparse-loco")") ==
        plain + 8 * kModelValues);  // the outer model and what is lost
  CHECK(states_of(R"("method": "demo")") == plain + 4 * kModelValues);
  const auto buffers = [](const std::string& sync) {
    return method_report(sync).stage_memory[0].workspace.total();
  };
  CHECK(buffers(R"("method": "gradient-tracking", "topology": "ring")") ==
        buffers(R"("method": "all-reduce")") + 2 * 2 * 4 * kModelValues);
}
