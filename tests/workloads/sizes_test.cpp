// Parameters, FLOPs and memory against published figures and formulas.
#include <doctest/doctest.h>

#include "tests/workloads/activations.hpp"
#include "tests/workloads/models.hpp"
#include "tests/workloads/program_flops.hpp"
#include "tests/workloads/recomputation.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::flops_of_programs;
using orrery::test::gpt;
using orrery::test::llama;

TEST_CASE("published parameter counts") {
  CHECK(transformer_parameters(llama(32, 4096, 11008, 32, 32, 2048, 32000)) == 6'738'415'616);   // LLaMA 7B
  CHECK(transformer_parameters(llama(80, 8192, 22016, 64, 64, 2048, 32000)) == 65'285'660'672);  // LLaMA 65B
  CHECK(transformer_parameters(llama(32, 4096, 14336, 32, 8, 8192, 128256)) ==
        8'030'261'248);  // Llama 3.1 8B
  // GPT by Narayanan et al. 2021, equation 2: 12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)), and 2 h of the
  // final norm.
  const Model model = gpt(80, 12288, 96, 2048, 51200);
  const std::int64_t h = 12288;
  CHECK(transformer_parameters(model) == 12 * 80 * h * h + 13 * 80 * h + (51200 + 2048) * h + 2 * h);
}

TEST_CASE("Megatron's FLOPs to the last digit") {
  // F = 96 B s l h^2 (1 + s/6h + V/16lh) = 96 B s l h^2 + 16 B s^2 l h + 6 B s h V, with full recompute.
  const std::int64_t batch = 2304, s = 2048, l = 80, h = 12288, vocab = 51200;
  const Model model = gpt(l, h, 96, s, vocab);
  const TotalFlops expected = TotalFlops{96} * batch * s * l * h * h +
                              TotalFlops{16} * batch * s * s * l * h + TotalFlops{6} * batch * s * h * vocab;
  CHECK(transformer_model_flops(model, batch) + test::flops_again(model, batch, Recompute::full) == expected);
  // Without: 72 B s l h^2 (1 + s/6h + V/12lh); selective repeats scores and context, 4 B s^2 l h.
  CHECK(transformer_model_flops(model, batch) == TotalFlops{72} * batch * s * l * h * h +
                                                     12 * batch * s * s * l * h +
                                                     TotalFlops{6} * batch * s * h * vocab);
  CHECK(test::flops_again(model, batch, Recompute::selective) == 4 * batch * s * s * l * h);
}

TEST_CASE("the kernels of all ranks do the FLOPs of the formula") {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (const bool sequence : {false, true}) {
      Experiment e = experiment(gpt(8, 512, 8, 256, 4096), 2, 2, 2, 4, 2);
      e.plan.recompute = recompute;
      e.plan.sequence_parallel = sequence;
      const Workload w = lower(e);
      CHECK(flops_of_programs(w, false) == w.model_flops);
      CHECK(flops_of_programs(w, true) == w.hardware_flops - w.model_flops);
    }
  }
  Experiment e = experiment(llama(4, 512, 1536, 8, 2, 256, 4096), 2, 1, 1, 3);
  e.model.attention = Attention::core;  // fused kernels are priced with the causal half only
  const Workload w = lower(e);
  CHECK(flops_of_programs(w, false) == w.model_flops);
}

TEST_CASE("activations of a layer: Korthikanti et al. 2022, table 2") {
  const std::int64_t s = 2048, b = 4, h = 6144, a = 64, t = 8;
  const std::int64_t sbh = s * b * h;
  const std::int64_t scores = 5 * a * s * s * b;  // 5 a s / h of sbh
  Experiment e = experiment(gpt(48, h, a, s, 51200), 1, 1, 1, 1, b);
  CHECK(test::kept_by_layer(e) == 34 * sbh + scores);
  e.plan.tensor_parallel = t;
  CHECK(test::kept_by_layer(e) == 10 * sbh + (24 * sbh + scores) / t);
  CHECK(test::kept_by_layer(e, {Module::layer}) == 2 * sbh);
  e.plan.sequence_parallel = true;
  CHECK(test::kept_by_layer(e) == (34 * sbh + scores) / t);
  CHECK(test::kept_by_layer(e, {Module::core_attention}) == 34 * sbh / t);
}

TEST_CASE("memory of a stage: ZeRO, and activations in flight") {
  Experiment e = experiment(gpt(8, 512, 8, 256, 4096), 1, 4, 4, 8, 2);
  const std::int64_t sbh = 256 * 2 * 512, layer = 34 * sbh + 5 * 8 * 256 * 256 * 2;
  std::vector<StageMemory> stages = stage_memory(e);
  // 1F1B keeps p - s micro-batches on stage s, two layers each; the first holds the embedding's mask.
  CHECK(stages[0].activations.total() == 4 * (2 * layer + sbh));
  CHECK(stages[1].activations.total() == 3 * 2 * layer);
  CHECK(stages[2].activations.total() == 2 * 2 * layer);
  // The last adds inputs of final norm and projection and 32-bit logits: 4 sbh (1 + V/h).
  CHECK(stages[3].activations.total() == 2 * layer + 4 * sbh + 4 * 256 * 2 * 4096);
  // GPipe keeps all eight, sequential one.
  e.plan.pipeline_schedule = "gpipe";
  CHECK(stage_memory(e)[1].activations.total() == 8 * 2 * layer);
  e.plan.pipeline_schedule = "sequential";
  CHECK(stage_memory(e)[1].activations.total() == 2 * layer);
  // Interleaved: L/p (1 + (p-1)/(pv)) layers' worth of p micro-batches: pv + p - 1 = 11 chunks of one layer.
  e.plan.pipeline_schedule = "interleaved-1f1b";
  e.plan.virtual_stages = 2;
  // Eight of them are chunk 0, which holds the embedding's mask, when its eighth forward pass has run.
  CHECK(stage_memory(e)[0].activations.total() == 11 * layer + 8 * sbh);

  // Rajbhandari et al. 2020, figure 1: 2 + 2 + 12 bytes a parameter, sharded over d = 4 by stage.
  e.plan.virtual_stages = 1;
  const std::int64_t params = stage_memory(e)[1].parameters_count;
  CHECK(params == 2 * (12 * 512 * 512 + 13 * 512));
  const auto of = [&](int zero) {
    e.plan.zero_stage = zero;
    const StageMemory m = stage_memory(e)[1];
    return std::array<Bytes, 3>{m.parameters, m.gradients, m.optimizer()};
  };
  CHECK(of(0) == std::array<Bytes, 3>{2 * params, 2 * params, 12 * params});
  CHECK(of(1) == std::array<Bytes, 3>{2 * params, 2 * params, 3 * params});
  CHECK(of(2) == std::array<Bytes, 3>{2 * params, params / 2, 3 * params});
  CHECK(of(3) == std::array<Bytes, 3>{params / 2, params / 2, 3 * params});
}

TEST_CASE("splitting a tensor leaves its memory the same in total and 1/N on each rank") {
  const Model model = gpt(4, 512, 8, 256, 4096);
  const auto weights = [&](std::int64_t t) {
    Experiment e = experiment(model, t, 1, 1, 1);
    const TransformerShape shape(e.model, e.plan);
    return shape.layer_parameters() - 6 * 512;  // norms and the biases added after a sum stay whole
  };
  for (const std::int64_t t : {2, 4, 8}) CHECK(weights(t) * t == weights(1));
}

TEST_CASE("every stage's memory deltas return to zero and peak where the formula says") {
  for (const char* schedule : {"sequential", "gpipe", "1f1b", "interleaved-1f1b"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      Experiment e = experiment(gpt(8, 256, 4, 128, 1024), 2, 4, 1, 8);
      e.plan.pipeline_schedule = schedule;
      e.plan.recompute = recompute;
      if (std::string(schedule) == "interleaved-1f1b") e.plan.virtual_stages = 2;
      test::check_activations(lower(e));
    }
  }
}
