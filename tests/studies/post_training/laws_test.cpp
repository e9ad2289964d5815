// Tests laws of post-training steps: what they must come to whatever the prices are, and agreement to the bit
// with serving and training alone.
#include <doctest/doctest.h>

#include <numeric>

#include "config/experiment/read_experiment.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "studies/post_training/batches.hpp"
#include "studies/post_training/forward_pass.hpp"
#include "studies/post_training/post_training.hpp"

using namespace orrery;

namespace {

using P = PostTrainingPhase;

/// 8 prompts of 4 samples; lengths of one kind, so that steps are those of pre-training and serving.
constexpr const char* kTurns =
    R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 1},
        "post_training": {"algorithm": "grpo", "prompts_per_step": 8, "samples_per_prompt": 4,
          "prompt_tokens": 112, "response_tokens": 400, "prefix_sharing": false, "micro_batch_tokens": 1024,
          "roles": {"actor": {"plan": {"tensor_parallel": 2, "zero_stage": 1}},
                    "rollout": {"plan": {"tensor_parallel": 2}, "inference": {"gpu_memory_utilization": 0.6}}}}})";

/// Two nodes, one of them for rollouts, and lengths that differ.
constexpr const char* kApart =
    R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 2},
        "post_training": {"algorithm": "grpo", "prompts_per_step": 16, "samples_per_prompt": 4,
          "prompt_tokens": 112, "placement": "disaggregated", "micro_batch_tokens": 2048,
          "response_tokens": {"distribution": "log-normal", "mean": 300, "deviation": 300, "max": 1500},
          "roles": {"actor": {"plan": {"tensor_parallel": 2, "zero_stage": 1}},
                    "rollout": {"gpus": 8, "plan": {"tensor_parallel": 2}}}}})";

PostTrainingExperiment experiment_of(const char* text, const std::vector<std::string>& overrides = {}) {
  return PostTrainingExperiment(text, "test", overrides, Catalog::embedded(), menus());
}

PostTrainingResult simulated(const char* text, const std::vector<std::string>& overrides = {}) {
  return simulate_post_training(experiment_of(text, overrides));
}

Picoseconds phase(const PostTrainingResult& result, P which) {
  return result.phases[static_cast<std::size_t>(which)];
}

Picoseconds sum(const PhaseTimes& times) {
  return std::accumulate(times.begin(), times.end(), Picoseconds{0});
}

Report alone(const char* text) {
  return simulate(read_experiment_text(text, "test", {}, Catalog::embedded(), menus()).experiment);
}

}  // namespace

TEST_CASE("a synchronous step is the sum of its phases") {
  const PostTrainingResult result = simulated(kTurns);
  CHECK(result.feasible);
  CHECK(sum(result.phases) == result.duration_ps);
  CHECK(result.exposed == result.phases);
  CHECK(result.staleness == std::vector<std::int64_t>{32});
}

TEST_CASE("generation is the serving simulation alone, to the bit") {
  // 32 requests of 112 and 400 tokens, all at once: a closed loop of 32 on 4 replicas begins them so.
  const Report served = alone(
      R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 1}, "plan": {"tensor_parallel": 2},
          "software": {"front_end_ms": 0, "front_end_request_us": 0, "front_end_message_us": 0},
          "inference": {"prompt_tokens": 112, "output_tokens": 400, "requests": 32, "batch_size": 8,
                        "gpu_memory_utilization": 0.6, "max_model_len": 512}})");
  CHECK(phase(simulated(kTurns, {"post_training.roles.rollout.inference.batch_size=8"}), P::generation) ==
        served.serving->duration_ps);
}

TEST_CASE("an update is the training step alone, to the bit") {
  // 8 samples of 512 tokens a replica, two in a micro-batch of 1024.
  const Report trained = alone(
      R"({"model": {"base": "llama3.1-8b", "seq_length": 512}, "cluster": {"base": "dgx-h100", "nodes": 1},
          "plan": {"tensor_parallel": 2, "zero_stage": 1, "micro_batch_size": 2, "global_batch_size": 32}})");
  const PostTrainingResult result = simulated(kTurns);
  CHECK(result.micro_batches == 4);
  CHECK(phase(result, P::update_actor) == trained.makespan_ps);
  // Two updates have half of the micro-batches each.
  const Report half = alone(
      R"({"model": {"base": "llama3.1-8b", "seq_length": 512}, "cluster": {"base": "dgx-h100", "nodes": 1},
          "plan": {"tensor_parallel": 2, "zero_stage": 1, "micro_batch_size": 2, "global_batch_size": 16}})");
  CHECK(phase(simulated(kTurns, {"post_training.updates_per_step=2"}), P::update_actor) ==
        2 * half.makespan_ps);
}

TEST_CASE("forward passes take their share of a step") {
  const PostTrainingResult result = simulated(kTurns);
  const double share = static_cast<double>(phase(result, P::old_log_probabilities)) /
                       static_cast<double>(phase(result, P::update_actor));
  CHECK(share > 0.25);  // a third of the products, and no optimizer
  CHECK(share < 0.4);
}

TEST_CASE("forward passes of a steady pipeline add up") {
  const auto forward = [](int micro_batches) {
    Memo memo;
    const std::string text = R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 1},
      "plan": {"pipeline_parallel": 4, "micro_batch_size": 1, "global_batch_size": )" +
                             std::to_string(2 * micro_batches) + "}}";
    return forward_time(read_experiment_text(text, "test", {}, Catalog::embedded(), menus()).experiment,
                        memo);
  };
  // With 4 stages, 21 and more micro-batches are told from 10 and 20.
  const Picoseconds twenty = forward(20);
  const Picoseconds one_more = forward(21) - twenty;
  CHECK(forward(40) - twenty == doctest::Approx(static_cast<double>(20 * one_more)).epsilon(1e-6));
  CHECK(static_cast<double>(twenty) == doctest::Approx(static_cast<double>(23 * one_more)).epsilon(0.05));
}

TEST_CASE("apart and as large, phases are those of taking turns without the switch") {
  const PostTrainingResult turns = simulated(kTurns);
  const PostTrainingResult apart = simulated(
      kTurns,
      {"cluster.nodes=2", "post_training.placement=disaggregated", "post_training.roles.rollout.gpus=8"});
  for (const P which : {P::generation, P::old_log_probabilities, P::update_actor})
    CHECK(phase(apart, which) == phase(turns, which));
  CHECK(phase(apart, P::switching) == 0);
  CHECK(apart.duration_ps - phase(apart, P::weight_sync) ==
        turns.duration_ps - phase(turns, P::weight_sync) - phase(turns, P::switching));
  // Each side waits while the other works.
  CHECK(apart.idle.trainers_ps == Int128{phase(apart, P::generation)} * 8);
}

TEST_CASE("tokens are conserved") {
  const PostTrainingExperiment experiment = experiment_of(kApart);
  BatchMaker batches(experiment);
  const std::vector<Sample> drawn = batches.samples(0);
  std::int64_t prompts = 0;
  std::int64_t responses = 0;
  for (const Sample& sample : drawn) {
    prompts += sample.prompt_tokens;
    responses += sample.response_tokens;
  }
  const PostTrainingResult result = simulate_post_training(experiment);
  CHECK(result.samples == 64);
  CHECK(result.prompt_tokens == prompts);
  CHECK(result.response_tokens == responses);
  // The mean is that of the lengths as they come out, to a token a sample.
  CHECK(static_cast<double>(responses) == doctest::Approx(300.0 * 64).epsilon(0.01));
}

TEST_CASE("no staleness is the synchronous step") {
  const PostTrainingResult synchronous = simulated(kApart);
  const PostTrainingResult none =
      simulated(kApart, {"post_training.schedule=asynchronous", "post_training.max_staleness=0"});
  CHECK(none.duration_ps == synchronous.duration_ps);
}

TEST_CASE("steps off policy are bounded by their slower side, and take no longer than turns") {
  const PostTrainingResult synchronous = simulated(kApart, {"post_training.steps=4"});
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{"post_training.schedule=one-step-off"},
        {"post_training.schedule=asynchronous", "post_training.max_staleness=2"},
        {"post_training.schedule=asynchronous", "post_training.partial_rollouts=true"}}) {
    const PostTrainingResult off = simulated(kApart, overrides);
    CAPTURE(overrides.back());
    CHECK(sum(off.exposed) == off.duration_ps);
    const Picoseconds trained = phase(off, P::old_log_probabilities) + phase(off, P::update_actor);
    CHECK(off.duration_ps >= trained + phase(off, P::weight_sync));
    CHECK(off.step_time_s() <= synchronous.step_time_s());
    CHECK(off.mean_staleness() > 0);
    CHECK(std::ssize(off.staleness) - 1 <= off.section.staleness_bound());
  }
}

TEST_CASE("one step off takes as long as the longer of generation and update, and the transfer") {
  // All batches are alike, so each step is: transfer, then both sides.
  const std::vector<std::string> apart{"cluster.nodes=2", "post_training.placement=disaggregated",
                                       "post_training.roles.rollout.gpus=8"};
  const PostTrainingResult turns = simulated(kTurns, apart);
  std::vector<std::string> off = apart;
  off.emplace_back("post_training.schedule=one-step-off");
  const PostTrainingResult overlapped = simulated(kTurns, off);
  const Picoseconds trained = phase(turns, P::old_log_probabilities) + phase(turns, P::update_actor);
  CHECK(overlapped.steps == 4);
  CHECK(overlapped.duration_ps ==
        4 * (phase(turns, P::weight_sync) + std::max(phase(turns, P::generation), trained)));
  CHECK(overlapped.staleness == std::vector<std::int64_t>{0, 128});
}

TEST_CASE("prompts begun beyond those needed end a step early") {
  const PostTrainingResult all = simulated(kApart);
  const PostTrainingResult more = simulated(kApart, {"post_training.oversampling=1.5"});
  CHECK(more.samples == all.samples);
  CHECK(more.generated == 96);
  CHECK(phase(more, P::generation) < phase(all, P::generation));
}

TEST_CASE("a verifier shows where it is slower than generation") {
  const auto with = [](const char* width) {
    return simulated(kTurns,
                     {"post_training.roles.reward.kind=verifier", "post_training.roles.reward.latency_s=2",
                      std::string("post_training.roles.reward.width=") + width});
  };
  // All 32 samples end together: side by side they take 2 s, 8 at a time 8 s.
  CHECK(phase(with("32"), P::reward) <= 2'000'000'000'000);
  CHECK(phase(with("8"), P::reward) <= 8'000'000'000'000);
  CHECK(phase(with("8"), P::reward) - phase(with("32"), P::reward) == 6'000'000'000'000);
}

TEST_CASE("a result is the same to the bit again") {
  const PostTrainingResult first = simulated(kApart, {"post_training.schedule=one-step-off"});
  const PostTrainingResult again = simulated(kApart, {"post_training.schedule=one-step-off"});
  CHECK(post_training_json(first, -1) == post_training_json(again, -1));
}

TEST_CASE("states that leave go at the rate of the link, or of pageable memory") {
  const std::vector<std::string> offloaded{"post_training.offload=all"};
  const PostTrainingResult pinned = simulated(kTurns, offloaded);
  const PostTrainingResult pageable =
      simulated(kTurns, {"post_training.offload=all", "post_training.host_copies=pageable"});
  const Bytes leaving = pinned.memory.front().offloaded;
  CHECK(leaving > 0);
  CHECK(phase(pinned, P::switching) == 2 * transfer_ps(leaving, 64'000'000'000));
  CHECK(phase(pageable, P::switching) ==
        transfer_ps(leaving, 2'500'000'000) + transfer_ps(leaving, 8'000'000'000));
  // Pageable memory is no faster than the link.
  const PostTrainingResult fast = simulated(
      kTurns, {"post_training.offload=all", "post_training.host_copies=pageable",
               "post_training.pageable_out_gb_per_s=1000", "post_training.pageable_in_gb_per_s=1000"});
  CHECK(fast.duration_ps == pinned.duration_ps);
}

TEST_CASE("a reference that is swapped in costs three copies of the weights") {
  const std::vector<std::string> resident{"post_training.roles.reference={}"};
  const PostTrainingResult without = simulated(kTurns, resident);
  const PostTrainingResult swapped =
      simulated(kTurns, {"post_training.roles.reference={}", "post_training.swap_reference=true"});
  // 8.03e9 weights of 2 bytes on two tensor ranks, at 64 GB/s.
  const Picoseconds copies = phase(swapped, P::switching) - phase(without, P::switching);
  CHECK(to_seconds(copies) == doctest::Approx(3 * 8.03 / 64).epsilon(0.01));
  CHECK(swapped.duration_ps == without.duration_ps + copies);
  CHECK(sum(swapped.exposed) == swapped.duration_ps);
}

TEST_CASE("whole batches keep to their step, within the bound of staleness") {
  const PostTrainingResult whole =
      simulated(kApart, {"post_training.schedule=asynchronous", "post_training.partial_rollouts=true",
                         "post_training.whole_batches=true"});
  CHECK(whole.steps == 4);  // two rounds of two batches
  CHECK(whole.samples == 4 * 64);
  CHECK(std::ssize(whole.staleness) - 1 <= 1);
  // The tokens are those that were drawn for the steps of the figures.
  const PostTrainingExperiment experiment = experiment_of(kApart);
  BatchMaker batches(experiment);
  std::int64_t responses = 0;
  for (std::int64_t step = 2; step < 6; ++step)
    for (const Sample& sample : batches.samples(step)) responses += sample.response_tokens;
  CHECK(whole.response_tokens == responses);
}

TEST_CASE("padding takes more micro-batches than packing") {
  const PostTrainingResult packed = simulated(kApart);
  const PostTrainingResult padded = simulated(kApart, {"post_training.packing=false"});
  CHECK(padded.fill < packed.fill);
  CHECK(phase(padded, P::update_actor) > phase(packed, P::update_actor));
  CHECK(phase(padded, P::generation) == phase(packed, P::generation));
}
