// Tests what is refused in a section `post_training`, with the place where it stands.
#include <doctest/doctest.h>

#include <string>

#include "config/experiment/read_experiment.hpp"
#include "config/experiment/read_post_training.hpp"
#include "orrery/error.hpp"

using namespace orrery;

namespace {

constexpr const char* kSound =
    R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 2}, "plan": {"zero_stage": 1},
 "post_training": {"algorithm": "grpo", "prompts_per_step": 8, "samples_per_prompt": 4,
 "prompt_tokens": 112, "response_tokens": {"distribution": "log-normal", "mean": 300, "deviation": 300, "max": 900},
 "roles": {"actor": {"plan": {"tensor_parallel": 2}},
 "rollout": {"plan": {"tensor_parallel": 4}}}}})";

PostTrainingExperiment read(const std::vector<std::string>& overrides = {}) {
  return PostTrainingExperiment(kSound, "e.json", overrides, Catalog::embedded(), menus());
}

std::string refusal(const std::vector<std::string>& overrides) {
  try {
    static_cast<void>(read(overrides));
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
  return "";
}

bool refused(const std::vector<std::string>& overrides, const std::string& part) {
  const std::string text = refusal(overrides);
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("roles have the experiment's keys below their own") {
  const PostTrainingExperiment experiment = read();
  CHECK(experiment.role(PostTrainingRole::actor).plan.zero_stage == 1);
  CHECK(experiment.role(PostTrainingRole::actor).plan.tensor_parallel == 2);
  CHECK(experiment.role(PostTrainingRole::actor).plan.data_parallel == 8);
  CHECK(experiment.rollout().plan.tensor_parallel == 4);
  CHECK(experiment.rollout().plan.data_parallel == 4);
  CHECK(experiment.rollout().inference->context_tokens == 1012);
  CHECK(experiment.longest_sample() == 1012);
  CHECK(experiment.micro_batch_tokens(false) == 1012);
  CHECK_FALSE(experiment.has(PostTrainingRole::reference));
  CHECK(experiment.gpus() == 16);
}

TEST_CASE("a share of the GPUs is whole nodes or an equal part of one") {
  const PostTrainingExperiment apart =
      read({"post_training.placement=disaggregated", "post_training.roles.rollout.gpus=8"});
  CHECK(apart.gpus(PostTrainingRole::actor) == 8);
  CHECK(apart.gpus(PostTrainingRole::rollout) == 8);
  refused({"post_training.placement=disaggregated", "post_training.roles.rollout.gpus=6"},
          "found 10 GPUs for actor, allowed whole nodes of 8 or an equal part of one");
  refused({"post_training.placement=disaggregated"}, "found disaggregated without the GPUs");
  refused({"post_training.roles.rollout.gpus=8"}, "found 8, allowed 16 (placement colocated)");
}

TEST_CASE("mistakes are found where they stand") {
  CHECK(refusal({"post_training.algorithm=grp"}) ==
        "command line: /post_training/algorithm: found \"grp\", allowed one of ppo, grpo, dapo, rejection; "
        "did you "
        "mean "
        "\"grpo\"?");
  refused({"post_training.roles.rollout.plan.tensor_parallel=3"},
          "/post_training/roles/rollout/plan/tensor_parallel: found 3");
  refused({"plan.zero_stage=7"}, "/plan/zero_stage: ");
  refused({"post_training.roles.acter.gpus=8"}, "did you mean \"actor\"?");
  refused({"post_training.response_tokens.mean=900"}, "found 900, allowed less than max 900");
  refused({"post_training.schedule=one-step-off"}, "where rollouts and updates take turns");
  refused({"inference.batch_size=8"}, "/inference: found beside post_training");
  refused({"post_training.roles.rollout.inference.requests=8"}, "whose samples are the requests");
}

TEST_CASE("every key acts or is refused") {
  refused({"post_training.max_staleness=2"}, "found without schedule asynchronous, where it does nothing");
  refused({"post_training.kept_groups=0.5"}, "found without algorithm dapo");
  refused({"post_training.weight_sync=host-memory"}, "found without placement disaggregated");
  refused({"post_training.sync_parameter_us=1"},
          "found without placement disaggregated and weight_sync broadcast");
  refused({"post_training.swap_reference=true"}, "found without a reference on the actor's GPUs");
  refused({"post_training.offload=none", "post_training.host_copies=pageable"}, "which copy states");
  refused({"post_training.pageable_in_gb_per_s=4"}, "found without host_copies pageable");
  refused({"post_training.whole_batches=true"}, "found without partial_rollouts");
  refused({"post_training.response_tokens=300", "post_training.packing=false"}, "samples of unlike lengths");
  refused({"post_training.roles.actor.inference.batch_size=8"}, "found a key that only rollout has");
  refused({"post_training.roles.reward.latency_s=8"}, "only reward of kind verifier has");
  refused({"post_training.roles.critic.plan.tensor_parallel=2"}, "allowed with algorithm ppo alone");
  refused({"post_training.prompts_per_step=1000000", "post_training.samples_per_prompt=10000"},
          "found 1e+10 samples");
}

TEST_CASE("the usual reader names the command for such experiments") {
  try {
    static_cast<void>(read_experiment_text(kSound, "e.json", {}, Catalog::embedded(), menus()));
    FAIL("it was read");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().text().find(
              "/post_training: found a step of several roles, allowed in orrery simulate FILE alone") !=
          std::string::npos);
  }
}
