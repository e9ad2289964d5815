// Tests recurrent layers: their memory, compute and messages, against arithmetic by hand.
#include "workloads/models/recurrence.hpp"

#include <doctest/doctest.h>

#include "tests/workloads/activations.hpp"
#include "tests/workloads/models.hpp"
#include "tests/workloads/program_flops.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::llama;

namespace {

LayerRun run_of(const Model& model, TokenMixer mixer, LayerMlp mlp) {
  const bool attends = mixer == TokenMixer::attention;
  LayerRun run{1,
               attends ? LayerAttention::full : LayerAttention::none,
               mlp,
               model.heads,
               model.kv_heads,
               model.ffn_hidden};
  run.mixer = mixer;
  return run;
}

/// Seven layers, a prime number: Mamba-2 alone.
Model state_space() {
  Model model = llama(7, 256, 1024, 4, 4, 512, 1000);
  model.mamba2 = {8, 64, 2, 16, 4, 128};
  model.layer_pattern = {run_of(model, TokenMixer::mamba2, LayerMlp::none)};
  return model;
}

/// Three gated delta nets, then attention, all with MLPs.
Model hybrid() {
  Model model = llama(8, 256, 768, 4, 2, 256, 1000);
  model.gated_delta_net = {4, 8, 32, 64, 4};
  const LayerRun net = run_of(model, TokenMixer::gated_delta_net, LayerMlp::dense);
  model.layer_pattern = {net, net, net, run_of(model, TokenMixer::attention, LayerMlp::dense)};
  return model;
}

}  // namespace

// The layer has 8 heads of 64, 2 groups and a state of 16: inner 512, B and C 2 x 2 x 16 = 64, so the first
// product has 2 x 512 + 64 + 8 = 1096 columns. Convolution of 576 channels over 4 tokens with biases 2880; 3
// x 8 values of heads; 512 gains; the product back 512 x 256; the norm before it 256.
TEST_CASE("a Mamba-2 layer has the parameters of its matrices, convolution, heads and gains") {
  const Model model = state_space();
  const std::int64_t layer = 256 * 1096 + 2880 + 24 + 512 + 512 * 256 + 256;
  CHECK(transformer_parameters(model) == 7 * layer + 2 * 1000 * 256 + 256);
  CHECK(lower(experiment(model, 1, 1, 1, 1)).stage_memory[0].parameters_count ==
        transformer_parameters(model));
  // Two tensor ranks have a group each; the gains of the norm before it are on both.
  const std::int64_t half = 256 * 548 + 1440 + 12 + 256 + 256 * 256 + 256;
  CHECK(lower(experiment(model, 2, 1, 1, 1)).stage_memory[0].parameters_count == 7 * half + 1000 * 256 + 256);
}

// 4 key heads of 32 and 8 value heads of 64: keys 128, values 512; queries, keys, values, gate and two values
// a head are 2 x 128 + 2 x 512 + 16 = 1296 columns. Convolution of 768 channels over 4 tokens 3072; decay and
// its bias 2 x 8; gains 64; the product back 512 x 256; the norm 256.
TEST_CASE("a gated delta net beside attention has the parameters of both") {
  const Model model = hybrid();
  const std::int64_t net = 256 * 1296 + 3072 + 16 + 64 + 512 * 256 + 256;
  const std::int64_t attention = 256 * (256 + 2 * 128) + 256 * 256 + 256;
  const std::int64_t mlp = 3 * 256 * 768 + 256;
  CHECK(transformer_parameters(model) == 6 * net + 2 * attention + 8 * mlp + 2 * 1000 * 256 + 256);
}

// Forward, a token: 2 FLOPs a weight of the two products, 7 for each of 8 x 64 x 16 values of the state;
// logits 2 x 256 x 1000. Three times that with the backward pass, of 512 tokens.
TEST_CASE("FLOPs of a state are those that Megatron-LM counts") {
  const TotalFlops layer = 2 * (256 * 1096 + 512 * 256) + 7 * 8192;
  CHECK(transformer_model_flops(state_space(), 1) == TotalFlops{3} * 512 * (7 * layer + 2 * 256 * 1000));
  const TotalFlops net = 2 * (256 * 1296 + 512 * 256) + 2 * 4 * 768 + 8 * 8 * 32 * 64;
  const TotalFlops attention = 2 * (256 * 512 + 256 * 256) + 4 * 256 * 256;
  const TotalFlops mlp = 2 * 3 * 256 * 768;
  CHECK(transformer_model_flops(hybrid(), 2) ==
        TotalFlops{6} * 256 * (6 * net + 2 * attention + 8 * mlp + 2 * 256 * 1000));
}

// A chunk of 128 tokens: C B^T for 2 groups, 2 x 128 x 128 x 16; what it weighs, the state, and the state's
// outputs for 8 heads of 64.
TEST_CASE("the kernels of a forward pass do the products of chunks") {
  const Experiment e = experiment(state_space(), 1, 1, 1, 1);
  const Flops chunk = 2 * 2 * 128 * 128 * 16 + 8 * 2 * (128 * 128 * 64 + 128 * 64 * 16 + 128 * 16 * 64);
  Flops sum = 0;
  for (const Kernel& kernel :
       chunk_kernels(recurrence_of(TokenMixer::mamba2, e.model, 1), e.software, 512, 2))
    sum += kernel.flops;
  CHECK(sum == 4 * chunk);
}

TEST_CASE("memory of layers that recur returns to zero and peaks where the formula says") {
  for (const Model& model : {state_space(), hybrid()}) {
    for (const char* schedule : {"sequential", "1f1b", "zb-h1"}) {
      for (const Recompute recompute : {Recompute::none, Recompute::full}) {
        CAPTURE(schedule);
        Experiment e = experiment(model, 2, model.layers == 7 ? 1 : 4, 1, 8);
        e.plan.pipeline_schedule = e.plan.pipeline_parallel == 1 ? "sequential" : schedule;
        e.plan.recompute = recompute;
        test::check_activations(lower(e));
      }
    }
  }
}

// Ranks exchange the first product's output, 1096 values a token, and get 512 back; backward the other way
// round.
TEST_CASE("ranks that share sequences exchange tokens for heads") {
  Experiment e = experiment(state_space(), 1, 1, 1, 1);
  e.plan.context_parallel = 2;
  e.plan.context_parallel_type = ContextParallelType::all_to_all;
  e.cluster.nodes = 2;
  const Workload w = lower(e);
  Bytes sent = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != Op::Kind::communicate || op.part != Part::recurrence) continue;
    const Message& message = w.messages[op.work];
    CHECK(message.collective == Collective::all_to_all);
    sent += message.bytes;
  }
  CHECK(sent == Bytes{7} * 2 * 256 * (1096 + 512) * 2);
}

// The state of 8 heads, 64 x 16 values of 4 bytes, and three tokens of 576 channels of 2 bytes.
TEST_CASE("a sequence leaves a state behind whose size is fixed") {
  CHECK(recurrence_of(TokenMixer::mamba2, state_space(), 1).state_bytes() == 8 * 64 * 16 * 4 + 3 * 576 * 2);
  CHECK(recurrence_of(TokenMixer::gated_delta_net, hybrid(), 2).state_bytes() ==
        4 * 32 * 64 * 4 + 3 * 384 * 2);
}
