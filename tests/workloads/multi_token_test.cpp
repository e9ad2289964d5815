// Multi-token prediction: parameters, FLOPs, memory and messages of the layers that predict further tokens.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/workloads/activations.hpp"
#include "tests/workloads/models.hpp"
#include "tests/workloads/program_flops.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::flops_of_programs;
using orrery::test::gpt;
using orrery::test::llama;

namespace {

Model predicting(Model model, std::int64_t tokens) {
  model.multi_token_prediction = tokens;
  return model;
}

}  // namespace

TEST_CASE("a depth has a layer, a projection of two vectors and three norms") {
  const std::int64_t h = 512;
  const Model model = gpt(8, h, 8, 256, 4096);
  // Layer norms have 2h parameters each; embedding and head are those of the model.
  const std::int64_t depth = (12 * h * h + 13 * h) + 2 * h * h + 3 * 2 * h;
  CHECK(transformer_parameters(predicting(model, 2)) == transformer_parameters(model) + 2 * depth);
  // 3 x 2 FLOPs a weight of layer, projection and logits, 3 x 4 s h of scores and context, per token.
  const std::int64_t s = 256, tokens = 32 * s;
  CHECK(transformer_model_flops(predicting(model, 2), 32) ==
        transformer_model_flops(model, 32) +
            TotalFlops{2} * tokens * (6 * (12 * h * h + 2 * h * h + 4096 * h) + 12 * s * h));
}

TEST_CASE("the kernels of all ranks do the FLOPs of the formula with further tokens") {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (const bool sequence : {false, true}) {
      Experiment e = experiment(predicting(gpt(8, 512, 8, 256, 4096), 2), 2, 2, 2, 4, 2);
      e.plan.recompute = recompute;
      e.plan.sequence_parallel = sequence;
      const Workload w = lower(e);
      CHECK(flops_of_programs(w, false) == w.model_flops);
      // The projections are recomputed with their layers, and counted with the layers' weights.
      CHECK(flops_of_programs(w, true) == w.hardware_flops - w.model_flops);
    }
  }
}

TEST_CASE("the last stage holds the depths and a copy of the embedding") {
  const std::int64_t h = 512, vocab = 4096;
  const Model model = llama(8, h, 1536, 8, 8, 256, vocab);
  const Workload without = lower(experiment(model, 1, 4, 1, 8));
  const Workload with = lower(experiment(predicting(model, 1), 1, 4, 1, 8));
  CHECK(!without.tied);
  CHECK(with.tied);
  for (std::size_t stage = 0; stage < 3; ++stage)
    CHECK(with.stage_memory[stage].parameters_count == without.stage_memory[stage].parameters_count);
  const std::int64_t layer = 4 * h * h + 3 * h * 1536 + 2 * h;
  CHECK(with.stage_memory[3].parameters_count ==
        without.stage_memory[3].parameters_count + layer + 2 * h * h + 3 * h + vocab * h);
  // One micro-batch: a layer, the embedding of the next tokens, both halves of the projection's input, the
  // inputs of norm and logits, logits in 32 bits.
  const std::int64_t tokens = 256;
  ActivationSum layer_activations({});
  const Experiment e = experiment(model, 1, 4, 1, 8);
  const TransformerShape shape(e.model, e.plan);
  shape.add_attention(layer_activations);
  shape.add_mlp(layer_activations);
  CHECK(with.stage_memory[3].activations.total() - without.stage_memory[3].activations.total() ==
        layer_activations.kept().total() + (3 + 2) * 2 * tokens * h + 4 * tokens * vocab);
  // The gradient of the embedding is summed over both ends once a step.
  const auto sums = [](const Workload& w) {
    return std::ranges::count_if(w.programs.back().ops, [](const Op& op) {
      return op.part == Part::embedding && op.stream == Stream::data;
    });
  };
  CHECK(sums(without) == 0);
  CHECK(sums(with) == 1);
}

TEST_CASE("one stage embeds further tokens with the table it has") {
  const Model model = llama(8, 512, 1536, 8, 8, 256, 4096);
  const Workload w = lower(experiment(predicting(model, 1), 1, 1, 1, 8));
  CHECK(w.stage_memory[0].parameters_count == transformer_parameters(predicting(model, 1)));
}

TEST_CASE("memory deltas of further tokens return to zero and peak where the formula says") {
  for (const char* schedule : {"sequential", "1f1b", "interleaved-1f1b", "zb-h1", "dualpipe"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      Experiment e = experiment(predicting(gpt(8, 256, 4, 128, 1024), 2), 2, 4, 1, 8);
      CAPTURE(schedule);
      e.plan.pipeline_schedule = schedule;
      e.plan.recompute = recompute;
      if (std::string(schedule) == "interleaved-1f1b") e.plan.virtual_stages = 2;
      if (std::string(schedule) == "dualpipe") {
        e.plan.data_parallel = 2;
        e.plan.global_batch_size = 16;
        e.cluster.nodes = 16;
      }
      test::check_activations(lower(e));
    }
  }
}
