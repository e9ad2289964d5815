// The explorer's published rows, and its equations by hand.
#include "orrery/explorer_memory.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "orrery/error.hpp"
#include "tests/workloads/models.hpp"

using namespace orrery;

namespace {

constexpr double kGiB = 1 << 30;

double to_cents(double bytes) { return std::round(bytes / kGiB * 100) / 100; }

Model llama_405b() { return test::llama(126, 16384, 53248, 128, 8, 8192, 128256); }

/// The explorer's rows: DP 8, 4,096 samples a step.
Plan published(std::int64_t micro_batch_size, int zero_stage = 0) {
  Plan plan;
  plan.data_parallel = 8;
  plan.micro_batch_size = micro_batch_size;
  plan.global_batch_size = 4096;
  plan.zero_stage = zero_stage;
  return plan;
}

/// h 8, f 12, 2 heads, 1 key/value head, 3 layers, vocabulary 10, sequences of 4; tied.
Model small() {
  Model model = test::llama(3, 8, 12, 2, 1, 4, 10);
  model.tied_embeddings = true;
  return model;
}

/// The last 2 of 3 layers have 4 experts of width 6, of which a token takes 2.
Model small_mixture() {
  Model model = small();
  model.kind = ModelKind::moe_transformer;
  model.experts = 4;
  model.experts_per_token = 2;
  model.expert_ffn_hidden = 6;
  model.dense_layers = 1;
  return model;
}

}  // namespace

// emb = 128256 * 16384 * 2 = 4,202,692,608; attn = 16384 * (16384 + 2 * 8 * 128 + 16384) = 570,425,344;
// mlp = 16384 * 53248 * 3 = 2,617,245,696; P = emb + 126 (attn + mlp) = 405,849,243,648.
// 18 P = 6803.58 GiB; 16/8 P = 755.95 GiB.
TEST_CASE("states of the explorer's published rows") {
  const ExplorerMemory whole = explorer_memory(llama_405b(), published(1));
  CHECK(whole.dense_parameters == 405'849'243'648);
  CHECK(whole.expert_parameters == 0);
  CHECK(whole.states_bytes == 18.0 * 405'849'243'648);
  CHECK(to_cents(whole.states_bytes) == 6803.58);
  CHECK(to_cents(explorer_memory(llama_405b(), published(1, 3)).states_bytes) == 755.95);
}

// sbh = 8192 b * 16384. Per layer 2sb(h + 3f) + 14sbh = 2,885,681,152 b + 1,879,048,192 b; 126 of them and
// 10sbv = 10,506,731,520 b make 610,862,628,864 b bytes.
TEST_CASE("activations and totals of the explorer's published rows") {
  CHECK(explorer_memory(llama_405b(), published(1)).activations_bytes == 610'862'628'864.0);
  CHECK(to_cents(explorer_memory(llama_405b(), published(1)).activations_bytes) == 568.91);
  CHECK(to_cents(explorer_memory(llama_405b(), published(2)).activations_bytes) == 1137.82);
  CHECK(to_cents(explorer_memory(llama_405b(), published(4)).activations_bytes) == 2275.64);
  CHECK(to_cents(explorer_memory(llama_405b(), published(1)).total_bytes()) == 7372.49);
  CHECK(to_cents(explorer_memory(llama_405b(), published(2)).total_bytes()) == 7941.40);
  CHECK(to_cents(explorer_memory(llama_405b(), published(4)).total_bytes()) == 9079.22);
  CHECK(to_cents(explorer_memory(llama_405b(), published(1, 3)).total_bytes()) == 1324.86);
}

// emb = 10 * 8 = 80; attn = 8 (2 * 4 + 2 * 4 + 8) = 192; mlp = 8 * 12 * 3 = 288; P = 80 + 3 * 480 = 1520.
TEST_CASE("bytes a parameter by what 4 replicas shard") {
  const auto bytes = [](int zero_stage) {
    Plan plan;
    plan.data_parallel = 4;
    plan.global_batch_size = 4;
    plan.zero_stage = zero_stage;
    return explorer_memory(small(), plan).states_bytes / 1520;
  };
  CHECK(bytes(0) == 18);
  CHECK(bytes(1) == 6 + 12 / 4);
  CHECK(bytes(2) == 2 + 16 / 4);
  CHECK(bytes(3) == 16 / 4);
}

// TP 3, PP 2: emb = 80 // 3 = 26 though untied, since the tables lie on two stages; attn = 8 // 3 = 2 times
// 24; mlp = 288 // 3 = 96; (48 + 96) * 3 // 2 = 216.
TEST_CASE("whole numbers are cut as the explorer cuts them") {
  Plan plan;
  plan.tensor_parallel = 3;
  plan.pipeline_parallel = 2;
  plan.global_batch_size = 5;
  Model model = small();
  CHECK(explorer_memory(model, plan).dense_parameters == 26 + 216);
  model.tied_embeddings = false;
  CHECK(explorer_memory(model, plan).dense_parameters == 26 + 216);
  CHECK(explorer_memory(model, plan).pipeline_bubble == 1.0 / 5);
  plan.pipeline_parallel = 1;  // 432 of layers, and two tables
  CHECK(explorer_memory(model, plan).dense_parameters == 2 * 26 + 432);
  CHECK(explorer_memory(model, plan).pipeline_bubble == 0);
  model.head_dim = 100;  // a head is h // a wide all the same
  CHECK(explorer_memory(model, plan).dense_parameters == 2 * 26 + 432);
}

// s = 4 / 2, b = 3: sb = 6, sbh = 48. Per layer 2 * 6 (8 + 3 * 12) / 2 + 14 * 48 / 2 = 264 + 336 with TP 2,
// CP 2; the output adds 10 * 6 * 10 // 2 = 300 on one stage, and nothing on several.
TEST_CASE("sequences are cut by context ranks, products by tensor ranks, layers by nobody") {
  Plan plan;
  plan.tensor_parallel = 2;
  plan.context_parallel = 2;
  plan.micro_batch_size = 3;
  plan.global_batch_size = 3;
  CHECK(explorer_memory(small(), plan).activations_bytes == 3 * 600 + 300);
  plan.pipeline_parallel = 3;
  CHECK(explorer_memory(small(), plan).activations_bytes == 3 * 600);
  Model plain = small();
  plain.gated_mlp = false;  // 2 * 6 (8 + 2 * 12) / 2 = 192
  CHECK(explorer_memory(plain, plan).activations_bytes == 3 * (192 + 336));
}

// EP 2, DP 4: attn 192 on 3 layers, a dense MLP of 288 on one: 80 + 576 + 288 = 944. An expert has 8 * 6 * 3
// = 144; 144 * 2/3 * 4 // 2 = 192 a layer, 576 on 3. Two copies: dense 6 + 12/4 = 9, experts 6 + 12/2 = 12
// bytes. Activations, sb = 4, sbh = 32: dense 2 * 4 (8 + 36) = 352, each layer 14 * 32 = 448, output 10 * 4 *
// 10 = 400. A mixture routes 2 (32 + 2 * 32) = 192 and computes 2 * (2 * 4 (8 + 18)) = 416 where tokens go
// evenly.
TEST_CASE("a mixture of experts by hand") {
  Plan plan;
  plan.data_parallel = 4;
  plan.expert_parallel = 2;
  plan.global_batch_size = 4;
  plan.zero_stage = 1;
  const ExplorerMemory even = explorer_memory(small_mixture(), plan);
  CHECK(even.dense_parameters == 944);
  CHECK(even.expert_parameters == 576);
  CHECK(even.states_bytes == 944 * 9 + 576 * 12);
  CHECK(even.token_imbalance == 1);
  CHECK(even.activations_bytes == 2 * (192 + 416) + 352 + 3 * 448 + 400);
  // All rows on one of two ranks, c = 2: routes 2 (32 + 4 * 32) = 320, computes 832.
  plan.token_imbalance = TokenImbalance::worst;
  const ExplorerMemory worst = explorer_memory(small_mixture(), plan);
  CHECK(worst.token_imbalance == 2);
  CHECK(worst.activations_bytes == 2 * (320 + 832) + 352 + 3 * 448 + 400);
  plan.expert_parallel = 1;  // all experts on every rank: nothing to be uneven
  plan.capacity_factor = 0.5;
  CHECK(explorer_memory(small_mixture(), plan).token_imbalance == 1);
  CHECK(explorer_memory(small_mixture(), plan).expert_parameters == 1152);
}

// The copies of an expert are d // EP: 3 // 2 = 1, whatever is left over.
TEST_CASE("copies of experts round down, and none are refused") {
  Plan plan;
  plan.data_parallel = 3;
  plan.expert_parallel = 2;
  plan.global_batch_size = 3;
  plan.zero_stage = 3;
  CHECK(explorer_memory(small_mixture(), plan).states_bytes == 944 * (16.0 / 3) + 576 * 16);
  plan.data_parallel = 1;
  plan.zero_stage = 0;  // 18 bytes, however many copies there are
  CHECK(explorer_memory(small_mixture(), plan).states_bytes == (944 + 576) * 18);
  plan.zero_stage = 1;
  try {
    static_cast<void>(explorer_memory(small_mixture(), plan));
    FAIL("no copy of an expert");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().pointer == "/plan/expert_parallel");
    CHECK(error.diagnostics().front().message.starts_with("found 2, allowed at most data_parallel 1 in"));
  }
}

TEST_CASE("the explorer counts transformers alone") {
  Model model;
  model.kind = ModelKind::convnet;
  try {
    static_cast<void>(explorer_memory(model, {}));
    FAIL("a convnet");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().pointer == "/model/kind");
    CHECK(error.diagnostics().front().message.starts_with("found \"convnet\", allowed transformer, moe-"));
  }
}
