// Models with layers that recur, from their text to steps and served requests.
#include <doctest/doctest.h>

#include <string>

#include "config/experiment/read_experiment.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/run/iteration_cost.hpp"
#include "sim/run/prepare.hpp"
#include "tests/sim/run/experiments.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::catalog;
using orrery::test::read;

namespace {

std::string problems_of_model(const std::string& keys) {
  const std::string text =
      R"({"model": {"kind": "transformer", "layers": 4, "hidden": 256, "heads": 4, "vocab": 1000,
      "seq_length": 512, "attention": "flash", )" +
      keys + R"(}, "cluster": "dgx-h100"})";
  try {
    (void)read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// One GPU serves Mamba-2 layers alone.
Experiment pure(const std::vector<std::string>& overrides) {
  return read(R"({"model": {"kind": "transformer", "layers": 4, "hidden": 2048, "heads": 16, "vocab": 32000,
      "seq_length": 65536, "gated_mlp": true, "attention": "flash", "biases": false,
      "mamba2": {"heads": 64}, "layer_pattern": "M"},
      "cluster": {"base": "dgx-h100", "gpus_per_node": 1, "nodes": 1},
      "inference": {"prompt_tokens": 500, "output_tokens": 20, "batch_size": 4, "requests": 16}})",
              overrides);
}

Picoseconds decode_ps(const Experiment& experiment, std::int64_t context) {
  Memo memo;
  const PreparedExperiment prepared = prepare(experiment, memo);
  const auto costs = iteration_costs(prepared, *experiment.inference, replica_kinds(experiment).kinds, memo);
  IterationBatch batch;
  batch.decode_requests = batch.decode_tokens = batch.results = 4;
  batch.decode_context = 4 * context;
  return costs.front()->stage_ps(0, batch);
}

}  // namespace

TEST_CASE("hybrid models of the catalog train and serve") {
  struct Case {
    std::string model;
    std::string plan;
    std::string served;
  };
  const std::string experts = R"(, "expert_parallel": 16)";
  for (const Case& one : {Case{"nemotron-h-56b", "", ""}, Case{"nemotron-3-nano-30b-a3b", experts, ""},
                          Case{"qwen3-next-80b-a3b", experts, ""}, Case{"qwen3.5-122b-a10b", experts, ""},
                          Case{"deepseek-v3.2", experts, R"(, "weight_precision": "fp8")"}}) {
    CAPTURE(one.model);
    const std::string begin =
        R"({"model": ")" + one.model + R"(", "cluster": {"base": "dgx-h200", "nodes": 16}, "plan": {)";
    const Report step =
        simulate(read(begin + R"("tensor_parallel": 2, "global_batch_size": 512, "cuda_graphs": "step")" +
                      one.plan + "}}"));
    CHECK(step.makespan_ps > 0);
    CHECK(step.mfu() > 0.05);
    CHECK(step.mfu() < 0.6);
    const Report served = simulate(read(begin + R"("tensor_parallel": 8},
        "inference": {"prompt_tokens": 500, "output_tokens": 20, "batch_size": 4, "requests": 64)" +
                                        one.served + "}}"));
    REQUIRE(served.serving);
    CHECK(served.feasible);
    CHECK(served.serving->output_tokens == 64 * 20);
  }
}

TEST_CASE("letters are layers with one half") {
  const Model model =
      read(R"({"model": {"base": "nemotron-h-56b"}, "cluster": {"base": "dgx-h100", "nodes": 8}})").model;
  CHECK(model.layer(0).mixer == TokenMixer::mamba2);
  CHECK(model.layer(0).mlp == LayerMlp::none);
  CHECK(model.layer(1) ==
        LayerContent{LayerAttention::none, LayerMlp::dense, model.heads, model.kv_heads, model.ffn_hidden});
  CHECK(model.layer(7).attends());
}

TEST_CASE("decoding with a state takes the same time after any number of tokens") {
  const Experiment experiment = pure({});
  CHECK(decode_ps(experiment, 100) == decode_ps(experiment, 60000));
}

// A state of 4 layers: 64 heads of 64 x 128 values of 4 bytes, and three tokens of 64 x 64 + 2 x 128 channels
// of 2.
TEST_CASE("the cache holds as many requests as their states fit, however long they are") {
  const Experiment experiment = pure({});
  const Bytes state = 4 * (64 * 64 * 128 * 4 + 3 * (4096 + 256) * 2);
  const ReplicaKind kind = replica_kinds(experiment).kinds.front();
  const ServingMemory memory = serving_memory(experiment, *experiment.inference, kind, 500);
  CHECK(memory.cache_per_token == 0);
  CHECK(memory.state_per_request == state);
  CHECK(simulate(experiment).feasible);
  CHECK(simulate(pure({"inference.prompt_tokens=60000", "inference.requests=8"})).feasible);
}

TEST_CASE("shares of tokens, unlike cards and folding see layers that recur") {
  const std::string text =
      R"({"model": {"base": "qwen3-next-80b-a3b", "layers": 8}, "cluster": {"base": "dgx-h100", "nodes": 2},
      "plan": {"context_parallel": 2, "pipeline_parallel": 2, "expert_parallel": 4, "global_batch_size": 64}})";
  const Report folded = simulate(read(text));
  const Report whole = simulate(read(text, {"simulation.folding=off"}));
  CHECK(folded.makespan_ps == whole.makespan_ps);
  CHECK(folded.makespan_ps > 0);
}

TEST_CASE("mistakes in layers that recur say what is allowed") {
  CHECK(problems_of_model(R"("mamba2": {"heads": 8}, "layer_pattern": "MX")")
            .find("found 'X' as letter 2, allowed are M (mamba2)") != std::string::npos);
  CHECK(problems_of_model(R"("layer_pattern": "M*")")
            .find("found \"mamba2\", allowed only with model.mamba2") != std::string::npos);
  CHECK(
      problems_of_model(R"("mamba2": {"heads": 8})").find("found widths of layers that there are none of") !=
      std::string::npos);
  CHECK(problems_of_model(R"("mamba2": {"heads": 8, "groups": 3}, "layer_pattern": "M*")")
            .find("/model/mamba2/groups: found 3, allowed a divisor of heads 8") != std::string::npos);
  CHECK(problems_of_model(R"("mamba2": {"groups": 2}, "layer_pattern": "M*")").find("/model/mamba2") !=
        std::string::npos);
  CHECK(problems_of_model(R"("indexer": {"heads": 8, "top_k": 64})").find("without latent_attention") !=
        std::string::npos);
  CHECK(problems_of_model(R"("gated_delta_net": {"key_heads": 3, "value_heads": 8}, "layer_pattern": "G*")")
            .find("allowed a divisor of value_heads 8") != std::string::npos);
  CHECK(problems_of_model(R"("mamba2": {"heads": 8},
      "layer_pattern": [{"kind": "mamba2", "attention": "full"}, "attention"])")
            .find("beside a kind that is not attention") != std::string::npos);
  CHECK(problems_of_model(R"("mamba2": {"heads": 8}, "layer_pattern": ["mamba2", "attention"])").empty());
}
