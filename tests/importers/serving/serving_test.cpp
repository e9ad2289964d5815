// How models are served, from commands, files of options and traces.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "importers/import.hpp"
#include "orrery/error.hpp"

namespace orrery::importers {
namespace {

using nlohmann::json;

std::string served_file(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::temp_directory_path() / "orrery-importers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name) << text;
  return (folder / name).string();
}

Imported served(const std::vector<std::string>& files, const std::vector<std::string>& settings = {}) {
  return import_files({files, settings, "", false}, Catalog::embedded(), menus());
}

json experiment_of(const Imported& imported) { return json::parse(imported.experiment_json); }

const ImportItem* found(const Imported& imported, const std::string& key) {
  for (const ImportItem& item : imported.items)
    if (item.key == key || item.ours == key) return &item;
  return nullptr;
}

}  // namespace

TEST_CASE("vllm serve: a model by name, degrees, limits, and requests of a benchmark") {
  const Imported imported = served({served_file("serve.sh", R"(#!/bin/bash
MODEL=meta-llama/Llama-3.1-70B-Instruct
export TP=4
CUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve "$MODEL" \
  -tp ${TP} --max-model-len 8k --max-num-seqs 128 --gpu-memory-utilization=0.92 \
  --kv-cache-dtype fp8 --no-enable-prefix-caching &
vllm bench serve --model $MODEL --random-input-len 2000 --random-output-len 200 --num-prompts 500 --request-rate 4
)")});
  REQUIRE_FALSE(imported.stopped());
  const json experiment = experiment_of(imported);
  CHECK(experiment.at("model").at("base") == "llama3.1-70b");
  CHECK(experiment.at("plan").at("tensor_parallel") == 4);
  CHECK(experiment.at("stack") == "vllm-2026");
  const json& inference = experiment.at("inference");
  CHECK(inference.at("max_model_len") == 8000);
  CHECK(inference.at("batch_size") == 128);
  CHECK(inference.at("kv_precision") == "fp8");
  CHECK(inference.at("prompt_tokens") == 2000);
  CHECK(inference.at("requests_per_s") == 4);
  CHECK(experiment.at("cluster").at("gpus_per_node") == 4);  // tensor 4 x pipeline 1 x data 1
  CHECK(found(imported, "max_model_len")->place.line == 5);
}

TEST_CASE("a variable that nothing gives is missing until --set gives it") {
  const std::vector<std::string> files{
      served_file("open.sh", "vllm serve meta-llama/Llama-3.1-8B -tp $WORLD\n")};
  const Imported open = served(files);
  CHECK(open.stopped());
  CHECK(found(open, "tensor_parallel_size")->note.find("--set WORLD=VALUE") != std::string::npos);
  const Imported given = served(files, {"WORLD=2"});
  REQUIRE_FALSE(given.stopped());
  CHECK(experiment_of(given).at("plan").at("tensor_parallel") == 2);
}

TEST_CASE("nothing of a command is run, and commands in commands are not known") {
  const std::string marker = (std::filesystem::temp_directory_path() / "orrery-importers" / "ran").string();
  std::filesystem::remove(marker);
  const Imported imported =
      served({served_file("trick.sh", "vllm serve m -tp $(touch " + marker + "; echo 2)\n")});
  CHECK(imported.stopped());
  CHECK_FALSE(std::filesystem::exists(marker));
}

TEST_CASE("SGLang: ranks of attention are tp over dp, and -1 is whole prompts") {
  const Imported imported = served({served_file("sglang.sh", R"(python -m sglang.launch_server \
  --model-path deepseek-ai/DeepSeek-V3 --tp 8 --dp 8 --ep 8 --enable-dp-attention --chunked-prefill-size -1 \
  --mem-fraction-static 0.85 --context-length 4096)")});
  REQUIRE_FALSE(imported.stopped());
  const json experiment = experiment_of(imported);
  CHECK(experiment.at("plan").at("tensor_parallel") == 1);  // 8 / 8
  CHECK(experiment.at("plan").at("data_parallel") == 8);
  CHECK(experiment.at("plan").at("expert_parallel") == 8);
  CHECK(experiment.at("inference").at("chunked_prefill") == false);
  CHECK(experiment.at("inference").at("block_size") == 1);
}

TEST_CASE("files of options: vLLM with hyphens, TensorRT-LLM with parts") {
  const Imported vllm = served({served_file("vllm.yaml",
                                            "model: Qwen/Qwen3-32B\ntensor-parallel-size: 2\n"
                                            "max-model-len: 16K\ndtype: bfloat16\n")});
  REQUIRE_FALSE(vllm.stopped());
  CHECK(experiment_of(vllm).at("inference").at("max_model_len") == 16'384);
  const Imported trt =
      served({served_file("trt.yaml",
                          "tensor_parallel_size: 4\nmax_num_tokens: 4096\nkv_cache_config:\n"
                          "  dtype: fp8\n  tokens_per_block: 64\ncuda_graph_config: null\n")},
             {"model=llama3.1-8b"});
  REQUIRE_FALSE(trt.stopped());
  CHECK(experiment_of(trt).at("stack") == "tensorrt-llm-2026");
  CHECK(experiment_of(trt).at("inference").at("block_size") == 64);
  CHECK(experiment_of(trt).at("inference").at("max_num_batched_tokens") == 4096);
}

TEST_CASE("Mooncake's hashes say which share of prompts is in the cache") {
  // Prompts of 1024 tokens in two blocks of 512: the second shares one block, the third both: 1536 of 3072.
  const std::string trace = served_file(
      "mooncake.jsonl",
      "{\"timestamp\": 0, \"input_length\": 1024, \"output_length\": 10, \"hash_ids\": [1, 2]}\n"
      "{\"timestamp\": 500, \"input_length\": 1024, \"output_length\": 10, \"hash_ids\": [1, 3]}\n"
      "{\"timestamp\": 900, \"input_length\": 1024, \"output_length\": 10, \"hash_ids\": [1, 2]}\n");
  const Imported imported = served({trace}, {"model=llama3.1-8b", "stack=vllm-2026"});
  REQUIRE_FALSE(imported.stopped());
  CHECK(experiment_of(imported).at("inference").at("prefix_reuse") == 0.5);
  CHECK(experiment_of(imported).at("inference").at("requests") == trace);
}

TEST_CASE("rows of a trace without a length are no requests") {
  // One of three rows has no length, and one a text in its place: nothing was in the cache before the first.
  const std::string trace =
      served_file("lengths.jsonl",
                  R"({"timestamp": 0, "input_length": 1024, "output_length": 5, "hash_ids": [0, 1]}
{"timestamp": 1, "output_length": 5, "hash_ids": [0, 1]}
{"timestamp": 2, "input_length": "long", "output_length": 5, "hash_ids": [0, 1]}
)");
  const Imported imported = served({trace}, {"model=llama3.1-8b", "stack=vllm-2026"});
  const ImportItem* reuse = found(imported, "hash_ids");
  REQUIRE(reuse != nullptr);
  CHECK(reuse->found == "0");
}

TEST_CASE("BurstGPT's columns are read, and its failed requests left out") {
  const Imported imported =
      served({served_file("burst.csv",
                          "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                          "5,ChatGPT,472,18,490,Conversation log\n"
                          "45,ChatGPT,1087,0,1087,Conversation log\n"
                          "118,GPT-4,417,276,693,Conversation log\n")},
             {"model=llama3.1-8b"});
  REQUIRE_FALSE(imported.stopped());
  CHECK(found(imported, "Response tokens")->note.find("failed") != std::string::npos);
}

TEST_CASE("mutations of a script are read or refused") {
  const std::string text =
      "A=${B:-2}\nvllm serve m/x -tp $A --max-model-len '8k' --speculative-config "
      "'{\"num_speculative_tokens\": 2}' \\\n # c\n";
  std::mt19937 random(7);
  constexpr const char* kBytes = "$`'\"\\{}()=#;&| \n-";
  for (int i = 0; i < 400; ++i) {
    std::string changed = text;
    for (int n = 0; n < 3; ++n) changed[random() % changed.size()] = kBytes[random() % 17];
    try {
      (void)served({served_file("mutated.sh", changed)}, {"model=llama3.1-8b"});
    } catch (const InputError& error) {
      CHECK_FALSE(error.diagnostics().empty());
    }
  }
}

}  // namespace orrery::importers
