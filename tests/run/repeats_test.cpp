// Folding in time: micro-batches that repeat are left out, and no figure changes by it.
#include "sim/run/repeats.hpp"

#include <doctest/doctest.h>

#include "orrery/simulate.hpp"
#include "tests/run/experiments.hpp"

using namespace orrery;
using orrery::test::RandomExperiment;
using orrery::test::read;

namespace {

void check_same(const Report& a, const Report& b) {
  CHECK(a.makespan_ps == b.makespan_ps);
  CHECK(a.samples_per_step == b.samples_per_step);
  CHECK(a.tokens_per_step == b.tokens_per_step);
  CHECK(a.model_flops_per_step == b.model_flops_per_step);
  CHECK(a.hardware_flops_per_step == b.hardware_flops_per_step);
  CHECK(a.breakdown.compute_ps == b.breakdown.compute_ps);
  CHECK(a.breakdown.optimizer_ps == b.breakdown.optimizer_ps);
  CHECK(a.breakdown.exposed_ps == b.breakdown.exposed_ps);
  CHECK(a.breakdown.bubble_ps == b.breakdown.bubble_ps);
  CHECK(a.breakdown.host_ps == b.breakdown.host_ps);
  CHECK(a.pipeline_bubble_fraction == b.pipeline_bubble_fraction);
  CHECK(a.gpu_utilization_mean == b.gpu_utilization_mean);
  CHECK(a.gpu_utilization_min == b.gpu_utilization_min);
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    CHECK(a.bytes_per_gpu[d] == doctest::Approx(b.bytes_per_gpu[d]).epsilon(1e-12));
  }
  REQUIRE(a.links.size() == b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    CHECK(a.links[i].mean == doctest::Approx(b.links[i].mean).epsilon(1e-12));
    CHECK(a.links[i].peak == doctest::Approx(b.links[i].peak).epsilon(1e-12));
  }
  REQUIRE(a.stage_memory.size() == b.stage_memory.size());
  for (std::size_t s = 0; s < a.stage_memory.size(); ++s) {
    CHECK(a.stage_memory[s].total() == b.stage_memory[s].total());
  }
}

/// Time along the chain; which of several chains that end last is told may differ.
Picoseconds length(const CriticalPath& path) {
  Picoseconds sum = path.compute_ps + path.host_ps + path.wait_ps;
  for (const Picoseconds part : path.communication_ps) sum += part;
  return sum;
}

}  // namespace

TEST_CASE("a step with many micro-batches is told from fewer, in every figure") {
  std::uint64_t repeated = 0;
  for (std::uint64_t seed = 8000; seed < 8300; ++seed) {
    const std::string text = RandomExperiment(seed).text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    try {
      Experiment e = read(text);
      e.simulation.steps = 1;
      e.simulation.detail = seed % 2 == 0 ? Detail::layer : Detail::stage;
      e.plan.global_batch_size = e.plan.data_parallel * e.plan.pipeline_parallel * 14;
      const std::optional<Report> told = simulate_repeats(e);
      if (!told) continue;
      ++repeated;
      const Report whole = run(e).report;
      check_same(*told, whole);
      CHECK(length(told->critical_path) == whole.makespan_ps);
    } catch (const InputError&) {
    }
  }
  CHECK(repeated > 60);
}

TEST_CASE("folding off simulates every micro-batch") {
  Experiment e = read(R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 1},
      "plan": {"tensor_parallel": 2, "pipeline_parallel": 4, "global_batch_size": 64}})");
  const Report folded = simulate(e);
  e.simulation.folding = Folding::off;
  const Report whole = simulate(e);
  CHECK(folded.makespan_ps == whole.makespan_ps);
  CHECK(folded.stats.tasks * 2 < whole.stats.tasks);
  CHECK(folded.assumptions.back() ==
        "the 64 micro-batches of a replica are simulated up to the 8th; the others repeat the last 1");
}
