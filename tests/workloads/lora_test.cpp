// Tests adapters beside frozen weights (LoRA): parameters, FLOPs, memory and messages, by formula.
#include <doctest/doctest.h>

#include "tests/workloads/models.hpp"
#include "tests/workloads/recomputation.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;
using orrery::test::llama;

namespace {

Model adapted(Model model, std::int64_t rank, std::array<bool, kLinearCount> targets) {
  model.lora_rank = rank;
  model.lora_targets = targets;
  return model;
}

constexpr std::array<bool, kLinearCount> kQkv{true, false, false, false};
constexpr std::array<bool, kLinearCount> kAll{true, true, true, true};

TotalFlops adapter_flops_of(const Workload& workload, bool recompute) {
  TotalFlops sum = 0;
  for (const std::uint32_t program : workload.program_of_rank) {
    for (const Op& op : workload.programs[program].ops) {
      if (op.kind == Op::Kind::compute && (op.phase == Phase::recompute) == recompute)
        sum += workload.kernel_sequences[op.work].flops;
    }
  }
  return sum;
}

/// Bytes of all messages of the first program in a slot.
Bytes bytes_in(const Workload& workload, std::size_t program, std::uint16_t slot) {
  Bytes sum = 0;
  for (const Op& op : workload.programs[program].ops) {
    if (op.kind == Op::Kind::communicate && op.slot == slot) sum += workload.messages[op.work].bytes;
  }
  return sum;
}

}  // namespace

TEST_CASE("an adapter of rank r beside a k x n matrix holds r (k + n) weights") {
  const Model full = llama(32, 4096, 11008, 32, 32, 4096, 32000);
  const std::int64_t base = transformer_parameters(full);
  // 32 layers, r = 32: queries, keys and values are one matrix of 4096 x 12288.
  CHECK(transformer_parameters(adapted(full, 32, kQkv)) == base + 32 * 32 * (4096 + 12288));
  // and 4096 x 4096, 4096 x 22016 with a gated MLP, 11008 x 4096.
  CHECK(transformer_parameters(adapted(full, 32, kAll)) ==
        base + 32 * 32 * ((4096 + 12288) + (4096 + 4096) + (4096 + 22016) + (11008 + 4096)));
}

TEST_CASE("weights cost two thirds of their FLOPs where they are frozen, adapters and scores all") {
  const std::int64_t batch = 4, s = 256, h = 512, l = 8, vocab = 4096, r = 16;
  const Model full = gpt(l, h, 8, s, vocab);
  // A GPT's layer has 12 h^2 weights; scores and context take 4 s h a token; adapters of all four matrices
  // have r (4h + 2h + 5h + 5h) weights.
  const TotalFlops weights = 2 * (l * 12 * h * h + h * vocab);
  const TotalFlops adapters = 2 * l * r * 16 * h;
  const TotalFlops scores = l * 4 * s * h;
  CHECK(transformer_model_flops(full, batch) == batch * s * 3 * (weights + scores));
  const Model lora = adapted(full, r, kAll);
  CHECK(transformer_model_flops(lora, batch) == batch * s * (2 * weights + 3 * (scores + adapters)));
  CHECK(test::flops_again(lora, batch, Recompute::full) ==
        batch * s * (2 * l * 12 * h * h + scores + adapters));
}

TEST_CASE("the kernels of adapters do the FLOPs of the formula") {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (const auto& targets : {kQkv, kAll, std::array<bool, kLinearCount>{false, true, false, true}}) {
      Experiment e = experiment(adapted(gpt(8, 512, 8, 256, 4096), 16, targets), 1, 2, 2, 4, 2);
      e.plan.recompute = recompute;
      const Workload w = lower(e);
      CHECK(adapter_flops_of(w, false) == w.model_flops);
      CHECK(adapter_flops_of(w, true) == w.hardware_flops - w.model_flops);
    }
  }
}

TEST_CASE("only adapters have gradients and optimizer states") {
  Experiment e = experiment(adapted(llama(8, 512, 1536, 8, 2, 256, 4096), 16, kQkv), 1, 2, 4, 4);
  // Queries, keys and values: 512 x (512 + 2 * 128).
  const std::int64_t adapters = 4 * 16 * (512 + 768);
  const auto memory = [&](int zero) {
    e.plan.zero_stage = zero;
    return stage_memory(e)[1];
  };
  const StageMemory whole = memory(0);
  CHECK(whole.parameters == 2 * whole.parameters_count);
  CHECK(whole.gradients == 2 * adapters);
  CHECK(whole.optimizer() == 12 * adapters);
  CHECK(memory(1).optimizer() == 12 * adapters / 4);
  CHECK(memory(3).parameters == 2 * whole.parameters_count / 4);
}

TEST_CASE("cut over tensor ranks, an adapter keeps one of its matrices whole") {
  // Beside a matrix cut by columns r k + r n/t, beside one cut by rows r k/t + r n.
  const Experiment e = experiment(adapted(gpt(4, 512, 8, 256, 4096), 16, kAll), 4, 1, 1, 1);
  CHECK(TransformerShape(e.model, e.plan).adapter_parameters() ==
        16 * ((512 + 1536 / 4) + (512 / 4 + 512) + (512 + 2048 / 4) + (2048 / 4 + 512)));
}

TEST_CASE("a frozen matrix keeps no input for its gradient") {
  const std::int64_t s = 256, h = 512, f = 1536, tokens = 2 * s;
  Experiment e = experiment(llama(4, h, f, 8, 2, s, 4096), 1, 1, 1, 1, 2);
  const auto layer = [&](std::array<bool, kLinearCount> targets) {
    e.model = adapted(e.model, 16, targets);
    return test::kept_by_layer(e);
  };
  const Bytes full = test::kept_by_layer(e);
  // In 16 bits: adapters keep what they make of r columns; without one on the MLP, its input and that of its
  // second matrix go. Fused attention needs its output in any case.
  CHECK(layer(kAll) == full + 4 * tokens * 16 * 2);
  CHECK(layer(kQkv) == full - tokens * (h + f) * 2 + tokens * 16 * 2);
}

TEST_CASE("frozen weights move no gradients") {
  // Tied embeddings on both ends of a pipeline: their gradients need no sum.
  for (const std::int64_t zero : {0, 1}) {
    Experiment e = experiment(adapted(gpt(8, 512, 8, 256, 4096), 16, kQkv), 1, 2, 4, 4);
    e.plan.zero_stage = static_cast<int>(zero);
    const Workload w = lower(e);
    const SlotNumbers slots(CommunicatorLayout(e, {}).spec());
    const Bytes adapters = 2 * 4 * 16 * (512 + 1536);
    for (const std::size_t program : {0u, 1u}) {
      // With ZeRO-1 gradients are scattered and updated adapters gathered.
      CHECK(bytes_in(w, program, slots[Slot::data]) == (1 + zero) * adapters);
      CHECK(!slots.has(Slot::embedding));
    }
    for (const Op& op : w.programs[0].ops)
      CHECK(!(op.part == Part::embedding && op.phase == Phase::backward));
  }
}

TEST_CASE("ZeRO-3 gathers frozen weights and scatters gradients of adapters") {
  Experiment e = experiment(adapted(llama(4, 512, 1536, 8, 8, 256, 4096), 16, kQkv), 1, 1, 4, 1);
  e.plan.zero_stage = 3;
  const Workload w = lower(e);
  Bytes gathered = 0, scattered = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != Op::Kind::communicate) continue;
    const Message& message = w.messages[op.work];
    (message.collective == Collective::all_gather ? gathered : scattered) += message.bytes;
  }
  CHECK(gathered == 2 * 2 * transformer_parameters(e.model));
  CHECK(scattered == 2 * 4 * 16 * (512 + 1536));
}
