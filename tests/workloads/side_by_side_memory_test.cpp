// Checks the memory of a rank while a forward and a backward pass run side by side: block by block, as the
// programs run them.
#include <doctest/doctest.h>

#include <string>

#include "tests/workloads/activations.hpp"
#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::llama;

namespace {

constexpr std::int64_t kMixtureLayers = 8;

/// Experts shared out between two ranks, whose messages the passes hide.
Experiment mixture(std::int64_t stages, std::int64_t micro_batches, const char* schedule) {
  Model model = llama(kMixtureLayers, 256, 512, 4, 4, 128, 512);
  model.kind = ModelKind::moe_transformer;
  model.experts = 4;
  model.experts_per_token = 2;
  model.expert_ffn_hidden = 256;
  Experiment e = experiment(model, 1, stages, 2, micro_batches);
  e.plan.expert_parallel = 2;
  e.plan.overlap_expert_parallel = true;
  e.plan.pipeline_schedule = schedule;
  if (find_pipeline_schedule(schedule)->chunks != 1) e.plan.virtual_stages = 2;
  return e;
}

Bytes experts_kept(const Experiment& e) { return stage_memory(e)[0].activations[ActivationKind::experts]; }

}  // namespace

TEST_CASE("a forward pass beside a backward pass holds two layers more, not a micro-batch") {
  // One micro-batch is held when the next begins. Its layers end one by one while those of the next begin:
  // one has begun before the first ends, and a second one before the next.
  Experiment e = mixture(1, 6, "1f1b");
  const std::int64_t tokens = 128;
  // A layer: logits and probabilities of 4 experts, 2 rows of 256 values, gate, up and product of 256 each.
  const Bytes layer = tokens * (4 * 8 + 2 * (256 + 3 * 256) * 2);
  CHECK(experts_kept(e) == (kMixtureLayers + 2) * layer);
  e.plan.overlap_expert_parallel = false;
  CHECK(experts_kept(e) == kMixtureLayers * layer);
  // One micro-batch has no other beside it.
  Experiment alone = mixture(1, 1, "1f1b");
  CHECK(experts_kept(alone) == kMixtureLayers * layer);
  // Without messages to hide nothing takes turns: the next pass is over before the first block ends.
  Experiment at_once = mixture(1, 6, "1f1b");
  at_once.plan.expert_parallel = 1;
  CHECK(experts_kept(at_once) == 2 * kMixtureLayers * layer);
}

TEST_CASE("passes side by side peak where their operations say") {
  for (const char* schedule : {"1f1b", "interleaved-1f1b", "dualpipe", "dualpipe-v"}) {
    const bool alone = std::string(schedule) == "1f1b";
    for (const std::int64_t dense : {0, 3}) {
      for (const ModuleSet modules : {ModuleSet{}, ModuleSet{Module::norm, Module::activation},
                                      ModuleSet{Module::experts}, ModuleSet{Module::layer}}) {
        Experiment e = mixture(alone ? 1 : 2, 12, schedule);
        e.model.dense_layers = dense;
        e.plan.recompute = modules.has(Module::layer) ? Recompute::full
                           : modules.empty()          ? Recompute::none
                                                      : Recompute::modules;
        if (e.plan.recompute == Recompute::modules) e.plan.recompute_modules = modules;
        CAPTURE(std::string(schedule));
        CAPTURE(dense);
        CAPTURE(static_cast<int>(e.plan.recompute));
        test::check_activations(lower(e));
      }
    }
  }
}

TEST_CASE("groups of layers that are computed again send tokens before their last one runs backward") {
  Experiment e = mixture(1, 6, "1f1b");
  e.plan.recompute = Recompute::full;
  e.plan.recompute_method = RecomputeMethod::uniform;
  e.plan.recompute_layers = 2;
  test::check_activations(lower(e));
}
