// Buckets of gradients that fill inside a layer, by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

/// One matrix of 16,000 x 1,000 on two ranks, 32 MB of gradients: forward 2 * 1e3 * 16e6 / 1 TFLOP/s = 32 ms,
/// and as long backward. At 1 GB/s an all-reduce takes 1 ms for 1 MB, and 10 us each way.
std::string one_matrix(double bucket_mb, const std::string& plan = "") {
  return fmt::format(
      R"({{"stack": "ideal", "model": {{"kind": "mlp", "widths": [16000, 1000], "seq_length": 1000}},
          "cluster": {{"gpu": {{"peak_tflops": {{"bf16": 1}}, "memory_gb": 10, "memory_gb_per_s": 1e6}}, "nodes": 2,
                       "fabric": {{"kind": "switch", "nic_gbps": 8, "latency_us": 10}}}},
          "plan": {{"data_parallel": 2, "bucket_mb": {}, "collectives": {{"all-reduce": "ring"}}{}}}}})",
      bucket_mb, plan);
}

}  // namespace

TEST_CASE("buckets smaller than a layer's gradients are reduced while it runs backward") {
  const auto step_us = [](const std::string& text, const std::vector<std::string>& overrides = {}) {
    return (simulate(read(text, overrides)).makespan_ps + 500'000) / 1'000'000;
  };
  const std::string beside = R"(, "overlap_gradient_reduce": true)";
  for (const char* network : {"simulation.network=alpha-beta", "simulation.network=flow"}) {
    CAPTURE(network);
    // After 64 ms of passes: one of 32 MB, or n of 32 MB / n with their latency, 2 x 10 us each.
    CHECK(step_us(one_matrix(32), {network}) == 64'000 + 32'000 + 20);
    CHECK(step_us(one_matrix(1), {network}) == 64'000 + 32 * 1'020);
    // Full at the end of the pass: nothing beside it.
    CHECK(step_us(one_matrix(32, beside), {network}) == 64'000 + 32'000 + 20);
    // The first of 32 buckets is full early in the pass, so 31 follow each other from its begin, 32 ms, and
    // the last when all gradients are there at 64.
    CHECK(step_us(one_matrix(1, beside), {network}) == 64'000 + 1'020);
    // The first of two buckets is full in the middle, which counts as the end.
    CHECK(step_us(one_matrix(16, beside), {network}) == 64'000 + 2 * 16'020);
    // The first of three and a half buckets is full before: two beside the pass, the third and the rest of 5
    // MB after it.
    CHECK(step_us(one_matrix(9, beside), {network}) == 64'000 + 9'020 + 5'020);
    // With each of two micro-batches compute waits for all of them.
    CHECK(step_us(one_matrix(1, R"(, "global_batch_size": 4, "gradient_reduction": "every-micro-batch")"),
                  {network}) == 2 * (64'000 + 32 * 1'020));
  }
}
