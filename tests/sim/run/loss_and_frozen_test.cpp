// Losses that are computed piece by piece, and weights that LoRA leaves alone in fewer bits: by hand.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "experiments.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"

namespace orrery {
namespace {

constexpr const char* kOneGpu =
    R"({"model": {"base": "llama3.1-8b"}, "cluster": {"base": "dgx-h100", "gpus_per_node": 1},
        "plan": {"global_batch_size": 1, "recompute": "full"},
        "software": {"kept_bytes_per_logit": 4, "loss_bytes_per_logit": 6, "allocator_overhead": 0,
                     "update_gradient_bytes": 0}})";

Report with(const std::vector<std::string>& changes) { return simulate(test::read(kOneGpu, changes)); }

std::string refusal(const std::vector<std::string>& changes) {
  try {
    (void)test::read(kOneGpu, changes);
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
  return "";
}

TEST_CASE("a loss in pieces holds the logits of one of them") {
  // 8192 tokens x 128,256 words: 4 + 6 bytes are 10.5 GB at the end of the forward pass; in 8 pieces an
  // eighth.
  const StageMemory whole = with({}).stage_memory.front();
  const StageMemory pieces = with({"plan.loss_chunks=8"}).stage_memory.front();
  const double logits = 8192.0 * 128'256;
  const double saved = static_cast<double>(whole.total() - pieces.total());
  CHECK(saved > 0.7 * 10 * logits);
  CHECK(saved < 10 * logits);
  // The products are the same: with 16 MB of weights gradients written 8 times more often, a few percent at
  // most.
  const double slower = with({"plan.loss_chunks=8"}).step_time_s() / with({}).step_time_s();
  CHECK(slower > 0.97);
  CHECK(slower < 1.05);
  CHECK(with({"plan.loss_chunks=8"}).model_flops_per_step == with({}).model_flops_per_step);
}

TEST_CASE("an odd number of pieces, one for each token, and pipelines that split backward passes") {
  const Bytes sevenths = with({"plan.loss_chunks=7"}).stage_memory.front().total();
  CHECK(sevenths > with({"plan.loss_chunks=8"}).stage_memory.front().total());
  CHECK(sevenths < with({"plan.loss_chunks=6"}).stage_memory.front().total());
  const std::vector<std::string> tiny{"model.seq_length=16", "plan.loss_chunks=4096"};
  CHECK(with(tiny).step_time_s() > 0);
  const auto split = [](const std::string& chunks) {
    return simulate(test::read(
        R"({"model": "gpt3-6.7b", "cluster": {"base": "dgx-a100-80gb", "nodes": 1}, "plan": {"pipeline_parallel": 4,
            "tensor_parallel": 2, "pipeline_schedule": "zb-h1", "global_batch_size": 16, "loss_chunks": )" +
        chunks + "}}"));
  };
  CHECK(split("4").stage_memory.back().total() < split("1").stage_memory.back().total());
}

TEST_CASE("weights that LoRA leaves alone take 4.13 bits in nf4, those of embedding and head 16") {
  const std::vector<std::string> lora{"model.lora_rank=16"};
  const std::vector<std::string> narrow{"model.lora_rank=16", "plan.frozen_precision=nf4"};
  const StageMemory wide = with(lora).stage_memory.front();
  const StageMemory packed = with(narrow).stage_memory.front();
  // 32 layers of 218.1 M weights: 2 bytes each, or 8452 for 16384 of them.
  const double weights = 32 * (4096.0 * (4096 + 2 * 1024 + 4096) + 3 * 4096.0 * 14'336 + 2 * 4096);
  const double saved = weights * (2 - 8452.0 / 16'384);
  CHECK(static_cast<double>(wide.parameters - packed.parameters) == doctest::Approx(saved).epsilon(1e-4));
  // Each product reads 0.516 and writes 2 bytes a weight first, forward, recomputed and backward.
  const double more_s = with(narrow).step_time_s() - with(lora).step_time_s();
  const double by_hand_s = 3 * weights * (2 + 8452.0 / 16'384) / (0.9 * 3.35e12);
  CHECK(more_s > 0.9 * by_hand_s);
  CHECK(more_s < 1.3 * by_hand_s);
}

TEST_CASE("what has no frozen weights or no vocabulary refuses the keys") {
  CHECK(refusal({"plan.frozen_precision=nf4"}).find("allowed as-computed without model.lora_rank") !=
        std::string::npos);
  CHECK(
      refusal({"model.lora_rank=8", "plan.frozen_precision=nf4", "plan.zero_stage=3"}).find("zero_stage 3") !=
      std::string::npos);
  CHECK(refusal({"model=resnet-50", "plan.recompute=none", "plan.loss_chunks=2"})
            .find("/plan/loss_chunks: found 2") != std::string::npos);
}

}  // namespace
}  // namespace orrery
