// Checks the memory of ZeRO-3 as PyTorch's FSDP holds it, against bytes counted by hand. The first case is a
// run of Hetu-Galvatron, whose peak it meets to 0.1 %.
#include <doctest/doctest.h>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/programs/stages.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::llama;

namespace {

// Parameters of LLaMA-7B's parts: a layer has 4 h^2 + 3 h f weights and two norms, the head a norm.
constexpr Bytes kLlamaLayer = 4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096;
constexpr Bytes kLlamaTable = 32000 * 4096;
constexpr Bytes kLlamaHead = kLlamaTable + 4096;
constexpr Bytes kLlamaResidual = 2 * 2048 * 4096;  // bytes of 2,048 tokens

/// Layers of LLaMA-7B under FSDP with a sample of 2,048 tokens a rank.
Experiment llama_shards(std::int64_t layers, std::int64_t ranks, std::int64_t micro_batches,
                        std::int64_t version) {
  Experiment e = experiment(llama(layers, 4096, 11008, 32, 32, 2048, 32000), 1, 1, ranks, micro_batches);
  e.plan.precision = Precision::bf16;
  e.plan.zero_stage = 3;
  e.plan.overlap_parameter_gather = true;
  e.plan.overlap_gradient_reduce = true;
  e.software.fsdp_version = version;
  e.software.kept_bytes_per_logit = 2;
  e.software.loss_bytes_per_logit = 0;
  return e;
}

Bytes shard_bytes(Bytes parameters, Bytes each, Bytes ranks) {
  return (parameters * each + ranks - 1) / ranks;
}

}  // namespace

TEST_CASE("FSDP's peak is a unit, the one gathered ahead, and twice the unit's gradients") {
  const StageMemory memory = stage_memory(llama_shards(1, 8, 1, 1))[0];
  CHECK(memory.moment.pass == PeakMoment::Pass::backward);
  CHECK(memory.moment.layer == 0);
  // The layer has run backward: all activations are freed but the gradient of its input.
  CHECK(memory.activations.total() == 0);
  CHECK(memory.workspace.activation_gradients == kLlamaResidual);
  CHECK(memory.workspace.gathered_parameters == 2 * (kLlamaLayer + kLlamaTable));
  CHECK(memory.workspace.gradient_buckets == 2 * (2 * kLlamaLayer));
  // The gradients of the head alone are there.
  CHECK(memory.gradients == shard_bytes(kLlamaHead, 4, 8));
  // Shards of parameters are those of the optimizer: 4 bytes and 8 of moments for each of 464.5 M / 8.
  CHECK(memory.parameters == 0);
  CHECK(memory.optimizer() == 12 * (kLlamaTable + kLlamaLayer + kLlamaHead) / 8);
  // 902.79 and 1265.062 MiB were measured beside 15.7 MiB of workspaces (llama_fa, 1 layer, 8 ranks).
  CHECK(static_cast<double>(memory.total()) + 15.7 * 1048576 ==
        doctest::Approx((902.79 + 1265.062) * 1048576).epsilon(0.001));
}

TEST_CASE("of two layers the second one's end is fuller, beside what the first one keeps") {
  const StageMemory memory = stage_memory(llama_shards(2, 8, 1, 1))[0];
  CHECK(memory.moment.layer == 1);
  CHECK(memory.workspace.gathered_parameters == 2 * 2 * kLlamaLayer);
  CHECK(memory.workspace.gradient_buckets == 4 * kLlamaLayer);
  CHECK(memory.gradients == shard_bytes(kLlamaHead, 4, 8));
  CHECK(memory.activations.total() > 0);
  // Measured with a gate that keeps the output of its activation function, 45 MB more.
  CHECK(static_cast<double>(memory.total() + 2 * 2048 * 11008) + 15.7 * 1048576 ==
        doctest::Approx((1289.306 + 1604.856) * 1048576).epsilon(0.001));
}

TEST_CASE("with a second micro-batch gradients are there from the first one on") {
  const StageMemory one = stage_memory(llama_shards(3, 7, 1, 1))[0];  // shards are rounded up
  const StageMemory two = stage_memory(llama_shards(3, 7, 2, 1))[0];
  CHECK(two.gradients == shard_bytes(kLlamaTable + 3 * kLlamaLayer + kLlamaHead, 4, 7));
  // Each unit's shard is rounded up, and the whole one once.
  CHECK(one.gradients == two.gradients - 3 * shard_bytes(kLlamaLayer, 4, 7) - shard_bytes(kLlamaTable, 4, 7));
  CHECK(two.total() - one.total() == two.gradients - one.gradients);
  CHECK(two.standing - one.standing ==
        shard_bytes(kLlamaTable, 4, 7) + 3 * shard_bytes(kLlamaLayer, 4, 7) + shard_bytes(kLlamaHead, 4, 7));
}

TEST_CASE("the second version of FSDP copies gradients in 32 bits and holds them until the next unit's") {
  const Experiment e = llama_shards(3, 8, 1, 2);
  const Outline outlined = outline(e, CommunicatorLayout(e, {}));
  const auto blocks = outlined.stages.list()[0].chunks[0].blocks;  // embedding, three layers, head
  CHECK(blocks[4].unreduced == 2 * kLlamaHead);
  CHECK(blocks[3].unreduced == 2 * kLlamaLayer + 4 * kLlamaHead);
  CHECK(blocks[2].unreduced == (2 + 4) * kLlamaLayer);
  CHECK(blocks[2].gathered_flat == (2 + 4) * kLlamaLayer);
  CHECK(blocks[0].gathered_flat == (2 + 4) * kLlamaTable);
  CHECK(blocks[0].arriving == shard_bytes(kLlamaTable, 4, 8));
}

TEST_CASE("a unit of several layers is copied once its first layer has run backward") {
  Experiment e = llama_shards(5, 8, 1, 1);
  e.plan.fsdp_unit_layers = 3;  // layers 0 to 2, and 3 to 4
  const Outline outlined = outline(e, CommunicatorLayout(e, {}));
  const auto blocks = outlined.stages.list()[0].chunks[0].blocks;
  CHECK(blocks[1].gathered_flat == 4 * 3 * kLlamaLayer);
  CHECK(blocks[2].gathered_flat == 0);
  CHECK(blocks[4].gathered_flat == 4 * 2 * kLlamaLayer);
  CHECK(blocks[4].arriving == shard_bytes(2 * kLlamaLayer, 4, 8));
  CHECK(blocks[5].arriving == 0);
}

TEST_CASE("a plan that shards no parameters, or is not FSDP's, holds as before") {
  for (const int zero : {0, 1, 2}) {
    Experiment e = llama_shards(2, 8, 1, 0);
    e.plan.zero_stage = zero;
    const Bytes before = stage_memory(e)[0].total();
    e.software.fsdp_version = 1;
    CHECK(stage_memory(e)[0].total() == before);
  }
  const StageMemory other = stage_memory(llama_shards(2, 8, 1, 0))[0];
  CHECK(other.parameters == 2 * (kLlamaTable + 2 * kLlamaLayer + kLlamaHead) / 8);
  CHECK(other.gradients == other.parameters);
}
