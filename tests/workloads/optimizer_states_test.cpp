// Checks the states that optimizers keep of a parameter, to the byte, and the traffic of an update.
#include "workloads/weights/optimizer_states.hpp"

#include <doctest/doctest.h>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;

namespace {

Bytes states_of_4096(Optimizer optimizer, Precision precision = Precision::bf16,
                     Precision moments = Precision::fp32) {
  Plan plan;
  plan.optimizer = optimizer;
  plan.precision = precision;
  plan.moment_precision = moments;
  return optimizer_state_bytes(plan, 4096);
}

}  // namespace

TEST_CASE("states of a parameter by optimizer") {
  CHECK(states_of_4096(Optimizer::adam) == 12 * 4096);
  CHECK(states_of_4096(Optimizer::adam, Precision::fp32) == 8 * 4096);
  CHECK(states_of_4096(Optimizer::lion) == 8 * 4096);
  CHECK(states_of_4096(Optimizer::sgd_momentum) == 8 * 4096);
  CHECK(states_of_4096(Optimizer::sgd) == 4 * 4096);
  CHECK(states_of_4096(Optimizer::sgd, Precision::tf32) == 0);
  // Two moments of a byte, each with a scale of four bytes for every 2048.
  CHECK(states_of_4096(Optimizer::adam_8bit) == (4 + 1 + 1) * 4096 + 2 * 2 * 4);
  // DeepSeek-V3 keeps moments in bf16 beside 32-bit weights.
  CHECK(states_of_4096(Optimizer::adam, Precision::fp8, Precision::bf16) == (4 + 2 + 2) * 4096);
  CHECK(states_of_4096(Optimizer::adam, Precision::bf16, Precision::fp8) == (4 + 1 + 1) * 4096);
  Plan plan;
  plan.main_weight_precision = Precision::fp16;
  CHECK(optimizer_state_bytes(plan, 4096) == (2 + 4 + 4) * 4096);
  plan.main_weight_precision = std::nullopt;
  CHECK(optimizer_state_bytes(plan, 4096) == (4 + 4) * 4096);
}

TEST_CASE("memory of a stage holds the states, or its shard of them") {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 1, 1, 4, 1);
  const Bytes p = stage_memory(e)[0].parameters_count;
  e.plan.optimizer = Optimizer::adam_8bit;
  const Bytes all = 6 * p + 8 * ((p + 2047) / 2048);
  CHECK(stage_memory(e)[0].optimizer() == all);
  e.plan.zero_stage = 1;
  CHECK(stage_memory(e)[0].optimizer() == (all + 3) / 4);
}

TEST_CASE("an update reads and writes its states once") {
  Experiment e;
  CHECK(update_bytes_per_parameter(e) == 28);  // gradient, 12 bytes of states twice, 16-bit copy
  e.plan.optimizer = Optimizer::lion;
  CHECK(update_bytes_per_parameter(e) == 28 - 2 * 4);
  e.plan.optimizer = Optimizer::adam_8bit;
  CHECK(update_bytes_per_parameter(e) == doctest::Approx(28 - 2 * 6 + 4 * 4.0 / 2048));
  e.plan.optimizer = Optimizer::adam;
  e.plan.moment_precision = Precision::bf16;
  CHECK(update_bytes_per_parameter(e) == 28 - 2 * 4);
  e.plan.precision = Precision::fp32;
  e.plan.moment_precision = Precision::fp32;
  CHECK(update_bytes_per_parameter(e) == 28);
}
