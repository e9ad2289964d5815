// Stages whose layers the simulator chooses.
#include "sim/choices/balance_stages.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <numeric>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;

namespace {

using Layers = std::vector<std::int64_t>;

/// A vocabulary that makes the head as long as some layers, and layers of two kinds.
Experiment pipeline(const std::vector<std::string>& overrides) {
  std::vector<std::string> all{"plan.stage_layers=auto"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return read(R"({"model": {"kind": "transformer", "layers": 10, "hidden": 1024, "heads": 16, "vocab": 32000,
                            "seq_length": 1024, "attention": "flash", "tied_embeddings": false},
                  "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 1}, "stack": "ideal",
                  "plan": {"pipeline_parallel": 4, "global_batch_size": 32},
                  "simulation": {"network": "alpha-beta"}})",
              all);
}

Layers chosen(const Experiment& experiment) {
  Memo memo;
  return balanced_stage_layers(experiment, memo);
}

Experiment with(const Experiment& experiment, const Layers& layers) {
  Experiment other = experiment;
  other.plan.stage_layers = layers;
  other.plan.balance_stages = false;
  return other;
}

/// Calls `use` with all divisions.
void for_each_division(std::int64_t layers, std::size_t stages,
                       const std::function<void(const Layers&)>& use) {
  Layers one(stages);
  const std::function<void(std::size_t, std::int64_t)> walk = [&](std::size_t stage, std::int64_t left) {
    if (stage + 1 == stages) {
      one[stage] = left;
      return use(one);
    }
    for (std::int64_t n = 0; n <= left; ++n) {
      one[stage] = n;
      walk(stage + 1, left - n);
    }
  };
  walk(0, layers);
}

}  // namespace

// In the steady state each micro-batch takes as long as the slowest stage, so of the steps of all divisions
// over three stages, with many micro-batches, none is more than a pipeline's filling faster.
TEST_CASE("no division makes a much faster step") {
  const Experiment e = pipeline({"plan.pipeline_parallel=2", "plan.tensor_parallel=2", "model.layers=7",
                                 "plan.global_batch_size=256", "model.window=128", "model.window_pattern=3"});
  const Picoseconds balanced = simulate(e).makespan_ps;
  Picoseconds fastest = balanced;
  for_each_division(7, 2, [&](const Layers& layers) {
    fastest = std::min(fastest, simulate(with(e, layers)).makespan_ps);
  });
  CHECK(100 * balanced <= 101 * fastest);
  CHECK(chosen(e)[0] > chosen(e)[1]);  // the head is on the second
}

TEST_CASE("a chosen division is that division given") {
  for (const auto& plan : std::vector<std::vector<std::string>>{
           {},
           {"plan.pipeline_schedule=zb-h1"},
           {"plan.pipeline_schedule=interleaved-1f1b", "plan.virtual_stages=2"},
           {"plan.pipeline_schedule=zb-v"},
           {"plan.pipeline_schedule=dualpipe"},
           {"plan.recompute=full", "plan.pipeline_parallel=2", "plan.context_parallel=2"}}) {
    CAPTURE(plan.empty() ? "1f1b" : plan.front());
    const Experiment e = pipeline(plan);
    const Layers layers = chosen(e);
    CHECK(std::accumulate(layers.begin(), layers.end(), std::int64_t{0}) == 10);
    const Report report = simulate(e);
    CHECK(report.plan.stage_layers == layers);
    check_same_times(report, simulate(with(e, layers)));
    Experiment whole = e;
    whole.simulation.folding = Folding::off;
    check_same_times(report, simulate(whole));
    CHECK(account_memory(e).plan.stage_layers == layers);
    CHECK(run(e).report.plan.stage_layers == layers);
  }
}

// Two nodes of which one has GPUs of about a third of the speed.
TEST_CASE("stages on slower GPUs get fewer layers") {
  const auto on = [](const char* first, const char* second) {
    return read(R"({"model": {"kind": "transformer", "layers": 32, "hidden": 2048, "heads": 16, "vocab": 1000,
                            "seq_length": 1024, "attention": "flash"}, "stack": "ideal",
                    "cluster": {"gpus_per_node": 2, "node": {"kind": "nvswitch", "link_gb_per_s": 100},
                                "fabric": {"nic_gbps": 100},
                                "groups": [{"nodes": 1, "gpu": ")" +
                std::string(first) + R"("}, {"nodes": 1, "gpu": ")" + second + R"("}]},
                    "plan": {"pipeline_parallel": 4, "global_batch_size": 64, "stage_layers": "auto"}})");
  };
  const Experiment mixed = on("a100-80gb", "h100");
  const Layers layers = chosen(mixed);
  CHECK(2 * (layers[0] + layers[1]) < layers[2] + layers[3] + 4);
  CHECK(layers[0] < layers[2]);
  CHECK(simulate(mixed).makespan_ps < simulate(with(mixed, {8, 8, 8, 8})).makespan_ps);
  const Layers other = chosen(on("h100", "a100-80gb"));
  CHECK(other[0] > other[3]);
}

// With 10 layers and a head as long as two, the first of two stages gets 6, which keep two micro-batches.
TEST_CASE("stages get no more layers than they have room for") {
  Experiment e = pipeline({"plan.pipeline_parallel=2", "plan.tensor_parallel=2", "model.vocab=64000"});
  REQUIRE(chosen(e) == Layers{6, 4});
  const Bytes most = account_memory(e).stage_memory[0].reserved();
  e.cluster.gpu.memory_usable_gb = e.cluster.gpu.memory_reserve_gb = 0;
  e.cluster.gpu.memory_gb = static_cast<double>(most) * 1e-9;
  CHECK(chosen(e) == Layers{6, 4});
  CHECK(account_memory(e).feasible);
  e.cluster.gpu.memory_gb = static_cast<double>(most - 1) * 1e-9;
  CHECK(chosen(e) == Layers{5, 5});
  CHECK(account_memory(e).feasible);
  // If nothing fits, the fastest division is reported with its missing memory.
  e.cluster.gpu.memory_gb = 0.001;
  CHECK(chosen(e) == Layers{6, 4});
  CHECK(!account_memory(e).feasible);
}

TEST_CASE("what a plan must be for its stages to be balanced") {
  CHECK_THROWS_WITH_AS(
      (void)simulate(pipeline({"model.layers=100000", "plan.pipeline_parallel=4", "plan.virtual_stages=4",
                               "plan.global_batch_size=4", "plan.pipeline_schedule=interleaved-1f1b"})),
      "/plan/stage_layers: found \"auto\" with 100000 layers on 16 stages, allowed up to "
      "1000000 layers x stages",
      InputError);
}
