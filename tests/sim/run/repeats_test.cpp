// Folding in time: micro-batches that repeat are left out, and no figure changes by it.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "orrery/simulate.hpp"
#include "sim/run/run.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::RandomExperiment;
using orrery::test::read;
using orrery::test::told_from_fewer;

namespace {

void check_same_figures(const Report& a, const Report& b) {
  check_same_times(a, b);
  CHECK(a.samples_per_step == b.samples_per_step);
  CHECK(a.tokens_per_step == b.tokens_per_step);
  CHECK(a.model_flops_per_step == b.model_flops_per_step);
  CHECK(a.hardware_flops_per_step == b.hardware_flops_per_step);
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

TEST_CASE("updates of buckets within a pass leave it one pass") {
  const Experiment e = read(R"({"model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 3},
    "plan": {"pipeline_parallel": 3, "data_parallel": 8, "global_batch_size": 480, "virtual_stages": 2,
             "pipeline_schedule": "interleaved-1f1b"},
    "data_parallel_sync": {"method": "gossip", "topology": "ring", "overlap": "adapt-then-combine"}})");
  const std::optional<Report> told = told_from_fewer(e);
  REQUIRE(told);
  check_same_figures(*told, run(e).report);
}

TEST_CASE("a step with many micro-batches is told from fewer, in every figure") {
  std::uint64_t repeated = 0;
  for (std::uint64_t seed = 8000; seed < 8000 + test::trials(300); ++seed) {
    const std::string text = RandomExperiment(seed).text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    try {
      Experiment e = read(text);
      e.simulation.steps = 1;
      e.simulation.detail = seed % 2 == 0 ? Detail::layer : Detail::stage;
      e.plan.global_batch_size = e.plan.data_parallel * e.plan.pipeline_parallel * 14;
      const std::optional<Report> told = told_from_fewer(e);
      if (!told) continue;
      ++repeated;
      const Report whole = run(e).report;
      check_same_figures(*told, whole);
      CHECK(length(told->critical_path) == whole.makespan_ps);
      CHECK(told->stats.tasks < whole.stats.tasks);
    } catch (const InputError&) {
    }
  }
  CHECK(repeated > test::trials(60));
}

TEST_CASE("nothing is told where stages hold no layers or the host holds up the end of a short step") {
  // A chunk without layers has no passes; stages without layers wait only; the host issues so many buckets at
  // the end that it holds up a short step but not a long one.
  for (const char* text : {
           R"({"model": {"kind": "mlp", "layers": 1, "hidden": 1024, "seq_length": 128},
               "cluster": {"base": "dgx-h100", "gpus_per_node": 1}, "stack": "ideal",
               "plan": {"virtual_stages": 2, "pipeline_schedule": "interleaved-1f1b", "global_batch_size": 20,
                        "stage_layers": [1, 0]}})",
           R"({"model": {"layers": 1, "hidden": 256, "heads": 8, "vocab": 32000, "seq_length": 128},
               "cluster": {"base": "dgx-h100", "gpus_per_node": 3},
               "plan": {"pipeline_parallel": 3, "global_batch_size": 19, "stage_layers": [1, 0, 0]}})",
           R"({"model": {"layers": 1, "hidden": 1536, "heads": 24, "vocab": 51200, "seq_length": 1000},
               "cluster": {"gpu": "b200", "gpus_per_node": 4, "node": {"kind": "nvswitch", "link_gb_per_s": 150}},
               "plan": {"global_batch_size": 48, "bucket_mb": 0.01}, "simulation": {"network": "alpha-beta"}})"}) {
    CAPTURE(text);
    const Experiment e = read(text);
    const Report whole = run(e).report;
    const Report told = simulate(e);
    check_same_figures(told, whole);
  }
}

TEST_CASE("models that travel while a step computes are there before it is told from fewer micro-batches") {
  // Over the slow NIC they take longer than the micro-batches that are simulated first, over the fast one
  // not.
  for (const char* nic_gbps : {"5", "10000"}) {
    for (const char* overlap : {"combine-while-computing", "one-step-stale"}) {
      Experiment e = read(R"({"model": "gpt3-125m", "cluster": {"base": "v100-tcp-25g", "nodes": 4,
          "gpus_per_node": 1, "fabric": {"nic_gbps": )" +
                          std::string(nic_gbps) + R"(}}, "stack": "ideal",
          "plan": {"global_batch_size": 256}, "data_parallel_sync": {"method": "gossip", "topology": "ring",
          "overlap": ")" + overlap +
                          R"("}})");
      CAPTURE(nic_gbps);
      CAPTURE(overlap);
      check_same_figures(simulate(e), run(e).report);
      CHECK(told_from_fewer(e).has_value() == (std::string(nic_gbps) == "10000"));
    }
  }
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
