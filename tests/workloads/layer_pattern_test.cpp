// Tests models that describe each of their layers.
#include <doctest/doctest.h>

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

LayerRun run_of(const Model& model, std::int64_t layers, LayerAttention attention, LayerMlp mlp) {
  return {layers, attention, mlp, model.heads, model.kv_heads, model.ffn_hidden};
}

/// Windows in two of three layers, experts in all but the first.
Model mixture() {
  Model model = llama(6, 512, 1536, 8, 4, 1024, 256);
  model.kind = ModelKind::moe_transformer;
  model.window = 256;
  model.window_pattern = 3;
  model.experts = 8;
  model.experts_per_token = 2;
  model.expert_ffn_hidden = 768;
  model.dense_layers = 1;
  return model;
}

/// Returns a model like Nemotron's searched ones: layers without attention, without an MLP, and of several
/// widths.
Model searched() {
  Model model = gpt(8, 512, 8, 256, 4096);
  const LayerRun usual = run_of(model, 1, LayerAttention::full, LayerMlp::dense);
  LayerRun narrow = usual;
  narrow.layers = 2;
  narrow.kv_heads = 2;
  narrow.ffn_hidden = 768;
  LayerRun fewer_heads = usual;
  fewer_heads.heads = 4;
  fewer_heads.kv_heads = 4;
  model.layer_pattern = {usual, narrow, run_of(model, 2, LayerAttention::none, LayerMlp::dense),
                         run_of(model, 2, LayerAttention::full, LayerMlp::none), fewer_heads};
  return model;
}

}  // namespace

TEST_CASE("a list of layers is the model that short keys describe") {
  const Model model = mixture();
  Model listed = model;
  listed.window_pattern = listed.dense_layers = 0;
  const auto run = [&](LayerAttention attention, LayerMlp mlp) { return run_of(model, 1, attention, mlp); };
  using enum LayerAttention;
  listed.layer_pattern = {run(window, LayerMlp::dense),   run(window, LayerMlp::experts),
                          run(full, LayerMlp::experts),   run(window, LayerMlp::experts),
                          run(window, LayerMlp::experts), run(full, LayerMlp::experts)};
  CHECK(listed.windowed_layers() == 4);
  CHECK(listed.moe_layers() == 5);
  CHECK(transformer_parameters(listed) == transformer_parameters(model));
  CHECK(transformer_model_flops(listed, 8) == transformer_model_flops(model, 8));
  const auto written = [](const Model& of) { return lower(experiment(of, 2, 3, 2, 4)); };
  const Workload short_keys = written(model);
  const Workload list = written(listed);
  for (std::size_t stage = 0; stage < 3; ++stage)
    CHECK(list.stage_memory[stage].total() == short_keys.stage_memory[stage].total());
  CHECK(list.kernel_sequences == short_keys.kernel_sequences);
  CHECK(list.messages == short_keys.messages);
  CHECK(list.model_flops == short_keys.model_flops);
  CHECK(list.active_parameters == short_keys.active_parameters);
}

TEST_CASE("a pattern is repeated to the last layer") {
  Model model = mixture();
  Model listed = model;
  model.dense_layers = listed.dense_layers = 0;
  listed.window_pattern = 0;
  listed.layer_pattern = {run_of(model, 2, LayerAttention::window, LayerMlp::experts),
                          run_of(model, 1, LayerAttention::full, LayerMlp::experts)};
  for (std::int64_t layer = 0; layer < 6; ++layer) CHECK(listed.layer(layer) == model.layer(layer));
}

// Attention of q heads and k key/value heads of 64 on a stream of 512: 512 x 64 (2 q + 2 k) weights, biases
// of 64 (q + 2 k) and 512, a layer norm of 1024. An MLP of f: 2 x 512 f, biases of f and 512, a layer norm.
TEST_CASE("layers of several widths, and without a half") {
  const auto attention = [](std::int64_t q, std::int64_t k) {
    return 512 * 64 * (2 * q + 2 * k) + 64 * (q + 2 * k) + 512 + 1024;
  };
  const auto mlp = [](std::int64_t f) { return 2 * 512 * f + f + 512 + 1024; };
  const std::int64_t layers = attention(8, 8) + mlp(2048) + 2 * (attention(8, 2) + mlp(768)) + 2 * mlp(2048) +
                              2 * attention(8, 8) + attention(4, 4) + mlp(2048);
  const Model model = searched();
  CHECK(transformer_parameters(model) == layers + 1024 + (4096 + 256) * 512);
  const Workload w = lower(experiment(model, 1, 1, 1, 2));
  CHECK(w.stage_memory[0].parameters_count == transformer_parameters(model));
  // Scores and context: 4 x 256 x 64 FLOPs a token and head.
  const TotalFlops weights = 512 * 64 * (32 + 2 * 20 + 2 * 32 + 16) + 2 * 512 * (4 * 2048 + 2 * 768);
  const TotalFlops core = TotalFlops{4} * 256 * 64 * (8 + 2 * 8 + 2 * 8 + 4);
  CHECK(w.model_flops == TotalFlops{2} * 256 * 3 * (2 * weights + core + 2 * 512 * 4096));
}

TEST_CASE("the kernels of all ranks do the FLOPs of the formula with layers that differ") {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (const std::int64_t group : {1, 2}) {
      Experiment e = experiment(searched(), 2, 2, 2, 4, 2);
      e.plan.recompute = recompute;
      e.plan.recompute_layers = group;
      e.plan.sequence_parallel = group == 2;
      const Workload w = lower(e);
      CHECK(flops_of_programs(w, false) == w.model_flops);
      CHECK(flops_of_programs(w, true) == w.hardware_flops - w.model_flops);
    }
  }
}

TEST_CASE("memory deltas of layers that differ return to zero and peak where the formula says") {
  for (const char* schedule : {"sequential", "1f1b", "interleaved-1f1b", "zb-h1"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      CAPTURE(schedule);
      Experiment e = experiment(searched(), 2, 4, 1, 8);
      e.plan.pipeline_schedule = schedule;
      e.plan.recompute = recompute;
      if (std::string(schedule) == "interleaved-1f1b") e.plan.virtual_stages = 2;
      test::check_activations(lower(e));
    }
  }
}

TEST_CASE("a layer without attention keeps its input where it is computed again") {
  Model model = searched();
  model.layer_pattern = {run_of(model, 1, LayerAttention::none, LayerMlp::dense)};
  Experiment e = experiment(model, 1, 1, 1, 1);
  e.plan.recompute = Recompute::full;
  const std::int64_t stream = 256 * 512 * 2;
  // Eight inputs, the embedding's mask, inputs of norm and logits, 32-bit logits.
  CHECK(lower(e).stage_memory[0].activations.total() ==
        8 * stream + stream / 2 + 2 * stream + 4 * 256 * 4096);
}
