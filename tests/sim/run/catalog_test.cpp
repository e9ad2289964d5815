// The catalog against published figures: every entry reads, and each model has its published size.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "tests/sim/run/experiments.hpp"
#include "tests/workloads/recomputation.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/expert_shape.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::catalog;
using orrery::test::read;

TEST_CASE("every model of the catalog has its published parameter count") {
  // Exact where a checkpoint was published, else the paper's figure to its digits (1.7 B is 1.65 B in full,
  // 350 M is 356 M).
  const std::map<std::string, double> exact{
      {"llama-7b", 6'738'415'616},
      {"llama-13b", 13'015'864'320},
      {"llama-33b", 32'528'943'616},
      {"llama-65b", 65'285'660'672},
      {"llama3.1-8b", 8'030'261'248},
      {"llama3.1-70b", 70'553'706'496},
      {"llama3.1-405b", 405'853'388'800},
      {"bert-large", 335'141'888},
      {"resnet-50", 25'557'032},
      {"mixtral-8x7b", 46'702'792'704},
      {"mixtral-8x22b", 140'620'634'112},
      {"deepseek-v2", 235'741'434'880},
      {"deepseek-v3", 671'026'404'352},
      {"qwen2.5-7b", 7'615'616'512},
      {"qwen2.5-32b", 32'763'876'352},
      {"qwen2.5-72b", 72'706'203'648},
      {"qwen3-8b", 8'190'735'360},
      {"qwen3-32b", 32'762'123'264},
      {"qwen3-30b-a3b", 30'532'122'624},
      {"qwen3-235b-a22b", 235'093'634'560},
      {"qwen3-coder-480b-a35b", 480'154'875'392},
      {"kimi-k2", 1'026'408'209'408},
      {"nemotron-h-56b", 56'324'350'464},
      {"nemotron-3-nano-30b-a3b", 31'577'937'344},
      {"qwen3-next-80b-a3b", 81'324'862'720},
      {"qwen3.5-122b-a10b", 124'635'206'144},
      // V3, an indexer in each of its layers, and the module that predicts a further token.
      {"deepseek-v3.2", 683'501'956'608},
      {"minimax-m2.5", 228'689'748'992},
      {"glm-4.5", 352'797'814'784},
      {"gpt-oss-20b", 20'914'757'184},
      {"gpt-oss-120b", 116'829'156'672},
      {"gemma2-9b", 9'241'705'984},
      {"gemma2-27b", 27'227'128'320},
      {"mistral-7b", 7'241'732'096},
      {"t5-11b", 11'307'321'344},
      {"resnet-101", 44'549'160},
      {"vgg-16", 138'357'544},
  };
  const std::map<std::string, double> rounded{
      {"gpt3-125m", 125e6},       {"gpt3-350m", 356e6},       {"gpt3-760m", 760e6},
      {"gpt3-1.3b", 1.3e9},       {"gpt3-2.7b", 2.65e9},      {"gpt3-6.7b", 6.66e9},
      {"gpt3-13b", 13e9},         {"gpt3-175b", 175e9},       {"megatron-1.7b", 1.65e9},
      {"megatron-3.6b", 3.6e9},   {"megatron-7.5b", 7.5e9},   {"megatron-18b", 18.4e9},
      {"megatron-39b", 39.1e9},   {"megatron-76b", 76.1e9},   {"megatron-145b", 145.6e9},
      {"megatron-310b", 310.1e9}, {"megatron-530b", 529.6e9}, {"megatron-1t", 1008.0e9},
      {"grok-1", 314e9},          {"llama4-scout", 108e9},    {"llama4-maverick", 400e9},
      {"gemma3-27b", 27e9},       {"olmo2-7b", 7.3e9},        {"olmo2-13b", 13.7e9},
      {"nemotron-4-340b", 340e9},
  };
  const auto names = catalog().names(CatalogKind::model);
  CHECK(names.size() == exact.size() + rounded.size());
  for (const std::string& name : names) {
    CAPTURE(name);
    const Experiment e =
        read(R"({"model": ")" + name + R"(", "cluster": "dgx-a100-80gb", "plan": {"data_parallel": 8}})");
    const auto parameters = static_cast<double>(parameter_count(e.model));
    if (const auto found = exact.find(name); found != exact.end()) {
      CHECK(parameters == found->second);
    } else {
      REQUIRE(rounded.count(name) == 1);
      CHECK(std::abs(parameters / rounded.at(name) - 1) < 0.015);
    }
  }
}

// The README of the released weights has 671B of the main model, and 14B of the module with copies of
// embedding and output: 2 x 7168^2 of the projection, 5 norms of 7168, attention of 187,107,328, a router of
// 256 x 7168, 257 experts of 3 x 7168 x 2048; and 2 x 129,280 x 7168 of copies.
TEST_CASE("DeepSeek-V3's module for multi-token prediction has 14 B parameters") {
  const auto parameters = [](const char* tokens) {
    return parameter_count(read(R"({"model": "deepseek-v3", "cluster": "dgx-h800"})",
                                {std::string("model.multi_token_prediction=") + tokens})
                               .model);
  };
  const std::int64_t own = 102'760'448 + 5 * 7168 + 187'107'328 + 256 * 7168 + 257 * 44'040'192LL;
  CHECK(parameters("1") - parameters("0") == own);
  CHECK(std::abs(static_cast<double>(own + 2 * 129'280 * 7168LL) / 14e9 - 1) < 0.05);
}

// The published counts of gpt-oss leave out the embedding, 201,088 x 2,880.
TEST_CASE("a token meets as many parameters as published") {
  const std::map<std::string, double> published{
      {"mixtral-8x7b", 12.9e9},
      {"mixtral-8x22b", 39e9},
      {"deepseek-v2", 21e9},
      {"deepseek-v3", 37e9},
      {"qwen3-30b-a3b", 3.3e9},
      {"qwen3-235b-a22b", 22e9},
      {"llama4-scout", 17e9},
      {"llama4-maverick", 17e9},
      {"gpt-oss-20b", 3.6e9 + 201'088 * 2'880.0},
      {"gpt-oss-120b", 5.1e9 + 201'088 * 2'880.0},
  };
  for (const auto& entry : published) {
    const std::string& name = entry.first;
    CAPTURE(name);
    const Model model = read(R"({"model": ")" + name + R"(", "cluster": "dgx-b200"})").model;
    CHECK(std::abs(static_cast<double>(active_parameters(model)) / entry.second - 1) < 0.05);
  }
}

TEST_CASE("the Megatron table's FLOPs to the last digit") {
  // Rows of the slides' table: layers, hidden, global batch; F = 96 B s l h^2 (1 + s/6h + V/16lh).
  const std::map<std::string, std::array<std::int64_t, 3>> rows{
      {"megatron-1.7b", {24, 2304, 512}},    {"megatron-3.6b", {30, 3072, 512}},
      {"megatron-7.5b", {36, 4096, 512}},    {"megatron-18b", {40, 6144, 1024}},
      {"megatron-39b", {48, 8192, 1536}},    {"megatron-76b", {60, 10240, 1792}},
      {"megatron-145b", {80, 12288, 2304}},  {"megatron-310b", {96, 16384, 2160}},
      {"megatron-530b", {105, 20480, 2520}}, {"megatron-1t", {128, 25600, 3072}},
  };
  for (const auto& entry : rows) {
    const std::string& name = entry.first;
    const auto [l, h, batch] = entry.second;
    CAPTURE(name);
    const Experiment e =
        read(R"({"model": ")" + name + R"(", "cluster": "dgx-a100-80gb", "plan": {"data_parallel": 8}})");
    const std::int64_t s = 2048, v = 51200;
    const TotalFlops expected = TotalFlops{96} * batch * s * l * h * h +
                                TotalFlops{16} * batch * s * s * l * h + TotalFlops{6} * batch * s * h * v;
    CHECK(transformer_model_flops(e.model, batch) + test::flops_again(e.model, batch, Recompute::full) ==
          expected);
  }
}

TEST_CASE("every GPU and cluster of the catalog runs a model") {
  for (const std::string& name : catalog().names(CatalogKind::gpu)) {
    CAPTURE(name);
    CHECK(run(read(R"({"model": "gpt3-125m", "cluster": {"gpu": ")" + name +
                   R"(", "gpus_per_node": 1, "nodes": 1}})"))
              .report.makespan_ps > 0);
  }
  for (const std::string& name : catalog().names(CatalogKind::cluster)) {
    CAPTURE(name);
    const std::string cluster = R"({"model": "gpt3-125m", "cluster": {"base": ")" + name + "\"}}";
    // Entries of one node stand for clusters of any size; a torus is as large as its shape.
    const bool one_node = read(cluster).cluster.nodes == 1;
    const Report r = run(read(cluster, one_node ? std::vector<std::string>{"cluster.nodes=4"}
                                                : std::vector<std::string>{}))
                         .report;
    CHECK(r.makespan_ps > 0);
    CHECK(r.gpus > 1);
  }
}
