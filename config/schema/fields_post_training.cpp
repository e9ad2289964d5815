// The keys of `post_training`: a step of reinforcement learning from rollouts.
#include "config/schema/fields.hpp"

namespace orrery {

namespace {
constexpr double kMostPrompts = 1e6;
constexpr double kMostVerifierSeconds = 1e6;
}  // namespace

const std::vector<Field<PostTraining>>& post_training_fields() {
  using P = PostTraining;
  using T = FieldTable<P>;
  static const std::vector<Field<P>> fields{
      T::choice(
          "algorithm", {kPostTrainingAlgorithmNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.algorithm = static_cast<PostTrainingAlgorithm>(i); }, "",
          "ppo has a critic; rejection trains on the best sample of each prompt"),
      T::integer("prompts_per_step", 1, kMostPrompts, &P::prompts_per_step, "", "prompts of a step"),
      T::integer("samples_per_prompt", 1, 1e4, &P::samples_per_prompt, "1", "outputs for each (group size)"),
      T::nested("prompt_tokens", "tokens of a prompt: a number, or an object with distribution, ..."),
      T::nested("response_tokens",
                "tokens of an output, likewise; mean is that of the lengths as they come out, cut to max"),
      T::text("lengths", std::monostate{},
              "a CSV file of requests whose lengths are taken in turn, in place of the two"),
      T::number("growth_tokens_per_step", "", 0, 1e6, &P::growth_tokens_per_step, "0",
                "by which the mean output grows from a step to the next"),
      T::number("kept_groups", "", 0.01, 1, &P::kept_groups, "1",
                "dapo: share of groups whose samples differ in reward; others are generated again"),
      T::number("oversampling", "", 1, 16, &P::oversampling, "1",
                "prompts begun over those needed; a step goes on when enough groups have ended"),
      T::integer("updates_per_step", 1, 1e5, &P::updates_per_step, "1",
                 "updates of the weights (mini-batches)"),
      T::integer("epochs", 1, 1000, &P::epochs, "1", "passes over the samples of a step"),
      T::integer("micro_batch_tokens", 1, kMaxTokens, &P::micro_batch_tokens,
                 "plan.micro_batch_size of the longest samples", "packed into a micro-batch at most"),
      T::integer("forward_micro_batch_tokens", 1, kMaxTokens, &P::forward_micro_batch_tokens,
                 "micro_batch_tokens", "the same of forward passes alone"),
      T::flag("old_log_probabilities", &P::old_log_probabilities, "true",
              "the actor computes those of the samples again before it is updated"),
      T::flag("prefix_sharing", &P::prefix_sharing, "true", "samples of a prompt share its keys and values"),
      T::flag("packing", &P::packing, "true",
              "samples share sequences of a micro-batch; else each is padded to the longest of the step"),
      T::nested("roles",
                "an object with actor, rollout, reference, critic, reward: who works on the samples"),
      T::choice(
          "placement", {kRolePlacementNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.placement = static_cast<RolePlacement>(i); }, "colocated",
          "colocated: all roles take turns on all GPUs; disaggregated: rollouts have GPUs of their own; "
          "hybrid: reference, critic and reward model have"),
      T::choice(
          "schedule", {kRolloutScheduleNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.schedule = static_cast<RolloutSchedule>(i); }, "synchronous",
          "how old the weights may be that a batch is generated with"),
      T::integer("max_staleness", 0, 64, &P::max_staleness, "1",
                 "asynchronous: updates by which they may be older than the newest"),
      T::flag("partial_rollouts", &P::partial_rollouts, "false",
              "asynchronous: samples under way go on with new weights, in place of waiting for them"),
      T::flag("whole_batches", &P::whole_batches, "false",
              "partial_rollouts: a step takes the samples begun for it, in place of those that end first"),
      T::choice(
          "weight_sync", {kWeightSyncMethodNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.weight_sync = static_cast<WeightSyncMethod>(i); }, "broadcast",
          "how weights come to rollouts on other GPUs"),
      T::number("sync_tensor_us", "us", 0, 1e6, &P::sync_tensor_us, "350",
                "host time to export a tensor and load it (160 to 770)"),
      T::number("sync_parameter_us", "us", 0, 1e3, &P::sync_parameter_us, "1.5",
                "broadcast: host time of a parameter of the engine when it lists them, for each tensor (1 to "
                "1.5 in an imitation)"),
      T::number("sync_bucket_mb", "1e6 bytes", 1, 1e6, &P::sync_bucket_mb, "1024",
                "checkpoint-engine, packed-broadcast: weights that are on their way together"),
      T::choice(
          "offload", {kStateOffloadNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.offload = static_cast<StateOffload>(i); }, "auto",
          "states of the actor that leave its GPUs while rollouts run there; auto: as few as make room"),
      T::flag(
          "swap_reference", &P::swap_reference, "false",
          "the reference's weights lie in the host's memory and take the place of the actor's on its GPUs"),
      T::choice(
          "host_copies", {kHostCopiesNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.host_copies = static_cast<HostCopies>(i); }, "pinned",
          "memory that states go to and come from; pinned: as fast as the link"),
      T::number("pageable_out_gb_per_s", "GB/s", 0.01, 1e4, &P::pageable_out_gb_per_s, "2.5",
                "pageable: a GPU's copies to the host, at most (1.7 to 3.9)"),
      T::number("pageable_in_gb_per_s", "GB/s", 0.01, 1e4, &P::pageable_in_gb_per_s, "8",
                "pageable: a GPU's copies from the host, at most (5 to 12)"),
      T::integer("steps", 1, 1000, &P::steps, "1; with staleness those that settle", "to simulate"),
  };
  return fields;
}

const std::vector<Field<RoleKeys>>& role_fields() {
  using R = RoleKeys;
  using T = FieldTable<R>;
  static const std::vector<Field<R>> fields{
      T::nested("model", "of this role, as at the top of an experiment; critic and reward alone"),
      T::nested("cluster", "of this role where its GPUs are other ones; disaggregated rollouts alone"),
      T::integer("gpus", 1, kMaxGpus, &R::gpus, "as the placement says", "GPUs of its own"),
      T::nested("plan", "its plan, over the keys of the experiment's plan (rollout: alone)"),
      T::text("stack", std::monostate{}, "its stack, in place of the experiment's"),
      T::nested("software", "an object, over the keys of the experiment's"),
      T::nested("inference", "rollout: an object with the engine's settings, without requests"),
      T::choice(
          "kind", {kRewardKindNames, nullptr, {}},
          +[](R& r, std::size_t i) { r.kind = static_cast<RewardKind>(i); }, "none",
          "reward: a rule, a model, or a verifier beside the GPUs"),
      T::number("latency_s", "s", 0, kMostVerifierSeconds, &R::latency_s, "0", "verifier: time for a sample"),
      T::integer("width", 1, 1e6, &R::width, "all", "verifier: samples at a time"),
  };
  return fields;
}

}  // namespace orrery
