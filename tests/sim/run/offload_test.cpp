// Checks the cost of offloading in closed form: the link to the host, its memory, and how much of them
// compute hides.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;

namespace {

/// Three matrices of a million parameters; a product takes 2 * 1000^3 / 1 TFLOP/s = 2 ms, so a micro-batch 3
/// forward and 5 backward products, 16 ms. The GPU reads 28 bytes a parameter at 10 TB/s.
Experiment host_chain(const std::vector<std::string>& overrides) {
  return read(
      R"({"stack": "ideal", "model": {"kind": "mlp", "widths": [1000, 1000, 1000, 1000], "seq_length": 1000},
          "cluster": {"gpu": {"peak_tflops": {"bf16": 1}, "memory_gb": 1, "memory_gb_per_s": 10000,
                              "host_link_gb_per_s": 1, "host_memory_gb_per_s": 14}}})",
      overrides);
}

Picoseconds offloaded_step(const std::vector<std::string>& overrides) {
  return simulate(host_chain(overrides)).makespan_ps;
}

constexpr Picoseconds kMs = 1'000'000'000;

}  // namespace

TEST_CASE("an update by the host takes the link out, its memory, and the link back, bucket by bucket") {
  // In one bucket: 6 MB of gradients out in 6 ms, 84 MB at 14 GB/s in 6 ms, 6 MB of parameters back in 6 ms.
  CHECK(offloaded_step({"plan.offload=optimizer", "plan.bucket_mb=0"}) == (16 + 18) * kMs);
  // In three of a million parameters, the three overlap: 2 + 2 + 3 * 2 - 2 + 2 ms.
  CHECK(offloaded_step({"plan.offload=optimizer", "plan.bucket_mb=2"}) == (16 + 2 + 2 + 3 * 2) * kMs);
  // Half of them: the GPU updates the others meanwhile.
  const Experiment half =
      host_chain({"plan.offload=optimizer", "plan.bucket_mb=0", "plan.offload_fraction=0.5"});
  const Report r = simulate(half);
  CHECK(r.makespan_ps == (16 + 9) * kMs);
  CHECK(r.breakdown.optimizer_ps == 4'200'000);
  CHECK(r.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::offload)] == 9 * kMs - 4'200'000);
}

TEST_CASE("copies of activations hide behind compute, and what does not hide is exposed") {
  // Each matrix keeps its input, 2 MB: out in 2 ms, as long as a product takes, and back in 2 ms.
  const auto of = [](const std::vector<std::string>& overrides) {
    std::vector<std::string> all{"plan.offload=activations"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return offloaded_step(all) - 8'400'000;  // the update of 3 M parameters
  };
  // The last matrix's input leaves while nothing computes, for 2 ms, and comes back for 2; then 4 ms of its
  // gradients hide the copy of the one before, and so on.
  CHECK(of({}) == (16 + 2 + 2) * kMs);
  // The first of three only: both ways are hidden.
  CHECK(of({"plan.offload_fraction=0.3"}) == 16 * kMs);
  // A link half as fast: the third matrix waits for the first copy, which ends at 2 + 4 ms. The others end at
  // 10 and 14, the third input is back at 18, and the gradients of 4, 4 and 2 ms hide the other two.
  CHECK(of({"cluster.gpu.host_link_gb_per_s=0.5"}) == (18 + 10) * kMs);
}

TEST_CASE("folded and coarser runs with offloading are the same") {
  for (const char* what : {"optimizer", "activations"}) {
    for (const char* schedule : {"1f1b", "interleaved-1f1b"}) {
      CAPTURE(what);
      CAPTURE(schedule);
      const bool chunks = schedule == std::string("interleaved-1f1b");
      const auto report = [&](const std::vector<std::string>& more) {
        std::vector<std::string> overrides{std::string("plan.offload=") + what,
                                           std::string("plan.pipeline_schedule=") + schedule,
                                           chunks ? "plan.virtual_stages=2" : "plan.virtual_stages=1"};
        overrides.insert(overrides.end(), more.begin(), more.end());
        return simulate(read(
            R"({"model": {"kind": "transformer", "layers": 8, "hidden": 1024, "heads": 8, "vocab": 1024, "seq_length": 512},
                "cluster": {"base": "dgx-a100-80gb", "nodes": 2}, "stack": "megatron-2021",
                "plan": {"tensor_parallel": 2, "pipeline_parallel": 2, "data_parallel": 4, "zero_stage": 1,
                         "global_batch_size": 96, "offload_fraction": 0.5}})",
            overrides));
      };
      const Report folded = report({});
      CHECK(folded.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::offload)] > 0);
      check_same_times(folded, report({"simulation.folding=off"}));
      CHECK(report({"simulation.detail=stage", "simulation.network=alpha-beta"}).makespan_ps ==
            report({"simulation.network=alpha-beta"}).makespan_ps);
    }
  }
}
