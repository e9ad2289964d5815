// Context parallelism: what a rank computes, keeps and sends against closed forms.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/workloads/models.hpp"
#include "workloads/models/transformer_shape.hpp"
#include "workloads/programs/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;
using orrery::test::llama;

namespace {

Experiment shared(Model model, std::int64_t ranks, ContextParallelType type, std::int64_t t = 1,
                  std::int64_t p = 1, std::int64_t d = 1) {
  Experiment e = experiment(std::move(model), t, p, d, 2 * p);
  e.plan.context_parallel = ranks;
  e.plan.context_parallel_type = type;
  e.cluster.nodes = e.plan.gpus();
  return e;
}

/// Attention is causal in the kernels, so FLOPs are compared kernel by kernel.
TotalFlops context_flops_of(const Workload& w) {
  TotalFlops sum = 0;
  for (const std::uint32_t program : w.program_of_rank) {
    for (const Op& op : w.programs[program].ops) {
      if (op.kind == Op::Kind::compute) sum += w.kernel_sequences[op.work].flops;
    }
  }
  return sum;
}

/// Bytes of the messages of a program on one stream in one phase.
Bytes sent(const Workload& w, Stream stream, Phase phase, std::size_t program = 0) {
  Bytes sum = 0;
  for (const Op& op : w.programs[program].ops) {
    if (op.kind == Op::Kind::communicate && op.stream == stream && op.phase == phase)
      sum += w.messages[op.work].bytes;
  }
  return sum;
}

constexpr std::array kTypes{ContextParallelType::ring, ContextParallelType::all_to_all};

}  // namespace

TEST_CASE("ranks that share sequences do together what one does alone") {
  const Model model = llama(4, 512, 1536, 8, 4, 256, 4096);
  const TotalFlops alone = context_flops_of(lower(experiment(model, 1, 1, 1, 2)));
  for (const ContextParallelType type : kTypes) {
    for (const std::int64_t ranks : {2, 4}) {
      for (const Recompute recompute : {Recompute::none, Recompute::full}) {
        Experiment one = experiment(model, 1, 1, 1, 2);
        Experiment many = shared(model, ranks, type);
        one.plan.recompute = many.plan.recompute = recompute;
        CHECK(context_flops_of(lower(many)) == context_flops_of(lower(one)));
      }
      CHECK(lower(shared(model, ranks, type)).model_flops ==
            lower(experiment(model, 1, 1, 1, 2)).model_flops);
    }
    CHECK(context_flops_of(lower(shared(model, 2, type, 2, 2, 2))) ==
          4 * alone);  // as many micro-batches per stage
  }
}

TEST_CASE("a ring passes keys and values c - 1 times, and their gradients as often") {
  // s = 256, kv heads 4 of 64: keys and values of a rank take 2 * 256/c * 4 * 64 * 2 bytes; 4 layers, 2
  // micro-batches.
  const Model model = llama(4, 512, 1536, 8, 4, 256, 4096);
  for (const std::int64_t c : {2, 4, 8}) {
    const Workload w = lower(shared(model, c, ContextParallelType::ring));
    const Bytes block = 2 * 256 / c * 4 * 64 * 2;
    CHECK(sent(w, Stream::send_context, Phase::forward) == 4 * 2 * (c - 1) * block);
    CHECK(sent(w, Stream::send_context, Phase::backward) == 2 * 4 * 2 * (c - 1) * block);
    CHECK(sent(w, Stream::recv_context, Phase::backward) == 2 * 4 * 2 * (c - 1) * block);
    CHECK(sent(w, Stream::context, Phase::forward) == 0);
  }
}

TEST_CASE("heads are exchanged for tokens and back") {
  const Model model = llama(4, 512, 1536, 8, 4, 256, 4096);
  for (const std::int64_t c : {2, 4}) {
    const Workload w = lower(shared(model, c, ContextParallelType::all_to_all));
    // Queries, keys and values one way, outputs the other: (8 + 2 * 4 + 8) heads of 64 of the own tokens.
    const Bytes each_way = 256 / c * (8 + 2 * 4 + 8) * 64 * 2;
    CHECK(sent(w, Stream::context, Phase::forward) == 4 * 2 * each_way);
    CHECK(sent(w, Stream::context, Phase::backward) == 4 * 2 * each_way);
    CHECK(sent(w, Stream::send_context, Phase::forward) == 0);
  }
}

TEST_CASE("activations are cut by sequence, weights are not, and gradients are summed over both dimensions") {
  const Model model = llama(4, 512, 1536, 8, 4, 256, 4096);
  for (const ContextParallelType type : kTypes) {
    const StageMemory alone = stage_memory(experiment(model, 1, 1, 2, 2))[0];
    Experiment e = shared(model, 4, type, 1, 1, 2);
    StageMemory many = stage_memory(e)[0];
    CHECK(many.activations * 4 == alone.activations);
    CHECK(many.parameters == alone.parameters);
    CHECK(many.optimizer == alone.optimizer);
    e.plan.zero_stage = 1;
    many = stage_memory(e)[0];
    CHECK(many.optimizer == alone.optimizer / 8);
    const Workload w = lower(e);
    std::set<std::size_t> sizes;
    for (const Op& op : w.programs[0].ops) {
      if (op.kind == Op::Kind::communicate && op.stream == Stream::data)
        sizes.insert(w.members(w.group(0, op.slot)).size());
    }
    CHECK(sizes == std::set<std::size_t>{8});
  }
}

TEST_CASE("gradients are summed over ranks that share sequences though there is one replica") {
  const Workload w = lower(shared(llama(4, 512, 1536, 8, 4, 256, 4096), 2, ContextParallelType::ring));
  CHECK(std::ranges::any_of(w.programs[0].ops, [&](const Op& op) {
    return op.kind == Op::Kind::communicate && op.stream == Stream::data &&
           w.messages[op.work].collective == Collective::all_reduce;
  }));
}

TEST_CASE("stages hand on the part of a sequence that they have") {
  const Model model = llama(4, 512, 1536, 8, 4, 256, 4096);
  const Workload alone = lower(experiment(model, 1, 2, 1, 4));
  const Workload many = lower(shared(model, 4, ContextParallelType::ring, 1, 2));
  CHECK(sent(many, Stream::send_forward, Phase::forward) * 4 ==
        sent(alone, Stream::send_forward, Phase::forward));
}
