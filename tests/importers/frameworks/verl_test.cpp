// Reads launches of verl, and reads back what steps of post-training are exported to: the section and the
// plans of all roles are the same, but for keys that verl cannot say.
#include "planner/emit/verl.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/experiment/read_post_training.hpp"
#include "config/experiment/resolved.hpp"
#include "config/schema/menus.hpp"
#include "tests/importers/frameworks/imported.hpp"
#include "tests/source_dir.hpp"

namespace orrery::importers::frameworks {
namespace {

using VerlKeys = std::map<std::string, std::string>;

/// Keys that do not come back, with the reason. Those of which verl is told nothing stand in comments of its
/// script.
const VerlKeys kUnsaid{
    {"rollout.inference.batch_size", "without a limit in the experiment, verl has its own of 1024"},
    {"actor.plan.overlap_parameter_gather", "Megatron gathers ahead only beside reductions that overlap"},
    {"critic.plan.overlap_parameter_gather", "likewise"},
};

template <class Lengths>
std::string text_of_lengths(const Lengths& lengths) {
  return std::to_string(static_cast<int>(lengths.kind)) + " " + std::to_string(lengths.mean) + " " +
         std::to_string(lengths.most);
}

VerlKeys section_keys(const PostTraining& section) {
  const auto name = [](auto value) { return std::to_string(static_cast<long long>(value)); };
  return {{"algorithm", name(section.algorithm)},
          {"prompts_per_step", name(section.prompts_per_step)},
          {"samples_per_prompt", name(section.samples_per_prompt)},
          {"prompt_tokens", text_of_lengths(section.prompt)},
          {"response_tokens", text_of_lengths(section.response)},
          {"updates_per_step", name(section.updates_per_step)},
          {"epochs", name(section.epochs)},
          {"old_log_probabilities", name(section.old_log_probabilities)},
          {"prefix_sharing", name(section.prefix_sharing)},
          {"packing", name(section.packing)},
          {"reward", name(section.reward)},
          {"placement", name(section.placement)},
          {"schedule", name(section.schedule)},
          {"max_staleness", name(section.max_staleness)},
          {"partial_rollouts", name(section.partial_rollouts)},
          {"weight_sync", name(section.weight_sync)},
          {"offload", name(section.offload)},
          {"swap_reference", name(section.swap_reference)},
          {"gpus", name(section.gpus[1])}};
}

/// All that two readings of a step of post-training can differ by.
VerlKeys keys_of(const PostTrainingExperiment& experiment) {
  VerlKeys keys = section_keys(experiment.section());
  keys["micro_batch_tokens"] = std::to_string(experiment.micro_batch_tokens(false));
  keys["forward_micro_batch_tokens"] = std::to_string(experiment.micro_batch_tokens(true));
  for (std::size_t role = 0; role < kPostTrainingRoleCount; ++role) {
    if (!experiment.has(static_cast<PostTrainingRole>(role))) continue;
    const nlohmann::ordered_json resolved =
        resolved_keys(experiment.role(static_cast<PostTrainingRole>(role)), menus());
    for (const char* part : {"plan", "inference", "cluster"})
      if (resolved.contains(part))
        for (const auto& [key, value] : resolved.at(part).items())
          keys[std::string(kPostTrainingRoleNames[role]) + "." + part + "." + key] = value.dump();
  }
  return keys;
}

/// The keys that differ, each with both of its values.
std::string differences(const VerlKeys& before, const VerlKeys& after) {
  std::string text;
  for (const auto& [key, value] : before) {
    const auto other = after.find(key);
    const std::string back = other == after.end() ? "nothing" : other->second;
    if (back != value && !kUnsaid.contains(key)) text += key + " " + value + " -> " + back + "; ";
  }
  for (const auto& [key, value] : after)
    if (!before.contains(key) && !kUnsaid.contains(key)) text += key + " nothing -> " + value + "; ";
  return text;
}

PostTrainingExperiment read_step(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return PostTrainingExperiment(text, "step", overrides, Catalog::embedded(), menus());
}

std::string example() {
  std::stringstream text;
  text << std::ifstream(orrery::test::source_dir() / "examples/post-training/grpo.yaml").rdbuf();
  return text.str();
}

/// Exports the example with overrides and reads it back: the keys that differ.
std::string lost(const std::vector<std::string>& overrides) {
  const PostTrainingExperiment before = read_step(example(), overrides);
  const Imported back = imported(
      {{"verl.sh", write_verl(before)}},
      {"model=llama3.1-8b", "cluster.base=dgx-h100", "stack=" + before.role(PostTrainingRole::actor).stack,
       "post_training.response_tokens={distribution: log-normal, mean: 892, deviation: 892, max: 3969}"});
  for (const ImportItem& item : back.items)
    if (item.stops()) FAIL_CHECK(item.key << " " << item.found << " " << item.ours << " " << item.note);
  if (back.stopped()) return "stopped";
  return differences(keys_of(before), keys_of(read_step(back.experiment_json)));
}

/// One GPU of each node trains, with FSDP; a script as people write it.
constexpr const char* kFsdpScript = R"sh(set -x
MODEL_PATH=${MODEL_PATH:-"$HOME/models/Qwen3-8B"}
max_response_length=$((1024 * 8))
offload=False
python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=gae \
    data.train_files="$HOME/data/train.parquet" \
    data.train_batch_size=256 data.max_prompt_length=1024 \
    data.max_response_length=${max_response_length} \
    actor_rollout_ref.model.path="${MODEL_PATH}" \
    actor_rollout_ref.actor.strategy=fsdp \
    actor_rollout_ref.actor.ppo_mini_batch_size=100 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \
    actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 \
    actor_rollout_ref.actor.fsdp_config.param_offload=${offload} \
    actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.ref.fsdp_config.param_offload=True \
    actor_rollout_ref.rollout.name=sglang \
    actor_rollout_ref.rollout.tensor_model_parallel_size=4 \
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4 \
    +actor_rollout_ref.model.override_config.max_position_embeddings=32768 \
    trainer.logger=['console','wandb'] \
    trainer.nnodes=2 trainer.n_gpus_per_node=8 "$@" 2>&1 | tee run.log
)sh";

}  // namespace

TEST_CASE("what a step of post-training is exported to as verl reads back as the same step") {
  // Its `offload` is left to the simulator, and verl is told a choice: that alone does not come back.
  CHECK(lost({}) == "offload 0 -> 3; ");
  CHECK(lost({"post_training.offload=optimizer", "post_training.packing=false",
              "post_training.swap_reference=true"}) == "");
}

TEST_CASE("layouts of roles come back from verl") {
  const std::vector<std::string> plan{"post_training.offload=all",
                                      "post_training.roles.actor.plan.tensor_parallel=2",
                                      "post_training.roles.actor.plan.sequence_parallel=true",
                                      "post_training.roles.actor.plan.context_parallel=2",
                                      "post_training.roles.actor.plan.virtual_stages=2",
                                      "post_training.roles.actor.plan.pipeline_schedule=interleaved-1f1b",
                                      "post_training.roles.actor.plan.overlap_gradient_reduce=true",
                                      "post_training.roles.actor.plan.recompute=selective"};
  CHECK(lost(plan) == "");
  // With reductions that overlap, parameters are gathered ahead too: that comes back.
  const auto beside = [](const VerlKeys& keys) { return keys.at("actor.plan.overlap_parameter_gather"); };
  const PostTrainingExperiment before = read_step(example(), plan);
  REQUIRE(beside(keys_of(before)) == "true");
  CHECK(write_verl(before).find("override_ddp_config.overlap_param_gather=True") != std::string::npos);
  CHECK(lost({"post_training.offload=none", "post_training.roles.actor.plan.zero_stage=3",
              "post_training.roles.actor.plan.pipeline_parallel=1",
              "post_training.roles.reference.plan.pipeline_parallel=1",
              "post_training.roles.reference.plan.zero_stage=3"}) == "");
}

TEST_CASE("rollouts on other GPUs come back from verl") {
  CHECK(lost({"post_training.placement=disaggregated", "post_training.schedule=one-step-off",
              "post_training.roles.rollout.gpus=8"}) == "");
  CHECK(lost({"post_training.placement=disaggregated", "post_training.schedule=asynchronous",
              "post_training.roles.rollout.gpus=8", "post_training.max_staleness=2",
              "post_training.partial_rollouts=true", "post_training.old_log_probabilities=false",
              "post_training.weight_sync=checkpoint-engine"}) == "");
}

TEST_CASE("critics and reward models come back from verl") {
  CHECK(lost({"post_training.algorithm=ppo", "post_training.offload=all",
              "post_training.roles.critic.plan={pipeline_parallel: 2, zero_stage: 1}",
              "post_training.roles.reward={kind: model, plan: {tensor_parallel: 2}}"}) == "");
}

TEST_CASE("scripts of verl with FSDP are read as people write them") {
  const Imported result = imported({{"run.sh", kFsdpScript}}, {"model=llama3.1-8b"});
  const nlohmann::json step = experiment_of(result);
  REQUIRE(step.contains("post_training"));
  const nlohmann::json& section = step.at("post_training");
  CHECK(section.at("algorithm") == "ppo");
  CHECK(section.at("prompts_per_step") == 256);
  CHECK(section.at("response_tokens") == 8192);
  // 256 prompts in mini-batches of 100: 100, 100 and 56.
  CHECK(section.at("updates_per_step") == 3);
  // 4 samples of 1024 + 8192 tokens.
  CHECK(section.at("forward_micro_batch_tokens") == 4 * (1024 + 8192));
  const nlohmann::json& actor = section.at("roles").at("actor").at("plan");
  CHECK(actor.at("zero_stage") == 3);
  CHECK(actor.at("context_parallel") == 2);
  CHECK(actor.at("micro_batch_size") == 2);
  CHECK(actor.at("recompute") == "full");
  CHECK(section.at("roles").contains("critic"));
  CHECK(section.at("roles").contains("reference"));
  CHECK(section.at("swap_reference") == true);
  CHECK(section.at("offload") == "none");
  CHECK(section.at("roles").at("rollout").at("stack") == "sglang-2025");
  CHECK(step.at("cluster").at("nodes") == 2);
  CHECK(origin_of(result, "launch.model")->value == "\"Qwen3-8B\"");
}

TEST_CASE("the configuration of verl is read as YAML, with what its interpolations select") {
  const Imported result = imported({{"ppo.yaml", R"(
actor_rollout_ref:
  model: {path: Qwen/Qwen3-30B-A3B}
  actor:
    strategy: megatron
    ppo_mini_batch_size: 32
    use_dynamic_bsz: true
    ppo_max_token_len_per_gpu: 8192
    use_kl_loss: false
    megatron: {tensor_model_parallel_size: 2, expert_model_parallel_size: 4, context_parallel_size: 2}
  rollout:
    name: vllm
    n: 8
    tensor_model_parallel_size: 4
    log_prob_use_dynamic_bsz: ${oc.select:actor_rollout_ref.actor.use_dynamic_bsz,false}
    log_prob_max_token_len_per_gpu: ${oc.select:actor_rollout_ref.actor.no_such_key,16384}
data: {train_batch_size: 128, max_prompt_length: 512, max_response_length: 1536}
algorithm: {adv_estimator: rloo}
trainer: {nnodes: 4, n_gpus_per_node: 8}
)"}},
                                   {"model=qwen3-30b-a3b"});
  const nlohmann::json step = experiment_of(result);
  REQUIRE(step.contains("post_training"));
  const nlohmann::json& section = step.at("post_training");
  CHECK(section.at("algorithm") == "grpo");
  CHECK(section.at("updates_per_step") == 4);
  // Two ranks share a sequence: each is told half of the tokens.
  CHECK(section.at("micro_batch_tokens") == 2 * 8192);
  CHECK(section.at("forward_micro_batch_tokens") == 2 * 16384);
  CHECK(section.at("roles").at("actor").at("plan").at("expert_parallel") == 4);
  CHECK_FALSE(section.at("roles").contains("reference"));
}

TEST_CASE("the asynchronous recipe counts a step in mini-batches, and trainers have GPUs of their own") {
  const Imported result = imported({{"run.sh", R"sh(n_gpus_rollout=4
n_gpus_training=$((8 - n_gpus_rollout))
python -m recipe.fully_async_policy.fully_async_main data.train_batch_size=0 data.gen_batch_size=1 \
    data.max_prompt_length=2048 data.max_response_length=8192 actor_rollout_ref.rollout.n=16 \
    algorithm.adv_estimator=grpo actor_rollout_ref.actor.strategy=fsdp2 actor_rollout_ref.hybrid_engine=False \
    actor_rollout_ref.actor.ppo_mini_batch_size=32 actor_rollout_ref.actor.fsdp_config.fsdp_size=2 \
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.tensor_model_parallel_size=1 \
    trainer.nnodes=1 trainer.n_gpus_per_node=${n_gpus_training} \
    rollout.nnodes=1 rollout.n_gpus_per_node=${n_gpus_rollout} \
    async_training.staleness_threshold=0.5 async_training.trigger_parameter_sync_step=4
)sh"}},
                                   {"model=qwen2.5-7b"});
  const nlohmann::json step = experiment_of(result);
  REQUIRE(step.contains("post_training"));
  const nlohmann::json& section = step.at("post_training");
  // 4 mini-batches of 32 prompts between two hand-overs of weights.
  CHECK(section.at("prompts_per_step") == 128);
  CHECK(section.at("updates_per_step") == 4);
  CHECK(section.at("schedule") == "asynchronous");
  // Half of the samples may be stale: a whole update, rounded up.
  CHECK(section.at("max_staleness") == 1);
  CHECK(section.at("partial_rollouts") == true);
  CHECK(section.at("old_log_probabilities") == false);
  CHECK_FALSE(section.contains("forward_micro_batch_tokens"));
  CHECK(section.at("roles").at("rollout").at("gpus") == 4);
  CHECK(section.at("roles").at("actor").at("plan").at("zero_group_size") == 2);
  CHECK(step.at("cluster").at("nodes") == 1);
}

TEST_CASE("what a script of verl leaves open is asked for, and bad values are told") {
  const Imported open = imported({{"run.sh",
                                   "TP=$1\npython3 -m verl.trainer.main_ppo data.train_batch_size=8 "
                                   "actor_rollout_ref.actor.strategy=megatron "
                                   "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=${TP}\n"}},
                                 {"model=llama3.1-8b"});
  CHECK(open.stopped());
  const Imported wrong = imported({{"run.sh",
                                    "python3 -m verl.trainer.main_ppo data.train_batch_size=eight "
                                    "actor_rollout_ref.rollout.n=2\n"}},
                                  {"model=llama3.1-8b"});
  CHECK(wrong.stopped());
  CHECK(item_of(wrong, "data.train_batch_size")->fate == Fate::contradictory);
  const Imported none =
      imported({{"run.sh", "# actor_rollout_ref.rollout.n\necho nothing\n"}}, {"model=llama3.1-8b"});
  CHECK(is_missing(none, "settings of verl"));
}

}  // namespace orrery::importers::frameworks
