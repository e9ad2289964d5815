// Megatron-LM's arguments: logs, model_config.yaml, Primus, and the traps of each.
#include <doctest/doctest.h>

#include <string>

#include "importers/frameworks/imported.hpp"

namespace orrery::importers::frameworks {
namespace {

/// A small model in the form of Megatron's functional tests; more arguments follow.
std::string model_config(const std::string& more) {
  return "ENV_VARS:\n  CUDA_DEVICE_MAX_CONNECTIONS: 1\nMODEL_ARGS:\n"
         "  --num-layers: 16\n  --hidden-size: 4096\n  --num-attention-heads: 32\n  --seq-length: 2048\n"
         "  --max-position-embeddings: 2048\n  --micro-batch-size: 1\n  --global-batch-size: 64\n  --bf16: "
         "true\n" +
         more + "TEST_TYPE: regular\n";
}

nlohmann::json experiment(const std::string& more, const std::vector<std::string>& settings = {}) {
  return experiment_of(imported({{"model_config.yaml", model_config(more)}}, settings));
}

constexpr const char* kLog =
    "node-1: using world size: 16\n"
    "node-1: ------------------------ arguments ------------------------\n"
    "node-1:   bf16 ............................................ True\n"
    "node-1:   ffn_hidden_size ................................. 16384\n"
    "node-1:   global_batch_size ............................... 32\n"
    "node-1:   group_query_attention ........................... False\n"
    "node-1:   hidden_size ..................................... 4096\n"
    "node-1:   kv_channels ..................................... None\n"
    "node-1:   micro_batch_size ................................ 2\n"
    "node-1:   num_attention_heads ............................. 32\n"
    "node-1:   num_experts ..................................... None\n"
    "node-1:   num_layers ...................................... 32\n"
    "node-1:   num_query_groups ................................ 1\n"
    "node-1:   padded_vocab_size ............................... 51200\n"
    "node-1:   pipeline_model_parallel_size .................... 2\n"
    "node-1:   seq_length ...................................... 2048\n"
    "node-1:   tensor_model_parallel_size ...................... 4\n"
    "node-1:   use_distributed_optimizer ....................... True\n"
    "node-1:   vocab_size ...................................... 50257\n"
    "node-1:   world_size ...................................... 16\n"
    "node-1: -------------------- end of arguments ---------------------\n"
    "node-2:  iteration 1/ 4 | elapsed time per iteration (ms): 9000.0 | lm loss: 1.1E+01 |\n"
    "node-2:  iteration 2/ 4 | elapsed time per iteration (ms): 2000.0 | lm loss: 1.1E+01 |\n"
    "node-2:  iteration 3/ 4 | elapsed time per iteration (ms): 2100.0 | lm loss: 1.1E+01 |\n"
    "node-2:  iteration 4/ 4 | elapsed time per iteration (ms): 2200.0 | lm loss: 1.1E+01 |\n";

}  // namespace

TEST_CASE("the block of arguments of a log is a whole experiment, with the steps that it measured") {
  const Imported result = imported({{"run.log", kLog}});
  const auto e = experiment_of(result);
  REQUIRE_FALSE(result.stopped());
  CHECK(result.files.front().kind == "megatron-log");
  CHECK(e.at("plan").at("tensor_parallel") == 4);
  CHECK(e.at("plan").at("zero_stage") == 1);
  CHECK(e.at("cluster").at("nodes") == 2);  // 16 GPUs, 8 in a node
  CHECK(e.at("model").at("vocab") == 51200);
  CHECK_FALSE(
      e.at("model").contains("kv_heads"));  // num_query_groups counts with group_query_attention alone
  // The first step warms up; of 2.0, 2.1 and 2.2 s the one in the middle.
  CHECK(item_of(result, "launch.measured_step_s")->note == "median 2.1 s without the first one");
  CHECK(item_of(result, "hidden_size")->place.line == 7);
}

TEST_CASE("widths that no argument gives are those of arguments.py") {
  // 4 x 4096 without a gate; with swiglu int(4 x 4096 x 2 / 3 / 64) x 64 = 170 x 64.
  CHECK(experiment("").at("model").at("ffn_hidden") == 16384);
  CHECK(experiment("  --swiglu: true\n").at("model").at("ffn_hidden") == 10880);
  CHECK(experiment("  --swiglu: true\n  --ffn-hidden-size: 14336\n").at("model").at("ffn_hidden") == 14336);
}

TEST_CASE("the vocabulary is padded to a multiple of 128 times tensor ranks") {
  const std::string tensor = "  --tensor-model-parallel-size: 8\n  --vocab-size: 50257\n";
  CHECK(experiment(tensor).at("model").at("vocab") == 51200);  // 50 x 1024
  CHECK(experiment(tensor + "  --make-vocab-size-divisible-by: 32\n").at("model").at("vocab") ==
        50432);  // 197 x 256
  // NullTokenizer has one token more, for the ends of documents: 131072 + 1, padded to 129 x 1024.
  CHECK(experiment(
            "  --tensor-model-parallel-size: 8\n  --vocab-size: 131072\n  --tokenizer-type: NullTokenizer\n")
            .at("model")
            .at("vocab") == 132096);
  CHECK(experiment(tensor, {"model.vocab=50257"}).at("model").at("vocab") == 50257);
}

TEST_CASE("older spellings mean the newer arguments") {
  const auto e =
      experiment("  --model-parallel-size: 2\n  --checkpoint-activations: true\n  --DDP-impl: local\n");
  CHECK(e.at("plan").at("tensor_parallel") == 2);
  CHECK(e.at("plan").at("recompute") == "full");
  CHECK(e.at("model").at("attention") == "core");  // that age kept the scores
  CHECK(e.at("stack") == "megatron-2022");
  CHECK(experiment("  --activations-checkpoint-method: uniform\n").at("plan").at("recompute") == "full");
}

TEST_CASE("chunks of stages stand as their number, as layers of one, or in a layout") {
  const std::string stages = "  --pipeline-model-parallel-size: 4\n";
  // 16 layers / 4 stages / 2 layers of a chunk.
  auto plan = experiment(stages + "  --num-layers-per-virtual-pipeline-stage: 2\n").at("plan");
  CHECK(plan.at("virtual_stages") == 2);
  CHECK(plan.at("pipeline_schedule") == "interleaved-1f1b");
  CHECK(
      experiment(stages + "  --num-virtual-stages-per-pipeline-rank: 4\n").at("plan").at("virtual_stages") ==
      4);
  // Embedding and 3 layers, 5 times 2 layers, 2 more, then 1 layer and the loss: two chunks of 4 stages.
  plan = experiment(stages + "  --pipeline-model-parallel-layout: Et*3|(tt|)*5tt|tL\n").at("plan");
  CHECK(plan.at("stage_layers") == nlohmann::json({3, 2, 2, 2, 2, 2, 2, 1}));
  CHECK(plan.at("virtual_stages") == 2);
  CHECK(imported({{"m.yaml", model_config(stages + "  --pipeline-model-parallel-layout: Et*8|t*7|tL\n")}})
            .stopped());
}

TEST_CASE("layers with experts are a list in Python, or every n-th one from the first on") {
  const std::string experts =
      "  --num-experts: 8\n  --moe-router-topk: 2\n  --expert-model-parallel-size: 4\n";
  auto e = experiment(experts + "  --moe-layer-freq: ([0]*2+[1]*14)\n");
  CHECK(e.at("model").at("dense_layers") == 2);
  CHECK(e.at("model").at("expert_ffn_hidden") == 16384);
  CHECK(e.at("cluster").at("gpus_per_node") == 4);  // the least for 4 ranks of experts
  // Every second one from the first on is no last one of two: a pattern.
  e = experiment(experts + "  --moe-layer-freq: 2\n");
  CHECK(e.at("model").at("layer_pattern").size() == 16);
  CHECK(imported({{"m.yaml", model_config(experts + "  --moe-layer-freq: '[1]*3'\n")}}).stopped());
}

TEST_CASE("expert ranks are those of data, context and tensor parallelism over their own tensor ranks") {
  const std::string ranks =
      "  --num-experts: 8\n  --tensor-model-parallel-size: 2\n  --expert-model-parallel-size: 8\n";
  // 8 x 1 ranks in 2 tensor ranks take 4 replicas: 8 GPUs; 8 x 2 take 16.
  CHECK(experiment(ranks + "  --expert-tensor-parallel-size: 1\n").at("cluster").at("nodes") == 1);
  CHECK(experiment(ranks).at("cluster").at("nodes") == 2);
}

TEST_CASE("a batch that grows is the one that the training ends in, and the report says so") {
  std::string text =
      model_config("  --step-batch-size-schedule: '0:384 200B:768 400B:1152'\n  --train-samples: 1000000\n");
  text.erase(text.find("  --global-batch-size: 64\n"), 26);
  // 1e6 samples of 2048 tokens are 2e9, which is before the second phase.
  const Imported result = imported({{"m.yaml", text}});
  CHECK(experiment_of(result).at("plan").at("global_batch_size") == 384);
  CHECK(item_of(result, "plan.global_batch_size")->note.find("grows") != std::string::npos);
}

TEST_CASE("letters of hybrids are layers, and what is not modelled is refused until it may be approximated") {
  std::string text =
      model_config("  --hybrid-layer-pattern: M-M*M-ME\n  --moe-latent-size: 256\n  --num-experts: 8\n");
  text.erase(text.find("  --num-layers: 16\n"), 19);
  CHECK(is_missing(imported({{"m.yaml", text}}), "latent MoE"));
  const Imported near = imported({{"m.yaml", text}}, {}, true);
  REQUIRE_FALSE(near.stopped());
  CHECK(experiment_of(near).at("model").at("layer_pattern") == "M-M*M-ME");
  CHECK(experiment_of(near).at("model").at("layers") == 8);
  CHECK(experiment_of(near).at("model").at("mamba2").at("heads") == 128);  // 2 x 4096 / 64
  CHECK(item_of(near, "--moe-latent-size")->note.find("approximated") != std::string::npos);
}

TEST_CASE("variables without a value are missing, and --set gives them") {
  const std::string degree =
      "  --tensor-model-parallel-size: ${TP}\n  --tensorboard-dir: ${TENSORBOARD_PATH}\n";
  const Imported result = imported({{"m.yaml", model_config(degree)}});
  CHECK(result.stopped());
  CHECK(is_missing(result, "--set TP=VALUE"));
  CHECK(item_of(result, "--tensorboard-dir")->fate == Fate::ignored);  // it changes nothing
  CHECK(experiment(degree, {"TP=2"}).at("plan").at("tensor_parallel") == 2);
  CHECK(experiment(degree, {"plan.tensor_parallel=4"}).at("plan").at("tensor_parallel") == 4);
}

TEST_CASE("Primus names a model and overrides arguments, with defaults of variables") {
  const std::string text =
      "exp_name: run\nmodules:\n  pre_trainer:\n    framework: megatron\n    model: "
      "${PRIMUS_MODEL:deepseek_v3}.yaml\n"
      "    overrides:\n      tensor_model_parallel_size: ${PRIMUS_TP:2}\n      micro_batch_size: 1\n"
      "      global_batch_size: 64\n      expert_model_parallel_size: ${PRIMUS_EP:8}\n      seq_length: "
      "4096\n";
  const auto e = experiment_of(imported({{"p.yaml", text}}, {"PRIMUS_TP=4"}));
  CHECK(e.at("model").at("base") == "deepseek-v3");
  CHECK(e.at("plan").at("tensor_parallel") == 4);
  CHECK(e.at("plan").at("expert_parallel") == 8);
}

}  // namespace orrery::importers::frameworks
