// Searches leave out plans by bounds; these tests compare the bounds with simulations of randomly drawn
// plans.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "planner/space/points.hpp"
#include "sim/bounds/step_time_bound.hpp"
#include "sim/run/prepare.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

namespace orrery {
namespace {

struct BoundCase {
  const char* name;
  const char* experiment;
  const char* space;
};

constexpr BoundCase kBoundCases[] = {
    {"dense", R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 4},
        "plan": {"global_batch_size": 64}})",
     R"({"plan.tensor_parallel": "1..8*2", "plan.pipeline_parallel": "1..8*2", "plan.micro_batch_size": [1, 2, 4],
         "plan.pipeline_schedule": ["1f1b", "gpipe", "interleaved-1f1b", "zb-h1", "zb-h2"],
         "plan.virtual_stages": [1, 2, 3], "plan.recompute": "auto", "plan.zero_stage": "auto",
         "plan.overlap_gradient_reduce": "auto", "plan.overlap_parameter_gather": "auto",
         "plan.sequence_parallel": "auto", "plan.rank_order": ["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "dp-cp-ep-tp-pp"]})"},
    {"experts", R"({"model": "mixtral-8x7b", "cluster": {"base": "dgx-h100", "nodes": 4},
        "plan": {"global_batch_size": 64}})",
     R"({"plan.tensor_parallel": "1..8*2", "plan.pipeline_parallel": "1..4*2", "plan.expert_parallel": "1..8*2",
         "plan.pipeline_schedule": ["1f1b", "interleaved-1f1b", "zb-v", "dualpipe"], "plan.virtual_stages": [1, 2],
         "plan.zero_stage": "auto", "plan.overlap_expert_parallel": "auto", "plan.overlap_gradient_reduce": "auto"})"},
    {"passes side by side",
     R"({"model": {"base": "deepseek-v2", "layers": 13}, "cluster": {"base": "dgx-h100", "nodes": 4},
        "plan": {"global_batch_size": 96, "overlap_expert_parallel": true}})",
     R"({"plan.tensor_parallel": [1, 2], "plan.pipeline_parallel": [1, 2, 4], "plan.expert_parallel": [4, 8, 16],
         "plan.expert_tensor_parallel": [1, 2], "plan.sequence_parallel": "auto",
         "plan.pipeline_schedule": ["1f1b", "interleaved-1f1b", "dualpipe", "dualpipe-v"], "plan.virtual_stages": [1, 2, 3],
         "plan.recompute": ["none", "full", {"modules": ["norm", "latent-projection", "activation"]}, {"modules": ["moe"]}],
         "plan.dispatcher": "auto", "plan.overlap_shared_experts": "auto", "plan.zero_stage": [0, 1],
         "software.dispatch_waits_for_host": [false, true]})"},
    {"long sequences", R"({"model": {"base": "llama-7b", "seq_length": 16384},
        "cluster": {"base": "dgx-h100", "nodes": 2}, "plan": {"global_batch_size": 16}})",
     R"({"plan.tensor_parallel": "1..4*2", "plan.context_parallel": "1..4*2", "plan.pipeline_parallel": [1, 2],
         "plan.context_parallel_type": "auto", "plan.zero_stage": "auto", "plan.reshard_after_forward": "auto",
         "plan.prefetch": [0, 1], "plan.recompute": "auto", "plan.overlap_tensor_parallel": "auto"})"},
    {"one step after the other", R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2},
        "simulation": {"steps": 3}, "plan": {"global_batch_size": 32}, "software": {"jitter": 0.05}})",
     R"({"plan.tensor_parallel": [1, 2, 8], "plan.pipeline_parallel": [1, 2, 4], "plan.zero_stage": "auto",
         "plan.overlap_gradient_reduce": "auto", "plan.overlap_parameter_gather": "auto",
         "plan.gradient_reduction": "auto", "plan.bucket_mb": [1, 25, 1000]})"},
};

constexpr Figures kTimeAlone{false, false, false, false, false, false, true};

/// Some index below `size`, the same everywhere.
std::uint64_t drawn(std::uint64_t& state, std::uint64_t size) {
  state = ContentHash::scramble(state + 0x9e3779b97f4a7c15);
  return state % size;
}

Picoseconds bound_of(const Experiment& experiment, Memo& memo) {
  const PreparedExperiment prepared = prepare(experiment, memo);
  return std::max(least_makespan(prepared, memo).most(), least_scheduled_makespan(prepared, memo));
}

TEST_CASE("no step is shorter than its bound, and none shorter with contention than without") {
  for (const BoundCase& bound_case : kBoundCases) {
    const Space space(read_space(bound_case.space, "space.json"), {"experiment.json", bound_case.experiment},
                      Catalog::embedded(), menus());
    PointReader reader(space);
    Simulator simulator;
    Memo memo;
    std::uint64_t state = 1;
    int checked = 0;
    double tightest = 0;
    for (int draw = 0; draw < 4000 && checked < test::trials(60); ++draw) {
      const PointOrRemoval read = reader.read(drawn(state, space.size()));
      const auto* point = std::get_if<Point>(&read);
      if (point == nullptr) continue;
      ++checked;
      INFO(bound_case.name << ": " << words_of(space.keys(), point->values));
      const Picoseconds bound = bound_of(point->experiment, memo);
      Experiment experiment = point->experiment;
      experiment.simulation.network = Network::alpha_beta;
      const Picoseconds alone = simulator.simulate(experiment, kTimeAlone).makespan_ps;
      experiment.simulation.network = Network::flow;
      const Picoseconds together = simulator.simulate(experiment, kTimeAlone).makespan_ps;
      CHECK(bound <= alone);
      CHECK(alone <= together);
      tightest = std::max(tightest, static_cast<double>(bound) / static_cast<double>(alone));
    }
    CHECK(checked >= test::trials(40));
    CHECK(tightest > 0.7);  // it says something
  }
}

/// Nothing where a fabric drawn by lot has no room for the cluster.
std::optional<Picoseconds> bound_if_any(const Experiment& experiment, Memo& memo) {
  try {
    return bound_of(experiment, memo);
  } catch (const InputError&) {
    return {};
  }
}

TEST_CASE("no random experiment is shorter than its bound") {
  Memo memo;
  int checked = 0;
  for (std::uint64_t seed = 0; seed < test::trials(160); ++seed) {
    test::RandomExperiment random(seed);
    const std::string text = seed % 2 == 0 ? random.text() : random.text_with_software();
    INFO(text);
    Experiment experiment = test::read(text);
    const std::optional<Picoseconds> bound = bound_if_any(experiment, memo);
    if (!bound) continue;
    ++checked;
    experiment.simulation.network = Network::alpha_beta;
    const Picoseconds alone = simulate(experiment).makespan_ps;
    experiment.simulation.network = Network::flow;
    CHECK(*bound <= alone);
    CHECK(alone <= simulate(experiment).makespan_ps);
  }
  CHECK(checked > test::trials(120));
}

TEST_CASE("the bound of a pipeline grows by what a micro-batch takes in the steady state") {
  // Two equal stages of 1F1B without anything else: from the second micro-batch on, each adds the forward and
  // the backward pass of a stage to the step, and to the bound.
  const char* const text = R"({"stack": "ideal", "model": {"kind": "mlp", "layers": 2, "hidden": 8192,
      "seq_length": 2048}, "cluster": {"base": "dgx-a100-80gb", "gpus_per_node": 2},
      "plan": {"pipeline_parallel": 2, "micro_batch_size": 1, "global_batch_size": 4, "precision": "bf16"}})";
  const Space space(read_space(R"({"plan.global_batch_size": [4, 7]})", "space.json"),
                    {"experiment.json", text}, Catalog::embedded(), menus());
  PointReader reader(space);
  Memo memo;
  std::vector<Picoseconds> bounds;
  std::vector<Picoseconds> steps;
  for (const std::uint64_t index : {0, 1}) {
    const Experiment experiment = std::get<Point>(reader.read(index)).experiment;
    bounds.push_back(least_makespan(prepare(experiment, memo), memo).passes);
    steps.push_back(simulate(experiment).makespan_ps);
  }
  CHECK(bounds[1] - bounds[0] == steps[1] - steps[0]);
  CHECK(bounds[0] < steps[0]);
}

}  // namespace
}  // namespace orrery
