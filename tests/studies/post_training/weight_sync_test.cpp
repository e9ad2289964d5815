// Tests the way of weights to rollouts: what travels, and how long it takes by each method.
#include "studies/post_training/weight_sync.hpp"

#include <doctest/doctest.h>

#include "orrery/error.hpp"

using namespace orrery;

namespace {

constexpr const char* kTwoShares =
    R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 2},
        "post_training": {"algorithm": "grpo", "prompts_per_step": 8, "samples_per_prompt": 4,
          "prompt_tokens": 112, "response_tokens": 400, "placement": "disaggregated",
          "roles": {"actor": {"plan": {"tensor_parallel": 2, "zero_stage": 1}},
                    "rollout": {"gpus": 8, "plan": {"tensor_parallel": 2}}}}})";

constexpr std::int64_t kParameters = 8'030'261'248;
constexpr Bytes kRolloutBytes = 8'030'000'000;

WeightSync sync_with(std::vector<std::string> overrides) {
  const PostTrainingExperiment experiment(kTwoShares, "test", overrides, Catalog::embedded(), menus());
  Memo memo;
  return weight_sync(experiment, kParameters, kRolloutBytes, memo);
}

Model model_named(const char* name) {
  const PostTrainingExperiment experiment(kTwoShares, "test", {std::string("model=") + name},
                                          Catalog::embedded(), menus());
  return experiment.role(PostTrainingRole::actor).model;
}

}  // namespace

TEST_CASE("a checkpoint has a tensor for each matrix") {
  // Llama: 32 layers of 4 + 3 matrices and 2 norms; embedding, norm and head.
  CHECK(checkpoint_tensors(model_named("llama3.1-8b")) == 291);
  // Qwen3 30B: 48 layers of 4 matrices, 4 norms, a router and 128 experts of 3 matrices.
  CHECK(checkpoint_tensors(model_named("qwen3-30b-a3b")) == 18'867);
}

TEST_CASE("weights are broadcast in the precision of the actor") {
  const WeightSync sync = sync_with({"post_training.sync_tensor_us=0", "post_training.sync_parameter_us=0"});
  CHECK(sync.model_bytes == 2 * kParameters);
  CHECK(sync.total_ps == sync.gather_ps + sync.send_ps);
  // To 8 GPUs of another node, over a NIC of 50 GB/s or faster rails side by side.
  CHECK(to_seconds(sync.send_ps) > 16.06 / 400);
  CHECK(to_seconds(sync.send_ps) < 16.06 / 25);
}

TEST_CASE("tensors that go one by one take the host's time") {
  const Picoseconds without = sync_with({"post_training.sync_tensor_us=0"}).total_ps;
  CHECK(sync_with({"post_training.sync_tensor_us=1000"}).total_ps ==
        without + 291 * Picoseconds{1'000'000'000});
}

TEST_CASE("through hosts each GPU writes its part and reads its own") {
  const WeightSync sync =
      sync_with({"post_training.weight_sync=host-memory", "post_training.sync_tensor_us=0"});
  // 16.06 GB / 8 at 64 GB/s; 8.03 GB at 64 GB/s.
  CHECK(sync.gather_ps == transfer_ps(2 * kParameters / 8, 64'000'000'000));
  CHECK(sync.load_ps == transfer_ps(kRolloutBytes, 64'000'000'000));
  CHECK(sync.total_ps == sync.gather_ps + sync.send_ps + sync.load_ps);
  // In 16 buckets of 1.024e9 bytes at most all three ways are busy at a time.
  const WeightSync engine =
      sync_with({"post_training.weight_sync=checkpoint-engine", "post_training.sync_tensor_us=0"});
  const Picoseconds slowest = std::max({sync.gather_ps, sync.send_ps, sync.load_ps});
  CHECK(engine.total_ps == slowest + (sync.total_ps - slowest) / 16);
  // 291 tensors are exported before, 1 ms each.
  const WeightSync exported =
      sync_with({"post_training.weight_sync=checkpoint-engine", "post_training.sync_tensor_us=1000"});
  CHECK(exported.total_ps == engine.total_ps + 291 * Picoseconds{1'000'000'000});
}

TEST_CASE("on the same GPUs in the same layout weights are copied once") {
  const WeightSync sync =
      sync_with({"cluster.nodes=1", "post_training.placement=colocated", "post_training.sync_tensor_us=0"});
  CHECK(sync.gather_ps == 0);
  CHECK(sync.total_ps == transfer_ps(2 * kRolloutBytes, 3'350'000'000'000));
}

TEST_CASE("an engine joins matrices, and lists its parameters for each tensor of a broadcast") {
  // Llama: 32 layers of 2 matrices of attention, 2 of the MLP and 2 norms; embedding, norm and head.
  CHECK(engine_parameters(model_named("llama3.1-8b")) == 195);
  // Qwen3 30B: 48 layers of 2 matrices, 4 norms, a router and all experts in 2.
  CHECK(engine_parameters(model_named("qwen3-30b-a3b")) == 435);
  const Picoseconds without =
      sync_with({"post_training.sync_tensor_us=0", "post_training.sync_parameter_us=0"}).total_ps;
  // 291 tensors x 195 parameters x 2 us.
  CHECK(sync_with({"post_training.sync_tensor_us=0", "post_training.sync_parameter_us=2"}).total_ps ==
        without + Picoseconds{291 * 195 * 2} * 1'000'000);
}

TEST_CASE("packed weights are exported while others are under way") {
  const std::string packed = "post_training.weight_sync=packed-broadcast";
  const WeightSync sync = sync_with({packed, "post_training.sync_tensor_us=1000"});
  CHECK(sync.host_ps == 291 * Picoseconds{1'000'000'000});
  // The host is slowest; gathering and sending show in one of 16 buckets.
  CHECK(sync.total_ps == sync.host_ps + (sync.gather_ps + sync.send_ps) / 16);
  // All NICs of the trainers' node send, in place of one.
  CHECK(sync.send_ps < sync_with({}).send_ps);
  // One bucket has no other beside it.
  const WeightSync alone = sync_with({packed, "post_training.sync_bucket_mb=20000"});
  CHECK(alone.total_ps == alone.host_ps + alone.gather_ps + alone.send_ps);
}

TEST_CASE("weights that would be under way for weeks are refused") {
  // 18,867 tensors of 1 s are five hours; with 8,192 experts in each of 48 layers they are 1.2 million
  // seconds.
  CHECK(to_seconds(sync_with({"model=qwen3-30b-a3b", "post_training.sync_tensor_us=1e6"}).host_ps) > 18'867);
  CHECK_THROWS_WITH_AS(
      sync_with({"model=qwen3-30b-a3b", "model.experts=8192", "post_training.sync_tensor_us=1e6"}),
      doctest::Contains("allowed 1e6 s"), InputError);
}
