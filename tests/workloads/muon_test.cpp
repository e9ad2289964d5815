// Compares Muon with arithmetic by hand: states, FLOPs of the iterations, and gathered bytes.
#include "workloads/weights/muon.hpp"

#include <doctest/doctest.h>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;
using orrery::test::llama;

namespace {

/// Three layers, whose matrices are 256 x 512 (queries, keys and values), 256 x 256, 256 x 1536 (gate and up)
/// and 768 x 256: 851,968 parameters a layer.
Experiment small(std::int64_t data, int zero) {
  Experiment e = experiment(llama(3, 256, 768, 4, 2, 128, 1000), 1, 1, data, 1);
  e.plan.optimizer = Optimizer::muon;
  e.plan.zero_stage = zero;
  return e;
}

constexpr std::int64_t kMatrices = 3 * (256 * 512 + 256 * 256 + 256 * 1536 + 768 * 256);

Bytes gathered_for_optimizer(const Workload& w) {
  Bytes sum = 0;
  for (const Op& op : w.programs[0].ops)
    if (op.kind == Op::Kind::communicate && op.part == Part::optimizer) sum += w.messages[op.work].bytes;
  return sum;
}

Flops flops_of_optimizer(const Workload& w) {
  Flops sum = 0;
  for (const Op& op : w.programs[0].ops)
    if (op.kind == Op::Kind::compute && op.part == Part::optimizer) sum += w.kernel_sequences[op.work].flops;
  return sum;
}

}  // namespace

// Five times 4 m^2 n + 2 m^3, m = 256: n of 512, 256, 1536 and 768 are 3072 together.
TEST_CASE("iterations of Muon do their FLOPs for each matrix") {
  const Flops layer = Flops{5} * (4 * 256 * 256 * 3072 + 4 * 2 * 256 * 256 * 256);
  CHECK(flops_of_optimizer(lower(small(1, 0))) == 3 * layer);
  Experiment adam = small(1, 0);
  adam.plan.optimizer = Optimizer::adam;
  CHECK(flops_of_optimizer(lower(adam)) == 0);
}

// All parameters have a copy and one moment of 4 bytes; the table, the output projection and the norms a
// second one.
TEST_CASE("matrices have one moment, all else has two") {
  const Bytes all = lower(small(1, 0)).stage_memory[0].parameters_count;
  CHECK(all - kMatrices == 2 * 1000 * 256 + 7 * 256);
  CHECK(stage_memory(small(1, 0))[0].optimizer() == 8 * all + 4 * (all - kMatrices));
}

TEST_CASE("ranks that share states gather whole matrices before the update") {
  CHECK(gathered_for_optimizer(lower(small(4, 0))) == 0);
  CHECK(gathered_for_optimizer(lower(small(4, 1))) == 2 * kMatrices);
  CHECK(flops_of_optimizer(lower(small(4, 1))) == flops_of_optimizer(lower(small(4, 0))));
}

// With 4 experts on 2 ranks each rank has two, of 256 x 1024 and 512 x 256, beside a router of 256 x 4.
TEST_CASE("experts are matrices of their own") {
  Experiment e = small(2, 1);
  e.model.kind = ModelKind::moe_transformer;
  e.model.experts = 4;
  e.model.experts_per_token = 2;
  e.model.expert_ffn_hidden = 512;
  e.plan.expert_parallel = 2;
  const std::int64_t common = 3 * (256 * 512 + 256 * 256 + 256 * 4);
  // No other rank has the same experts, so theirs are not gathered.
  CHECK(gathered_for_optimizer(lower(e)) == 2 * common);
  const Flops expert = Flops{5} * (4 * 256 * 256 * (1024 + 512) + 2 * 2 * 256 * 256 * 256);
  const Flops attention = Flops{5} * (4 * 256 * 256 * (512 + 256) + 2 * 2 * 256 * 256 * 256);
  const Flops router = Flops{5} * (4 * 4 * 4 * 256 + 2 * 4 * 4 * 4);
  CHECK(flops_of_optimizer(lower(e)) == 3 * (2 * expert + attention + router));
}
