// Tests recomputation by module, by number of layers and by method: bytes, FLOPs and the recomputed kernels.
#include <doctest/doctest.h>

#include "tests/workloads/activations.hpp"
#include "tests/workloads/models.hpp"
#include "tests/workloads/recomputation.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;
using orrery::test::kept_by_layer;
using orrery::test::llama;

namespace {

constexpr std::int64_t kSampleLength = 256, kModelWidth = 512, kInnerWidth = 1536;
constexpr std::int64_t kPassTokens = 2 * kSampleLength;  // micro-batches of two

Experiment dense(std::int64_t stages = 2, std::int64_t layers = 8) {
  return experiment(llama(layers, kModelWidth, kInnerWidth, 8, 2, kSampleLength, 4096), 1, stages, 1, 4, 2);
}

Experiment mixture() {
  Experiment e = dense();
  e.model.kind = ModelKind::moe_transformer;
  e.model.experts = 4;
  e.model.experts_per_token = 2;
  e.model.shared_experts = 1;
  e.model.expert_ffn_hidden = 256;
  e.model.moe_layer_frequency = 2;
  return e;
}

Experiment with(Experiment e, ModuleSet modules, std::int64_t layers = 0,
                RecomputeMethod method = RecomputeMethod::block) {
  e.plan.recompute = modules.has(Module::layer) ? Recompute::full : Recompute::modules;
  e.plan.recompute_modules = modules.has(Module::layer) ? ModuleSet{} : modules;
  e.plan.recompute_layers = layers;
  e.plan.recompute_method = method;
  return e;
}

/// FLOPs of the kernels of all ranks that run again.
TotalFlops run_again(const Workload& workload) {
  TotalFlops sum = 0;
  for (const std::uint32_t program : workload.program_of_rank) {
    for (const Op& op : workload.programs[program].ops) {
      if (op.kind == Op::Kind::compute && op.phase == Phase::recompute)
        sum += workload.kernel_sequences[op.work].flops;
    }
  }
  return sum;
}

Bytes kept(const Experiment& e) { return stage_memory(e)[0].activations.total(); }

}  // namespace

TEST_CASE("a module that is computed again keeps its input only") {
  const Experiment e = dense();
  const Bytes stream = 2 * kPassTokens * kModelWidth;
  const Bytes whole = kept_by_layer(e);
  // Outputs of the two norms.
  CHECK(kept_by_layer(e, {Module::norm}) == whole - 2 * stream);
  // Gate, up and their product, 16 bits each; of the activation alone its output.
  CHECK(kept_by_layer(e, {Module::mlp}) == whole - 2 * kPassTokens * 3 * kInnerWidth);
  CHECK(kept_by_layer(e, {Module::activation}) == whole - 2 * kPassTokens * kInnerWidth);
  // Queries and context of 8 heads, keys and values of 2, 64 wide, and a 32-bit log-sum-exp a head.
  const Bytes core = 4 * kPassTokens * 8;
  CHECK(kept_by_layer(e, {Module::core_attention}) == whole - core);
  CHECK(kept_by_layer(e, {Module::attention}) == whole - core - 2 * kPassTokens * (2 * 512 + 2 * 128));
  CHECK(kept_by_layer(e, {Module::attention, Module::core_attention}) ==
        kept_by_layer(e, {Module::attention}));
  // Both residual streams and both outputs of norms stay.
  CHECK(kept_by_layer(e, {Module::attention, Module::mlp}) == 4 * stream);
  CHECK(kept_by_layer(e, {Module::layer}) == stream);
}

TEST_CASE("of operations every other product is kept, and attention") {
  // Input of the layer, queries, values, context, gate and output of the MLP, 16 bits each; log-sum-exp.
  const std::int64_t values = kModelWidth + 512 + 128 + 512 + kInnerWidth + kModelWidth;
  CHECK(kept_by_layer(dense(), {Module::operations}) == 2 * kPassTokens * values + 4 * kPassTokens * 8);
  // Keys, projection and up.
  const std::int64_t weights = kModelWidth * 128 + 512 * kModelWidth + kModelWidth * kInnerWidth;
  const Workload w = lower(with(dense(), {Module::operations}));
  CHECK(run_again(w) == TotalFlops{8} * kSampleLength * 8 * 2 * weights);
  CHECK(run_again(w) == w.hardware_flops - w.model_flops);
  // Without a gate: keys, projection and down.
  const Experiment plain = experiment(gpt(8, kModelWidth, 8, kSampleLength, 4096), 2, 2, 1, 4, 2);
  const Workload ungated = lower(with(plain, {Module::operations}));
  CHECK(run_again(ungated) == ungated.hardware_flops - ungated.model_flops);
}

TEST_CASE("inputs of products are kept as they were cast") {
  Experiment e = dense();
  e.plan.precision = Precision::fp8;
  const Bytes wide = kept(e);
  e.software.keeps_narrow_inputs = true;
  // Eight layers' worth (two micro-batches of four): two outputs of norms and that of the activation lose a
  // byte a value; of the context there is a copy of one byte more.
  const std::int64_t lost = 2 * kModelWidth + kInnerWidth - 512;
  CHECK(kept(e) == wide - 8 * kPassTokens * lost);
  // With the core computed again its own copy of the context goes, and a 32-bit log-sum-exp a head.
  CHECK(kept(with(e, {Module::core_attention})) == kept(e) - 8 * kPassTokens * (2 * 512 + 4 * 8));
  e.plan.precision = Precision::bf16;
  CHECK(kept(e) == wide);
}

TEST_CASE("inputs of activation functions may be kept in 8 bits") {
  Experiment e = dense();
  const Bytes wide = kept(e);
  e.software.keeps_narrow_activation_inputs = true;
  // Two inputs of the gated activation lose a byte a value, in eight layers' worth.
  CHECK(kept(e) == wide - 8 * kPassTokens * 2 * kInnerWidth);
  // Values of blocks have scales: 33 bytes for 32 values.
  e.plan.precision = Precision::fp8_blockwise;
  CHECK(kept(e) == wide - 8 * kPassTokens * 2 * kInnerWidth * 31 / 32);
  // None are kept where the MLP is computed again.
  const Experiment again = with(e, {Module::mlp});
  Experiment as_they_are = again;
  as_they_are.software.keeps_narrow_activation_inputs = false;
  CHECK(kept(again) == kept(as_they_are));
}

TEST_CASE("what runs again does the FLOPs of the formula") {
  const std::int64_t tokens = 8 * kSampleLength;
  const std::int64_t mlp = 2 * 3 * kModelWidth * kInnerWidth;
  CHECK(run_again(lower(with(dense(), {Module::mlp}))) == tokens * 8 * mlp);
  CHECK(run_again(lower(with(dense(), {Module::norm, Module::activation}))) == 0);
  // The first three of the four layers of each of two stages.
  CHECK(run_again(lower(with(dense(), {Module::mlp}, 3))) == tokens * 6 * mlp);
  for (Experiment e : {dense(), mixture()}) {
    e.model.attention = Attention::core;  // fused kernels are priced with the causal half only
    for (const ModuleSet modules :
         {ModuleSet{Module::attention}, ModuleSet{Module::core_attention}, ModuleSet{Module::mlp},
          ModuleSet{Module::layer}, ModuleSet{Module::mlp, Module::attention, Module::norm}}) {
      for (const std::int64_t layers : {0, 1, 3}) {
        for (const RecomputeMethod method : {RecomputeMethod::block, RecomputeMethod::uniform}) {
          if (method == RecomputeMethod::uniform && layers > 1 && !modules.has(Module::layer)) continue;
          const Workload w = lower(with(e, modules, layers, method));
          CHECK(run_again(w) == w.hardware_flops - w.model_flops);
          test::check_activations(w);
        }
      }
    }
  }
}

TEST_CASE("experts that are computed again keep the output of the norm before them") {
  const Experiment e = mixture();
  const Bytes before = kept(e);
  // Four layers a stage, two of them with experts, two micro-batches in flight: router (logit and probability
  // in 32 bits), two rows a token with gate, up and product, and the same of the shared expert.
  const Bytes layer =
      8 * kPassTokens * 4 + 2 * (2 * kPassTokens * (kModelWidth + 3 * 256) + kPassTokens * 3 * 256);
  CHECK(kept(with(e, {Module::experts})) == before - 2 * 2 * layer);
  CHECK(kept(with(e, {Module::experts}, 1)) == before);  // the first layer is dense
  CHECK(kept(with(e, {Module::experts}, 2)) == before - 2 * layer);
}

TEST_CASE("groups keep the input of their first layer and hold the rest while they run backward") {
  const Bytes stream = 2 * kPassTokens * kModelWidth;
  const Experiment e = dense();
  const Bytes layer = kept_by_layer(e);
  const auto memory = [&](std::int64_t layers) {
    return stage_memory(with(e, {Module::layer}, layers, RecomputeMethod::uniform))[0];
  };
  // Two micro-batches of four layers.
  CHECK(memory(0).activations.total() == 2 * 4 * stream);
  CHECK(memory(1).activations.total() == 2 * 4 * stream);
  CHECK(memory(2).activations.total() == 2 * 2 * stream);
  CHECK(memory(4).activations.total() == 2 * stream);
  // Groups of three and one: most is held when the three run backward, and the one has been freed.
  CHECK(memory(3).activations.total() == (2 * 2 - 1) * stream);
  CHECK(memory(1).workspace.recomputed == layer - stream);
  CHECK(memory(2).workspace.recomputed == 2 * layer - stream);
  CHECK(memory(4).workspace.recomputed == 4 * layer - stream);
  // The first layers of a stage: the others keep all.
  const Experiment some = with(e, {Module::layer}, 1);
  CHECK(kept(some) == 2 * (stream + 3 * layer));
}

TEST_CASE("stages compute as many layers again as each is told") {
  const Bytes stream = 2 * kPassTokens * kModelWidth;
  const Experiment e = dense();
  const Bytes layer = kept_by_layer(e);
  Experiment some = with(e, {Module::layer});
  some.plan.recompute_stage_layers = {3, 0};
  // Two micro-batches of four layers on the first stage, three of them by their inputs; one on the second.
  const std::vector<StageMemory> memory = stage_memory(some);
  CHECK(memory[0].activations.total() == 2 * (3 * stream + layer));
  CHECK(memory[1].activations.total() == stage_memory(e)[1].activations.total());
  some.model.attention = Attention::core;  // fused kernels are priced with the causal half only
  const Workload w = lower(some);
  CHECK(run_again(w) == w.hardware_flops - w.model_flops);
  test::check_activations(w);
  // Three layers of each stage are as many as recompute_layers of 3 gives.
  some.model.attention = e.model.attention;
  some.plan.recompute_stage_layers = {3, 3};
  CHECK(lower(some).hardware_flops == lower(with(e, {Module::layer}, 3)).hardware_flops);
  CHECK(stage_memory(some)[0].total() == stage_memory(with(e, {Module::layer}, 3))[0].total());
}

TEST_CASE("latent attention makes queries, keys and values again from its latent vectors") {
  Experiment e = dense();
  e.model.latent_attention = {128, 64, 16, 32, 32};
  e.model.head_dim = 0;
  e.model.kv_heads = 8;
  // 8 heads: queries of 48, keys of 48, values of 32.
  CHECK(kept_by_layer(e, {Module::latent_projection}) ==
        kept_by_layer(e) - 2 * kPassTokens * 8 * (48 + 48 + 32));
  const Workload w = lower(with(e, {Module::latent_projection}));
  // Queries from 128, keys without positions and values from 64.
  CHECK(run_again(w) == TotalFlops{8} * kSampleLength * 8 * 2 * (128 * 8 * 48 + 64 * 8 * (32 + 32)));
  CHECK(run_again(w) == w.hardware_flops - w.model_flops);
}
