// Tests context parallelism: the compute, memory and messages of a rank against closed forms.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;
using orrery::test::llama;

namespace {

/// Hierarchical ones in groups of two.
Experiment shared(Model model, std::int64_t ranks, ContextParallelType type, std::int64_t t = 1,
                  std::int64_t p = 1, std::int64_t d = 1) {
  Experiment e = experiment(std::move(model), t, p, d, 2 * p);
  if (type == ContextParallelType::hierarchical) e.plan.hierarchical_context_parallel_size = 2;
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

constexpr std::array kTypes{ContextParallelType::ring, ContextParallelType::all_to_all,
                            ContextParallelType::hierarchical, ContextParallelType::all_gather};

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

// The bytes follow the two tests above, with rings of c / 2 ranks: the heads of two ranks' tokens are as many
// bytes as all heads of one rank's.
TEST_CASE("heads are exchanged in groups, and keys and values go around between them") {
  const Model model = llama(4, 512, 1536, 8, 4, 256, 4096);
  for (const std::int64_t c : {4, 8}) {
    const Workload w = lower(shared(model, c, ContextParallelType::hierarchical));
    const Bytes block = 2 * 256 / c * 4 * 64 * 2;
    const Bytes each_way = 256 / c * (8 + 2 * 4 + 8) * 64 * 2;
    for (const Phase phase : {Phase::forward, Phase::backward})
      CHECK(sent(w, Stream::context, phase) == 4 * 2 * each_way);
    CHECK(sent(w, Stream::send_context, Phase::forward) == 4 * 2 * (c / 2 - 1) * block);
    CHECK(sent(w, Stream::send_context, Phase::backward) == 2 * 4 * 2 * (c / 2 - 1) * block);
    for (std::uint32_t rank = 0; rank < c; ++rank) {
      const std::uint32_t group = w.group(
          rank, SlotNumbers(CommunicatorLayout(shared(model, c, kTypes[2]), {}).spec())[Slot::context]);
      CHECK(w.members(group).size() == 2);
      CHECK(w.members(group)[0] == rank / 2 * 2);
    }
  }
  // Groups of all ranks are no ring, groups of one nothing but one.
  Experiment e = shared(model, 4, ContextParallelType::hierarchical);
  const auto same = [&](std::int64_t size, ContextParallelType type) {
    e.plan.hierarchical_context_parallel_size = size;
    const Workload w = lower(e);
    const Workload other = lower(shared(model, 4, type));
    return w.kernel_sequences == other.kernel_sequences && w.messages == other.messages;
  };
  CHECK(same(4, ContextParallelType::all_to_all));
  CHECK(same(1, ContextParallelType::ring));
}

// An all-gather counts the whole result: keys and values of all tokens, 2 * 256 * 4 * 64 * 2 bytes. Backward
// they are gathered again, and as many gradients are reduced and scattered.
TEST_CASE("keys and values are gathered, and their gradients reduced and scattered") {
  const Model model = llama(4, 512, 1536, 8, 4, 256, 4096);
  for (const std::int64_t c : {2, 4}) {
    const Workload w = lower(shared(model, c, ContextParallelType::all_gather));
    const Bytes all = 2 * 256 * 4 * 64 * 2;
    CHECK(sent(w, Stream::context, Phase::forward) == 4 * 2 * all);
    CHECK(sent(w, Stream::context, Phase::backward) == 2 * 4 * 2 * all);
    CHECK(sent(w, Stream::send_context, Phase::forward) == 0);
  }
}

// 2 key and value heads on 4 or 8 ranks: each rank gets one, so 4 or 8 are sent.
TEST_CASE("key and value heads are copied where they are fewer than ranks") {
  const Model model = llama(4, 512, 1536, 8, 2, 256, 4096);
  for (const std::int64_t c : {4, 8}) {
    const Workload w = lower(shared(model, c, ContextParallelType::all_to_all));
    const Bytes each_way = 256 / c * (8 + 2 * c + 8) * 64 * 2;
    CHECK(sent(w, Stream::context, Phase::forward) == 4 * 2 * each_way);
    CHECK(sent(w, Stream::context, Phase::backward) == 4 * 2 * each_way);
  }
  // In groups of 4 a rank has one head of the tokens of 4 ranks: twice the bytes of the 2 heads of its own.
  Experiment e = shared(model, 8, ContextParallelType::hierarchical);
  e.plan.hierarchical_context_parallel_size = 4;
  CHECK(sent(lower(e), Stream::send_context, Phase::forward) == 4 * 2 * (2 * 256 / 8 * 4 * 64 * 2));
}

// With chunks r and 2c - 1 - r of 2c of n tokens each, rank r has 2 n^2 pairs under the mask with keys of any
// other rank; with its own ones n (n + 1) in the two squares on the diagonal and n^2 of the later chunk with
// the earlier.
TEST_CASE("a causal mask leaves each rank as much in each step of a ring") {
  constexpr std::int64_t kTokens = 3;  // of a chunk
  for (const std::int64_t c : {2, 3, 4}) {
    const auto chunk = [c](std::int64_t rank, std::int64_t i) { return i == 0 ? rank : 2 * c - 1 - rank; };
    const auto pairs = [&](std::int64_t rank, std::int64_t other) {
      std::int64_t count = 0;
      for (std::int64_t q = 0; q < 2 * kTokens; ++q) {
        for (std::int64_t k = 0; k < 2 * kTokens; ++k) {
          const std::int64_t query = chunk(rank, q / kTokens) * kTokens + q % kTokens;
          count += chunk(other, k / kTokens) * kTokens + k % kTokens <= query ? 1 : 0;
        }
      }
      return count;
    };
    for (std::int64_t rank = 0; rank < c; ++rank) {
      for (std::int64_t step = 0; step < c; ++step)
        CHECK(pairs(rank, (rank + c - step) % c) == 2 * kTokens * kTokens + (step == 0 ? kTokens : 0));
    }
  }
  // So are the FLOPs of the kernels, of s^2 / 2 pairs over c^2 steps.
  const Model model = llama(1, 512, 1536, 8, 4, 256, 4096);
  const Workload w = lower(shared(model, 4, ContextParallelType::ring));
  std::set<Flops> flops;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != Op::Kind::compute || op.phase != Phase::forward) continue;
    for (const Kernel& kernel : w.kernel_sequences[op.work].kernels)
      if (kernel.kind == Kernel::Kind::attention) flops.insert(kernel.flops);
  }
  CHECK(flops == std::set<Flops>{256 * 256 / 2 / 16 * 4 * 8 * 64});
}

// Tokens of a window attend to as many keys on every rank.
TEST_CASE("windows are shared where keys and values are gathered or heads exchanged") {
  Model model = llama(4, 512, 1536, 8, 4, 256, 4096);
  model.window = 32;
  model.window_pattern = 2;
  const TotalFlops alone = context_flops_of(lower(experiment(model, 1, 1, 1, 2)));
  for (const ContextParallelType type : {ContextParallelType::all_to_all, ContextParallelType::all_gather})
    CHECK(context_flops_of(lower(shared(model, 4, type))) == alone);
}

TEST_CASE("activations are cut by sequence, weights are not, and gradients are summed over both dimensions") {
  const Model model = llama(4, 512, 1536, 8, 4, 256, 4096);
  for (const ContextParallelType type : kTypes) {
    const StageMemory alone = stage_memory(experiment(model, 1, 1, 2, 2))[0];
    Experiment e = shared(model, 4, type, 1, 1, 2);
    StageMemory many = stage_memory(e)[0];
    CHECK(many.activations.total() * 4 == alone.activations.total());
    CHECK(many.parameters == alone.parameters);
    CHECK(many.optimizer() == alone.optimizer());
    e.plan.zero_stage = 1;
    many = stage_memory(e)[0];
    CHECK(many.optimizer() == alone.optimizer() / 8);
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
