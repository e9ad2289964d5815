// Tests backward passes split into the gradients of inputs and those of weights: they do the work of whole
// ones, keep the inputs of the second half, and reduce gradients after it.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "tests/workloads/activations.hpp"
#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;
using orrery::test::llama;

namespace {

using KernelKey = std::tuple<int, std::int64_t, std::int64_t, std::int64_t, std::int64_t, Bytes, Flops>;

/// Counts how often the programs run each kernel, recomputation and the optimizer included.
std::map<KernelKey, std::int64_t> kernels_of(const Workload& w) {
  std::map<KernelKey, std::int64_t> counts;
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops) {
      if (op.kind != Op::Kind::compute) continue;
      for (const Kernel& k : w.kernel_sequences[op.work].kernels)
        ++counts[{static_cast<int>(k.kind), k.batch, k.m, k.n, k.k, k.bytes, k.flops}];
    }
  }
  return counts;
}

/// Messages of each kind and size.
std::map<std::tuple<int, Bytes, int>, std::int64_t> messages_of(const Workload& w) {
  std::map<std::tuple<int, Bytes, int>, std::int64_t> counts;
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops) {
      if (op.kind != Op::Kind::communicate) continue;
      const Message& m = w.messages[op.work];
      ++counts[{static_cast<int>(m.collective), m.bytes, static_cast<int>(m.dimension)}];
    }
  }
  return counts;
}

Experiment split(Experiment e) {
  e.plan.pipeline_schedule = "zb-h1";
  return e;
}

}  // namespace

TEST_CASE("split passes run the kernels and send the messages of whole ones") {
  for (const bool sequence : {false, true}) {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      for (const Model& model : {gpt(8, 512, 8, 256, 4096), llama(8, 512, 1536, 8, 2, 256, 4096)}) {
        CAPTURE(sequence);
        Experiment e = experiment(model, 2, 4, 2, 8);
        e.plan.sequence_parallel = sequence;
        e.plan.recompute = recompute;
        const Workload whole = lower(e);
        const Workload parts = lower(split(e));
        CHECK(kernels_of(parts) == kernels_of(whole));
        CHECK(messages_of(parts) == messages_of(whole));
        CHECK(parts.model_flops == whole.model_flops);
      }
    }
  }
}

TEST_CASE("the other families split as well") {
  Experiment chain = experiment({}, 2, 2, 1, 4);
  chain.model.kind = ModelKind::mlp;
  chain.model.layers = 4;
  chain.model.widths = {64, 128, 64, 256, 64};
  chain.model.seq_length = 1;
  chain.model.tied_embeddings = false;
  Experiment net = experiment({}, 1, 2, 1, 4);
  net.model.kind = ModelKind::convnet;
  net.model.layers = 4;
  net.model.parameters = 4000;
  net.model.seq_length = 1;
  net.model.forward_gflops_per_sample = 1;
  net.model.activations_per_sample = 1000;
  net.model.tied_embeddings = false;
  for (const Experiment& e : {chain, net}) {
    CHECK(kernels_of(lower(split(e))) == kernels_of(lower(e)));
    CHECK(messages_of(lower(split(e))) == messages_of(lower(e)));
  }
}

TEST_CASE("ZB-H1 keeps no more than the first stage of 1F1B") {
  const std::int64_t sbh = 256 * 2 * 512, layer = 34 * sbh + 5 * 8 * 256 * 256 * 2;
  const Experiment e = experiment(gpt(8, 512, 8, 256, 4096), 1, 4, 4, 8, 2);
  const std::vector<StageMemory> whole = stage_memory(e);
  const std::vector<StageMemory> parts = stage_memory(split(e));
  // Stage s runs its forward pass of micro-batch p - 1 when gradients of weights of s micro-batches are put
  // off, for which a layer keeps 32 sbh (Qi et al. 2024, table 1); two layers a stage.
  CHECK(parts[0].activations.total() == whole[0].activations.total());
  CHECK(parts[1].activations.total() == 2 * (3 * layer + 1 * 32 * sbh));
  CHECK(parts[2].activations.total() == 2 * (2 * layer + 2 * 32 * sbh));
  CHECK(parts[1].activations.total() <= 4 * 2 * layer);
}

TEST_CASE("memory deltas of split passes return to zero and peak where the formula says") {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (const Detail detail : {Detail::layer, Detail::stage}) {
      Experiment e = split(experiment(gpt(8, 256, 4, 128, 1024), 2, 4, 1, 8));
      e.plan.recompute = recompute;
      e.simulation.detail = detail;
      test::check_activations(lower(e));
    }
  }
}

TEST_CASE("gradients are reduced when those of the weights are there") {
  for (const int zero : {0, 1, 2, 3}) {
    for (const bool overlap : {false, true}) {
      CAPTURE(zero);
      CAPTURE(overlap);
      Experiment e = split(experiment(gpt(8, 256, 4, 128, 1024), 1, 4, 2, 8));
      e.plan.zero_stage = zero;
      e.plan.overlap_gradient_reduce = overlap;
      const Workload w = lower(e);
      for (const Program& program : w.programs) {
        std::int64_t reductions = 0;
        for (const Op& op : program.ops) {
          if (op.kind != Op::Kind::communicate || op.stream != Stream::data) continue;
          const Collective what = w.messages[op.work].collective;
          if (what != Collective::all_reduce && what != Collective::reduce_scatter) continue;
          ++reductions;
          const auto deps = program.dependencies(op);
          const bool follows = std::ranges::any_of(deps, [&](std::uint32_t dep) {
            const Op& before = program.ops[dep];
            return before.phase == Phase::weight_gradient && (zero >= 2 || before.micro_batch == 7);
          });
          CHECK(follows);
        }
        CHECK(reductions > 0);
      }
    }
  }
}
