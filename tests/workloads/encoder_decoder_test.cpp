// Encoder and decoder: parameters, FLOPs, memory and messages, by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tests/workloads/activations.hpp"
#include "tests/workloads/models.hpp"
#include "tests/workloads/program_flops.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::flops_of_programs;
using orrery::test::gpt;

namespace {

/// Returns a model like T5 of version 1.0: no biases, RMS norms, relative positions, one embedding for all.
Model t5(std::int64_t layers, std::int64_t hidden, std::int64_t ffn, std::int64_t heads,
         std::int64_t head_dim, std::int64_t encoder_seq, std::int64_t seq, std::int64_t vocab) {
  Model model = gpt(layers, hidden, heads, seq, vocab);
  model.ffn_hidden = ffn;
  model.head_dim = head_dim;
  model.biases = model.qkv_biases = false;
  model.normalization = Normalization::rms_norm;
  model.positions = Positions::relative;
  model.encoder_layers = layers;
  model.encoder_seq_length = encoder_seq;
  return model;
}

Model small_t5() { return t5(4, 512, 1024, 8, 32, 256, 128, 4096); }

/// Returns the messages that a stage sends in a step in a phase, by their bytes.
std::map<Bytes, int> sent(const Program& program, const Workload& w, Stream stream) {
  std::map<Bytes, int> counts;
  for (const Op& op : program.ops)
    if (op.kind == Op::Kind::communicate && op.stream == stream) ++counts[w.messages[op.work].bytes];
  return counts;
}

}  // namespace

// Weights of attention: 4 x 1024 x 128 x 128; of an MLP: 2 x 1024 x 65,536. An encoder's layer has both and
// two norms of 1024, a decoder's attention twice and three norms. Two norms after the stacks, 32 x 128
// relative positions in each, and one table of 32,128 x 1024.
TEST_CASE("T5 with 11 B parameters has 11,307,321,344") {
  const std::int64_t attention = 4 * 1024 * 128 * 128;
  const std::int64_t mlp = 2 * 1024 * 65'536;
  const std::int64_t layers = 24 * (attention + mlp + 2 * 1024) + 24 * (2 * attention + mlp + 3 * 1024);
  const std::int64_t all = layers + 2 * 1024 + 2 * 32 * 128 + 32'128 * 1024;
  CHECK(all == 11'307'321'344);
  CHECK(transformer_parameters(t5(24, 1024, 65'536, 128, 128, 512, 114, 32'128)) == all);
}

// Products with weights on tokens of the encoder: its own layers, and keys and values of cross-attention.
TEST_CASE("FLOPs of an encoder and a decoder") {
  const std::int64_t h = 512, q = 256, s = 128, e = 256, l = 4;
  const std::int64_t attention = 4 * h * q, mlp = 2 * h * 1024;
  const std::int64_t encoder = 2 * (attention + mlp) + 4 * e * q;
  const std::int64_t decoder = 2 * (attention + 2 * h * q + mlp) + 4 * s * q + 4 * e * q;
  const TotalFlops sample = l * (e * encoder + s * decoder) + l * e * 2 * (2 * h * q) + s * 2 * h * 4096;
  CHECK(transformer_model_flops(small_t5(), 6) == 6 * 3 * sample);
}

TEST_CASE("the kernels of all ranks do the FLOPs of the formula with an encoder") {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (const std::int64_t group : {1, 2}) {
      Experiment e = experiment(small_t5(), 2, 2, 2, 4, 2);
      e.plan.recompute = recompute;
      e.plan.recompute_layers = group;
      e.plan.sequence_parallel = group == 2;
      const Workload w = lower(e);
      CHECK(flops_of_programs(w, false) == w.model_flops);
      CHECK(flops_of_programs(w, true) == w.hardware_flops - w.model_flops);
    }
  }
}

TEST_CASE("a split backward pass does the same") {
  Experiment e = experiment(small_t5(), 2, 2, 1, 4, 1);
  e.plan.sequence_parallel = true;
  const Workload whole = lower(e);
  e.plan.pipeline_schedule = "zb-h1";
  const Workload split = lower(e);
  CHECK(flops_of_programs(split, false) == whole.model_flops);
  test::check_activations(split);
}

TEST_CASE("ranks with an end of a stack hold the embedding") {
  const std::int64_t h = 512, q = 256, table = 4096 * h;
  const std::int64_t attention = 4 * h * q, mlp = 2 * h * 1024;
  const Workload alone = lower(experiment(small_t5(), 1, 1, 1, 4));
  CHECK(alone.stage_memory[0].parameters_count == transformer_parameters(small_t5()));
  // Two layers a stage: the table with the encoder's positions, the decoder's with the encoder's norm, and
  // the head's.
  const Workload four = lower(experiment(small_t5(), 1, 4, 1, 8));
  const std::int64_t encoder = 2 * (attention + mlp + 2 * h), decoder = 2 * (2 * attention + mlp + 3 * h);
  CHECK(four.stage_memory[0].parameters_count == encoder + table + 32 * 8);
  CHECK(four.stage_memory[1].parameters_count == encoder);
  CHECK(four.stage_memory[2].parameters_count == decoder + table + h + 32 * 8);
  CHECK(four.stage_memory[3].parameters_count == decoder + table + h);
  // All three add up its gradients once a step.
  for (std::size_t stage = 0; stage < 4; ++stage)
    CHECK(sent(four.programs[four.program_of_rank[stage]], four, Stream::data) ==
          (stage == 1 ? std::map<Bytes, int>{} : std::map<Bytes, int>{{2 * table, 1}}));
  // An output projection of its own needs no copy.
  Model untied = small_t5();
  untied.tied_embeddings = false;
  CHECK(lower(experiment(untied, 1, 4, 1, 8)).stage_memory[3].parameters_count == decoder + table + h);
  CHECK(lower(experiment(untied, 1, 1, 1, 8)).stage_memory[0].parameters_count ==
        transformer_parameters(untied));
}

TEST_CASE("stages of the decoder hand on what the encoder made, and its gradient back") {
  const Workload w = lower(experiment(small_t5(), 1, 4, 1, 8));
  const Bytes encoder = 256 * 512 * 2, decoder = 128 * 512 * 2;
  using Sent = std::map<Bytes, int>;
  const auto of = [&](std::size_t stage, Stream stream) {
    return sent(w.programs[w.program_of_rank[stage]], w, stream);
  };
  CHECK(of(0, Stream::send_forward) == Sent{{encoder, 8}});
  CHECK(of(1, Stream::send_forward) == Sent{{encoder, 8}});
  CHECK(of(2, Stream::send_forward) == Sent{{encoder + decoder, 8}});
  CHECK(of(3, Stream::send_backward) == Sent{{encoder + decoder, 8}});
  CHECK(of(2, Stream::send_backward) == Sent{{encoder, 8}});
}

// Kept of a micro-batch of one sample, in 2 bytes: by the layers what the closed form of a decoder has
// without its scores' causal mask, and the encoder's output once a stage.
TEST_CASE("activations of an encoder and a decoder") {
  Model model = small_t5();
  model.attention = Attention::flash;
  model.dropout = false;
  const Workload w = lower(experiment(model, 1, 4, 1, 8));
  const Bytes h = 512, q = 256, f = 1024, s = 128, e = 256;
  // Inputs of norms and products, queries, keys, values and context, log-sum-exp of 8 heads, the MLP's 2 f.
  const Bytes encoder = e * (2 * (4 * h + 4 * q + 2 * f) + 4 * 8);
  const Bytes cross = s * (2 * (2 * h + 2 * q) + 4 * 8) + e * 2 * 2 * q;
  const Bytes decoder = s * (2 * (4 * h + 4 * q + 2 * f) + 4 * 8) + cross;
  CHECK(w.stage_memory[0].activations.total() == 4 * 2 * encoder);
  CHECK(w.stage_memory[1].activations.total() == 3 * 2 * encoder);
  CHECK(w.stage_memory[2].activations.total() == 2 * (2 * decoder + 2 * 2 * e * h));
  CHECK(w.stage_memory[3].activations.total() == 2 * decoder + 2 * e * h + 2 * 2 * s * h + 4 * s * 4096);
}

TEST_CASE("memory deltas of an encoder and a decoder return to zero and peak where the formula says") {
  for (const char* schedule : {"sequential", "gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "zb-h2"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      CAPTURE(schedule);
      Experiment e = experiment(small_t5(), 2, 4, 1, 8);
      e.plan.pipeline_schedule = schedule;
      e.plan.recompute = recompute;
      if (std::string(schedule) == "interleaved-1f1b") e.plan.virtual_stages = 2;
      test::check_activations(lower(e));
    }
  }
}

TEST_CASE("attention of an encoder is not masked") {
  Model model = small_t5();
  model.attention = Attention::flash;
  const Workload w = lower(experiment(model, 1, 1, 1, 1));
  std::map<std::array<std::int64_t, 2>, Flops> flops;  // by rows and columns, forward
  for (const KernelSequence& work : w.kernel_sequences)
    for (const Kernel& kernel : work.kernels)
      if (kernel.kind == Kernel::Kind::attention && !kernel.backward)
        flops[{kernel.m, kernel.n}] = kernel.flops;
  CHECK(flops == std::map<std::array<std::int64_t, 2>, Flops>{{{256, 256}, 8 * 256 * 256 * 4 * 32LL},
                                                              {{128, 128}, 8 * 128 * 128 / 2 * 4 * 32LL},
                                                              {{128, 256}, 8 * 128 * 256 * 4 * 32LL}});
}
