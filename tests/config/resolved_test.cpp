// A resolved experiment, read again, is the experiment; warnings are where they belong.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "config/text/document.hpp"
#include "tests/source_dir.hpp"

using namespace orrery;

namespace {

LocatedExperiment read_whole(const std::string& text, const std::string& source,
                             const std::vector<std::string>& overrides = {}) {
  static const Catalog catalog = Catalog::embedded();
  static const Menus all = menus();
  return read_experiment_text(text, source, overrides, catalog, all);
}

void check_again(const LocatedExperiment& read) {
  const std::string text = read.positions.resolved(read.experiment);
  CAPTURE(text);
  const LocatedExperiment again = read_whole(text, "again.json");
  CHECK(again.experiment == read.experiment);
}

std::string warned(const std::vector<std::string>& overrides, const char* model = "llama-7b") {
  const LocatedExperiment read =
      read_whole(R"({"model": ")" + std::string(model) + R"(", "cluster": "dgx-h100"})", "e.json", overrides);
  std::string out;
  for (const Diagnostic& diagnostic : read.positions.warnings(read.experiment))
    out += diagnostic.text() + "\n";
  return out;
}

}  // namespace

TEST_CASE("resolved examples are equal to what they were made from") {
  for (const auto& file : std::filesystem::directory_iterator(test::source_dir() / "examples")) {
    if (file.is_directory()) continue;
    const std::string path = file.path().string();
    CAPTURE(path);
    check_again(read_whole(read_text(path), path));
  }
}

TEST_CASE("resolved experiments keep what only some of them have") {
  const auto check = [](const std::string& more, const std::vector<std::string>& overrides = {}) {
    check_again(
        read_whole(R"({"model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 4})" + more + "}",
                   "e.json", overrides));
  };
  check("");
  check(
      R"(, "plan": {"pipeline_parallel": 2, "stage_layers": [5, 7], "recompute": "full", "precision": "fp16"})");
  check(R"(, "plan": {"pipeline_parallel": 8, "stage_layers": "auto"})");
  check(R"(, "plan": {"zero_stage": 1, "zero_group_size": 8, "collectives": {"all-gather": "ring"}})");
  check(R"(, "plan": {"zero_stage": 3, "prefetch": 2, "reshard_after_forward": false, "fsdp_unit_layers": 3,
         "gradient_reduction": "every-step", "wire_precision": {"data": "fp32", "expert": "fp8", "pipeline": "mxfp8"}})");
  check(R"(, "plan": {"optimizer": "lion", "moment_precision": "bf16", "main_weight_precision": "none",
         "offload": "optimizer", "offload_fraction": 0.25})");
  check(R"(, "plan": {"pipeline_parallel": 2, "virtual_stages": 3, "global_batch_size": 64,
         "pipeline_schedule": "interleaved-1f1b"})");
  check(
      R"(, "data_parallel_sync": {"method": "gossip", "topology": "torus", "level": "node", "compression": "qsgd"})");
  check(R"(, "training": {"tokens": "300B"}, "accuracy": {"target": 0.01}, "stack": "megatron-2021")");
  check(
      R"(, "simulation": {"network": "alpha-beta", "detail": "stage", "steps": 3, "seed": 5, "folding": "off"})");
  check("",
        {"model.lora_rank=8", "model.lora_targets=[linear_qkv]", "cluster.overrides=[{gpu: 3, speed: 0.5}]"});
  check("", {"cluster.node.efficiency=0.51", "software.jitter=0.125", "model.attention=flash"});
  check("", {"cluster.nodes=1", "cluster.gpus_per_node=1"});
  check("", {"model=resnet-50"});
  check("", {"model=resnet-50", "data_parallel_sync.method=gossip"});
  check("", {"model=bert-large", "model.attention=flash"});
}

TEST_CASE("values come with where they are from") {
  const LocatedExperiment read = read_whole(
      "{\"model\": \"gpt3-125m\",\n \"cluster\": \"dgx-a100-80gb\",\n \"plan\": {\"zero_stage\": 1}}",
      "e.json", {"plan.micro_batch_size=2"});
  const std::string text = read.positions.resolved(read.experiment);
  CAPTURE(text);
  const auto has = [&](std::string_view line) { return text.find(line) != std::string::npos; };
  CHECK(has("\"zero_stage\": 1,  // e.json:3\n"));
  CHECK(has("\"micro_batch_size\": 2,  // command line\n"));
  CHECK(has("\"layers\": 12,  // catalog model gpt3-125m\n"));
  CHECK(has("\"sms\": 108,  // catalog gpu a100-80gb\n"));
  CHECK(has("\"tensor_parallel\": 1,\n"));
  CHECK(has("// catalog calibration nemo-2024\n"));
  CHECK(has("\"stack\": \"nemo-2024\",  // none is named, and this is the usual one of language models\n"));
}

TEST_CASE("values that look like another unit, and recomputation of nothing, get a warning") {
  CHECK(warned({}) == "");
  CHECK(warned({"cluster.node.link_gb_per_s=900"}) ==
        "command line: /cluster/node/link_gb_per_s: warning: found 900 GB/s, 2 times the 450 GB/s of h100 in "
        "the "
        "catalog: the key is of one direction\n");
  CHECK(warned({"cluster.gpu.memory_gb=80000"}) ==
        "command line: /cluster/gpu/memory_gb: warning: found 80000 GB, which looks like MB\n");
  CHECK(warned({"cluster.gpu.memory_gb=0.08"}).find("looks like TB") != std::string::npos);
  CHECK(warned({"cluster.gpu.peak_tflops.bf16=989000"}).find("looks like GFLOP/s") != std::string::npos);
  CHECK(warned({"cluster.node.latency_us=500"}).find("looks like ns") != std::string::npos);
  CHECK(warned({"plan.recompute=selective"}) ==
        "command line: /plan/recompute: warning: found \"selective\", which changes nothing with attention "
        "\"flash\": it keeps no scores\n");
  CHECK(warned({"plan.recompute=selective"}, "gpt3-125m") == "");
  CHECK(warned({"plan.recompute=full"}) == "");
}

TEST_CASE("keys that do nothing beside the others get a warning") {
  const auto of_plan = [](const std::string& key, const std::string& beside) {
    return "command line: /plan/" + key + ": warning: found a value that does nothing with " + beside + "\n";
  };
  CHECK(warned({"plan.sequence_parallel=true"}) == of_plan("sequence_parallel", "tensor_parallel 1"));
  CHECK(warned({"plan.context_parallel_type=all-gather"}) ==
        of_plan("context_parallel_type", "context_parallel 1"));
  CHECK(warned({"plan.wire_precision.pipeline=fp8"}) ==
        of_plan("wire_precision/pipeline", "pipeline_parallel 1"));
  CHECK(warned({"plan.wire_precision.dispatch=fp8"}) ==
        of_plan("wire_precision/dispatch", "expert_parallel 1"));
  CHECK(warned({"plan.sequence_parallel=true", "plan.tensor_parallel=2"}) == "");
  CHECK(warned({"plan.context_parallel_type=all-gather", "plan.context_parallel=2"}) == "");
}

TEST_CASE("no cluster of the catalog gets a warning") {
  const Catalog catalog = Catalog::embedded();
  for (const std::string& name : catalog.names(CatalogKind::cluster)) {
    CAPTURE(name);
    const LocatedExperiment read =
        read_whole(R"({"model": "gpt3-125m", "cluster": ")" + name + "\"}", "e.json");
    CHECK(read.positions.warnings(read.experiment).empty());
  }
}

// Experts are sharded over all ranks that hold the same ones: a group of replicas is refused there, so none
// is chosen either, and the chosen plan can be read again.
TEST_CASE("no group of replicas is chosen to shard a model with experts") {
  for (const char* asked : {R"("zero_group_size": "auto", )", ""}) {  // or by the software
    const LocatedExperiment read = read_whole(
        R"({"model": "mixtral-8x7b", "cluster": {"base": "dgx-h100", "nodes": 4}, "software":
            {"chooses_sharding": true}, "plan": {"expert_parallel": 8, "zero_stage": 1, )" +
            std::string(asked) + R"("global_batch_size": 64}})",
        "e.json");
    CHECK_FALSE(read.experiment.plan.choose_zero_group);
    CHECK(read.experiment.plan.zero_group_size == 0);
    check_again(read);
  }
}

TEST_CASE("a resolved experiment that serves requests is what it was made from") {
  for (const char* inference :
       {R"("prompt_tokens": 100, "output_tokens": 10, "batching": "static", "batch_size": 4)",
        R"("prompt_tokens": {"distribution": "log-normal", "mean": 90, "deviation": 40, "max": 400},
           "output_tokens": {"distribution": "uniform", "min": 2, "max": 90}, "requests_per_s": 2,
           "requests": 50, "chunked_prefill": true, "guaranteed_no_evict": true, "kv_precision": "fp8", "weight_precision": "int4",
           "speculative": {"num_speculative_tokens": 3, "acceptance_rate": 0.7},
           "disaggregated": {"prefill": 3, "decode": 5}, "ttft_target_s": 0.5, "prefix_reuse": 0.25)"}) {
    CAPTURE(inference);
    check_again(read_whole(R"({"model": "llama-7b", "cluster": "dgx-h100", "plan": {"data_parallel": 8},
                              "inference": {)" +
                               std::string(inference) + "}}",
                           "e.json"));
  }
}
