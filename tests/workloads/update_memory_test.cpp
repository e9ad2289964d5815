// Checks the memory that the optimizer's update holds: copies of 16-bit gradients in 32 bits.
#include <doctest/doctest.h>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::llama;

namespace {

/// A layer and a vocabulary, with `tokens` in a sample and gradients in 16 bits.
Experiment updated(std::int64_t tokens, std::int64_t ranks) {
  Experiment e = experiment(llama(1, 4096, 11008, 32, 32, tokens, 32000), 1, 1, ranks, 2);
  e.plan.precision = Precision::bf16;
  e.plan.zero_stage = 3;
  e.software.update_gradient_bytes = 6;
  return e;
}

constexpr Bytes kUpdatedParameters = 2 * 32000 * 4096 + 4096 + 4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096;

}  // namespace

TEST_CASE("where the update holds most, the peak does not move with the length of samples") {
  // 464,531,456 parameters on one rank: 16 bytes of states and 6 of copies each.
  for (const std::int64_t tokens : {128, 256, 512}) {
    const StageMemory memory = stage_memory(updated(tokens, 1))[0];
    CHECK(memory.moment.pass == PeakMoment::Pass::update);
    CHECK(memory.moment.micro_batch == 1);
    CHECK(memory.activations.total() == 0);
    CHECK(memory.workspace.update == 6 * kUpdatedParameters);
    CHECK(memory.total() == 22 * kUpdatedParameters);
  }
  // 16,384 tokens keep 4 bytes of each of 32,000 logits, which alone is 2.1 GB, and 0.3 GB of residuals.
  const StageMemory longer = stage_memory(updated(16384, 1))[0];
  CHECK(longer.moment.pass == PeakMoment::Pass::backward);
  CHECK(longer.workspace.update == 0);
  CHECK(longer.total() > 22 * kUpdatedParameters);
}

TEST_CASE("ZeRO-3 may update one group of parameters after the other") {
  Experiment e = updated(128, 1);
  e.software.update_group_parameters = 100'000'001;
  CHECK(stage_memory(e)[0].workspace.update == 600'000'006);
  e.software.update_group_parameters = 1e9;  // more than there are
  CHECK(stage_memory(e)[0].workspace.update == 6 * kUpdatedParameters);
  e.software.update_group_parameters = 100'000'001;
  e.plan.zero_stage = 1;  // has no groups
  CHECK(stage_memory(e)[0].workspace.update == 6 * kUpdatedParameters);
}

TEST_CASE("a rank copies the gradients of its shard, and none that have 32 bits already") {
  Experiment e = updated(8, 3);           // 464,531,456 / 3 is rounded up to 154,843,819
  e.software.update_gradient_bytes = 40;  // more than any pass holds
  CHECK(stage_memory(e)[0].workspace.update == 40 * Bytes{154'843'819});
  e.software.gradient_bytes = 4;
  CHECK(stage_memory(e)[0].workspace.update == 0);
  e.software.gradient_bytes = 2;
  e.plan.precision = Precision::fp32;
  CHECK(stage_memory(e)[0].workspace.update == 0);
}
