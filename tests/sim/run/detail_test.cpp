// Stage detail: whole passes as one operation, against every operation on its own.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::example;
using orrery::test::RandomExperiment;
using orrery::test::read;

namespace {

/// Nothing for the plans that a random cluster or its GPUs do not allow.
std::optional<Run> run_if_valid(const std::string& text, Detail detail, Network network,
                                Folding folding = Folding::automatic,
                                const std::vector<std::string>& changes = {}) {
  try {
    Experiment e = read(text, changes);
    e.simulation.detail = detail;
    e.simulation.network = network;
    e.simulation.folding = folding;
    return run(e);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

double deviation(const Run& stage, const Run& layer) {
  return std::abs(
      static_cast<double>(stage.timeline.makespan_ps) / static_cast<double>(layer.timeline.makespan_ps) - 1);
}

}  // namespace

/// With chunks of collectives beside the products (tensor_overlap), some can move before a pass begins.
bool overlaps(const Run& run) {
  const Plan& plan = run.report.plan;
  return plan.overlap_tensor_parallel && plan.sequence_parallel;
}

TEST_CASE("stage detail takes as long as layer detail, to the picosecond where no pass overlaps the next") {
  std::uint64_t fewer = 0;
  for (std::uint64_t seed = 5000; seed < 5000 + test::trials(300); ++seed) {
    const std::string text = RandomExperiment(seed).text();
    CAPTURE(seed);
    CAPTURE(text);
    const std::vector<std::string> apart{"software.communication_interference=0"};
    const auto layer = run_if_valid(text, Detail::layer, Network::alpha_beta, Folding::automatic, apart);
    if (!layer) continue;
    const Run stage = *run_if_valid(text, Detail::stage, Network::alpha_beta, Folding::automatic, apart);
    CHECK(deviation(stage, *layer) <= (overlaps(*layer) ? 0.005 : 0));
    CHECK(stage.report.breakdown.compute_ps == layer->report.breakdown.compute_ps);
    CHECK(stage.report.bytes_per_gpu == layer->report.bytes_per_gpu);
    fewer += stage.expanded.graph.tasks() < layer->expanded.graph.tasks() ? 1 : 0;
  }
  CHECK(fewer > test::trials(100));
}

TEST_CASE("stage detail stays within half a percent with random host costs and shared links") {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 6000; seed < 6000 + test::trials(200); ++seed) {
    const std::string text = RandomExperiment(seed).text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    for (const Network network : {Network::alpha_beta, Network::flow}) {
      CAPTURE(network);
      const auto layer = run_if_valid(text, Detail::layer, network);
      if (!layer) break;
      const Run stage = *run_if_valid(text, Detail::stage, network);
      CHECK(deviation(stage, *layer) <= 0.005);
      ++compared;
    }
  }
  CHECK(compared > test::trials(100));
}

TEST_CASE("a pass beside whose compute its own collectives run is as slow in stage detail") {
  std::uint64_t slowed = 0;
  for (std::uint64_t seed = 5000; seed < 5000 + test::trials(100); ++seed) {
    const std::string text = RandomExperiment(seed).text();
    CAPTURE(seed);
    CAPTURE(text);
    const auto layer = run_if_valid(text, Detail::layer, Network::alpha_beta);
    if (!layer) continue;
    const Run stage = *run_if_valid(text, Detail::stage, Network::alpha_beta);
    CHECK(deviation(stage, *layer) <= 0.005);
    const auto free = run_if_valid(text, Detail::layer, Network::alpha_beta, Folding::automatic,
                                   {"software.communication_interference=0"});
    slowed += free->timeline.makespan_ps < layer->timeline.makespan_ps ? 1 : 0;
  }
  CHECK(slowed > test::trials(30));
}

TEST_CASE("stage detail folds without changing a picosecond") {
  std::uint64_t smaller = 0;
  for (std::uint64_t seed = 7000; seed < 7000 + test::trials(150); ++seed) {
    const std::string text = RandomExperiment(seed).text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    for (const Network network : {Network::alpha_beta, Network::flow}) {
      const auto folded = run_if_valid(text, Detail::stage, network);
      if (!folded) break;
      const Run unfolded = *run_if_valid(text, Detail::stage, network, Folding::off);
      CHECK(folded->timeline.makespan_ps == unfolded.timeline.makespan_ps);
      CHECK(folded->report.breakdown.bubble_ps == unfolded.report.breakdown.bubble_ps);
      CHECK(folded->report.breakdown.exposed_ps == unfolded.report.breakdown.exposed_ps);
      smaller += folded->expanded.classes() < unfolded.expanded.classes() ? 1 : 0;
    }
  }
  CHECK(smaller > test::trials(100));
}

TEST_CASE("stage detail of passes that are easily got wrong") {
  // Without collectives between their ends; on stages without layers; over unlike ways; on shared ports.
  for (const char* text : {
           R"({"model": {"kind": "mlp", "layers": 4, "hidden": 1024, "seq_length": 128}, "stack": "ideal",
               "cluster": {"base": "dgx-h100", "gpus_per_node": 4}, "simulation": {"network": "alpha-beta"},
               "plan": {"tensor_parallel": 2, "pipeline_parallel": 2, "global_batch_size": 4,
                        "scatter_gather": false}})",
           R"({"model": {"kind": "mlp", "layers": 1, "hidden": 1024, "seq_length": 128}, "stack": "ideal",
               "cluster": {"base": "dgx-h100", "gpus_per_node": 2}, "simulation": {"network": "alpha-beta"},
               "plan": {"pipeline_parallel": 2, "global_batch_size": 8, "stage_layers": [0, 1]}})",
           R"({"model": {"layers": 3, "hidden": 2048, "heads": 16, "vocab": 1000, "seq_length": 2048},
               "cluster": {"base": "dgx-h100", "nodes": 2, "gpus_per_node": 6}, "stack": "ideal",
               "plan": {"tensor_parallel": 4, "pipeline_parallel": 3, "scatter_gather": false,
                        "overlap_tensor_parallel": true}, "simulation": {"network": "alpha-beta"}})",
           R"({"model": {"layers": 3, "hidden": 1536, "heads": 12, "vocab": 1000, "seq_length": 128},
               "cluster": {"gpu": "l4", "gpus_per_node": 6, "node": {"kind": "nvswitch", "link_gb_per_s": 1}},
               "plan": {"tensor_parallel": 2, "pipeline_parallel": 3, "global_batch_size": 2}, "stack": "ideal"})"}) {
    CAPTURE(text);
    Experiment e = read(text);
    const Run layer = run(e);
    e.simulation.detail = Detail::stage;
    CHECK(run(e).timeline.makespan_ps == layer.timeline.makespan_ps);
  }
}

TEST_CASE("the main job at stage detail") {
  Experiment e = example("megatron-145b.json");
  const Run layer = run(e);
  e.simulation.detail = Detail::stage;
  const Run stage = run(e);
  CHECK(stage.timeline.makespan_ps == layer.timeline.makespan_ps);
  CHECK(10 * stage.expanded.graph.tasks() < layer.expanded.graph.tasks() * 3);
}
