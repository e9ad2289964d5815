// The catalog against published figures: every entry reads, and each model has its published size.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "tests/sim/run/experiments.hpp"
#include "workloads/models/transformer_shape.hpp"
#include "workloads/programs/lower.hpp"

using namespace orrery;
using orrery::test::catalog;
using orrery::test::read;

TEST_CASE("every model of the catalog has its published parameter count") {
  // Exact where a checkpoint was published, else the paper's figure to its digits (1.7 B is 1.65 B in full,
  // 350 M is 356 M).
  const std::map<std::string, double> exact{
      {"llama-7b", 6'738'415'616},        {"llama-13b", 13'015'864'320},  {"llama-33b", 32'528'943'616},
      {"llama-65b", 65'285'660'672},      {"llama3.1-8b", 8'030'261'248}, {"llama3.1-70b", 70'553'706'496},
      {"llama3.1-405b", 405'853'388'800}, {"bert-large", 335'141'888},    {"resnet-50", 25'557'032},
  };
  const std::map<std::string, double> rounded{
      {"gpt3-125m", 125e6},       {"gpt3-350m", 356e6},       {"gpt3-760m", 760e6},
      {"gpt3-1.3b", 1.3e9},       {"gpt3-2.7b", 2.65e9},      {"gpt3-6.7b", 6.66e9},
      {"gpt3-13b", 13e9},         {"gpt3-175b", 175e9},       {"megatron-1.7b", 1.65e9},
      {"megatron-3.6b", 3.6e9},   {"megatron-7.5b", 7.5e9},   {"megatron-18b", 18.4e9},
      {"megatron-39b", 39.1e9},   {"megatron-76b", 76.1e9},   {"megatron-145b", 145.6e9},
      {"megatron-310b", 310.1e9}, {"megatron-530b", 529.6e9}, {"megatron-1t", 1008.0e9},
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
    CHECK(transformer_model_flops(e.model, batch) +
              transformer_recompute_flops(e.model, batch, Recompute::full) ==
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
    const Report r =
        run(read(R"({"model": "gpt3-125m", "cluster": {"base": ")" + name + R"(", "nodes": 4}})")).report;
    CHECK(r.makespan_ps > 0);
    CHECK(r.gpus > 1);
  }
}
