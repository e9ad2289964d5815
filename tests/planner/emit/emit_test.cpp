// Checks the export of plans to frameworks: every key is written or stands in a comment.
#include "planner/emit/emit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/experiment/resolved.hpp"
#include "config/schema/fields.hpp"
#include "orrery/error.hpp"
#include "planner/emit/export_report.hpp"

using namespace orrery;

namespace {

constexpr const char* kDense =
    R"({"name": "a plan", "model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 4},
        "plan": {"tensor_parallel": 2, "pipeline_parallel": 4, "sequence_parallel": true,
                 "global_batch_size": 64}, "training": {"tokens": 1000000000}})";
constexpr const char* kExperts =
    R"({"model": "mixtral-8x7b", "cluster": {"base": "dgx-h100", "nodes": 4},
        "plan": {"pipeline_parallel": 4, "expert_parallel": 8, "global_batch_size": 64}})";

Experiment read(const char* text, const std::vector<std::string>& overrides = {}) {
  return read_experiment_text(text, "test", overrides, Catalog::embedded(), menus()).experiment;
}

struct NamedRows {
  std::string_view framework;
  std::span<const KeyRow> rows;
};

std::vector<NamedRows> all_rows() {
  return {{"megatron", megatron_rows()},
          {"torchtitan", torchtitan_rows()},
          {"deepspeed", deepspeed_rows()},
          {"nemo", nemo_rows()}};
}

template <class Part>
void check_rows(const std::string& part, const std::vector<Field<Part>>& fields) {
  for (const NamedRows& table : all_rows()) {
    for (const Field<Part>& field : fields) {
      if (!field.belongs_to("moe-transformer")) continue;
      const std::string key = part + "." + std::string(field.name);
      CAPTURE(table.framework);
      CAPTURE(key);
      if (part == "plan" && (field.name == "tensor_partition" || field.name == "base")) continue;
      CHECK(std::ranges::count(table.rows, key, &KeyRow::key) == 1);
    }
  }
}

void check_every_key_is_told(const Experiment& experiment) {
  const nlohmann::ordered_json keys = resolved_keys(experiment, menus());
  for (const Framework& framework : frameworks()) {
    const std::string text = emit(framework.name, experiment);
    for (const char* part : {"plan", "model", "training"}) {
      if (!keys.contains(part)) continue;
      for (const auto& item : keys.at(part).items()) {
        CAPTURE(framework.name);
        CAPTURE(part);
        CAPTURE(item.key());
        CHECK(text.find(std::string(part) + "." + item.key() + " = ") != std::string::npos);
      }
    }
    CHECK(text.find("data_parallel_sync.method = ") != std::string::npos);
  }
}

/// The line of `text` that has `word` in it.
std::string line_with(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

}  // namespace

TEST_CASE("every key of plan, model and training has one row in each framework") {
  check_rows("plan", plan_fields());
  check_rows("plan", std::vector<Field<Plan>>{recompute_field()});
  check_rows("model", model_fields());
  check_rows("training", training_fields());
}

TEST_CASE("every key of an experiment is a setting or stands in a comment, whatever its value") {
  const std::vector<std::vector<std::string>> changes{
      {},
      {"plan.context_parallel=2", "plan.data_parallel=2", "plan.context_parallel_type=all-to-all"},
      {"plan.virtual_stages=2", "plan.pipeline_schedule=interleaved-1f1b"},
      {"plan.stage_layers=[7,8,9,8]"},
      {"plan.pipeline_schedule=zb-h1"},
      {"plan.pipeline_parallel=1", "plan.zero_stage=3", "plan.zero_group_size=8", "plan.prefetch=2"},
      {"plan.zero_stage=2", "plan.pipeline_parallel=1"},
      {"plan.zero_stage=1", "plan.overlap_gradient_reduce=true", "plan.bucket_mb=0"},
      {"plan.recompute=full"},
      {"plan.recompute=selective", "model.attention=core"},
      {"plan.recompute={\"modules\":[\"mlp\",\"norm\"]}"},
      {"plan.precision=fp8-blockwise", "plan.wire_precision.data=bf16"},
      {"plan.precision=mxfp8", "cluster.base=dgx-b200", "plan.cuda_graphs=step"},
      {"plan.precision=fp4", "cluster.base=dgx-b200", "plan.cuda_graphs=layers"},
      {"plan.optimizer=sgd"},
      {"plan.moment_precision=bf16"},
      {"plan.optimizer=lion", "plan.main_weight_precision=fp16"},
      {"plan.offload=optimizer", "plan.offload_fraction=0.5", "plan.zero_stage=1"},
      {"plan.offload=activations"},
      {"plan.rank_order=tp-cp-ep-pp-dp", "plan.scatter_gather=false"},
      {"plan.collectives.all-reduce=tree"},
      {"model.lora_rank=16", "model.lora_targets=[\"linear_qkv\"]"},
      {"model.window=1024", "model.window_pattern=4", "model.qk_norm=head", "model.post_norms=true"},
      {"data_parallel_sync.method=diloco"},
  };
  for (const auto& change : changes) {
    CAPTURE(change.empty() ? std::string("none") : change.front());
    check_every_key_is_told(read(kDense, change));
  }
}

TEST_CASE("keys of experts are told too") {
  check_every_key_is_told(read(kExperts));
  check_every_key_is_told(read(kExperts, {"plan.capacity_factor=1.25", "plan.dispatcher=deduplicated"}));
  check_every_key_is_told(read(R"({"model": "deepseek-v3", "cluster": {"base": "dgx-h100", "nodes": 16},
               "plan": {"pipeline_parallel": 16, "expert_parallel": 8, "stage_layers": "auto"}})"));
}

TEST_CASE("Megatron-LM gets degrees, batch and layers as arguments") {
  const std::string text =
      emit("megatron", read(kDense, {"plan.stage_layers=[7,8,9,8]", "plan.overlap_gradient_reduce=true",
                                     "plan.bucket_mb=40", "software.gradient_bytes=4"}));
  CHECK(line_with(text, "--tensor-model-parallel-size") ==
        "  --tensor-model-parallel-size 2  # plan.tensor_parallel = 2");
  CHECK(line_with(text, "--pipeline-model-parallel-layout").find(" 'Et*7|t*8|t*9|t*8L'") !=
        std::string::npos);
  // 40e6 bytes of gradients of 4 bytes.
  CHECK(line_with(text, "--ddp-bucket-size").find(" 10000000 ") != std::string::npos);
  // 1e9 tokens in samples of 8192.
  CHECK(line_with(text, "--train-samples").find(" 122070 ") != std::string::npos);
  CHECK(text.find("--nnodes 4 --nproc-per-node 8") != std::string::npos);
}

TEST_CASE("micro-batches that Megatron-Core would stop at are told where they stand") {
  const std::vector<std::string> interleaved{"plan.virtual_stages=2",
                                             "plan.pipeline_schedule=interleaved-1f1b"};
  const auto text_of = [&](std::int64_t batch) {
    std::vector<std::string> changes = interleaved;
    changes.push_back("plan.global_batch_size=" + std::to_string(batch));
    return emit("megatron", read(kDense, changes));
  };
  // 4 pipeline ranks and 4 replicas: 1 and 3 micro-batches are too few, 4 and 8 are not, of 6 two are left
  // over.
  CHECK(text_of(4).find("Megatron-Core stops here: found 1 micro-batches") != std::string::npos);
  CHECK(text_of(12).find("Megatron-Core stops here: found 3 micro-batches") != std::string::npos);
  CHECK(text_of(24).find("Megatron-Core stops here: found 6 micro-batches") != std::string::npos);
  CHECK(text_of(16).find("stops here") == std::string::npos);
  CHECK(text_of(32).find("stops here") == std::string::npos);
}

TEST_CASE("the first and the last stage may have other layers without a layout") {
  const std::string text = emit("megatron", read(kDense, {"plan.stage_layers=[7,9,9,7]"}));
  CHECK(line_with(text, "--decoder-first-pipeline-num-layers").find(" 7 ") != std::string::npos);
  CHECK(line_with(text, "--decoder-last-pipeline-num-layers").find(" 7 ") != std::string::npos);
  CHECK(text.find("layout") == std::string::npos);
}

TEST_CASE("layers are computed again as Megatron-LM can be told") {
  const auto line = [](const char* recompute, const char* argument) {
    return line_with(emit("megatron", read(kDense, {std::string("plan.recompute=") + recompute})), argument);
  };
  CHECK(line("full", "--recompute-method").find(" uniform ") != std::string::npos);
  CHECK(line("full", "--recompute-num-layers").find(" 1 ") != std::string::npos);
  constexpr const char* kFirst = R"({"layers": 2, "method": "block"})";
  CHECK(line(kFirst, "--recompute-method").find(" block ") != std::string::npos);
  CHECK(line(kFirst, "--recompute-num-layers").find(" 2 ") != std::string::npos);
  CHECK(line(R"({"method": "block"})", "--recompute-method").find(" uniform ") != std::string::npos);
  constexpr const char* kByStage = R"({"method": "block", "stage_layers": [1, 2, 3, 4]})";
  CHECK(line(kByStage, "--recompute-method").empty());
  CHECK(!line(kByStage, "# No counterpart: all stages compute").empty());
  CHECK(
      !line(R"({"modules": ["mlp"], "layers": 3})", "# No counterpart: modules are computed again").empty());
}

TEST_CASE("layers with experts are a list of Python in runs") {
  const std::string text =
      emit("megatron", read(R"({"model": "deepseek-v3", "cluster": {"base": "dgx-h100", "nodes": 16}})"));
  CHECK(line_with(text, "--moe-layer-freq").find(" '[0]*3+[1]*58'") != std::string::npos);
}

TEST_CASE("gradients are reduced in the width that the software keeps them in") {
  const auto text = [](const char* bytes) {
    return emit("megatron", read(kDense, {"software.gradient_bytes=" + std::string(bytes),
                                          "plan.wire_precision.data=bf16"}));
  };
  CHECK(line_with(text("2"), "--grad-reduce-in-bf16").find("# plan.precision") != std::string::npos);
  CHECK(text("2").find("plan.wire_precision = {\"data\":\"bf16\"} (stands with plan.precision)") !=
        std::string::npos);
  CHECK(line_with(text("4"), "--grad-reduce-in-bf16").find("# plan.wire_precision") != std::string::npos);
}

TEST_CASE("NeMo gets Megatron's settings under the names of their fields") {
  const std::string text =
      emit("nemo", read(kDense, {"plan.zero_stage=1", "plan.overlap_gradient_reduce=true"}));
  CHECK(text.find("\n  tensor_model_parallel_size: 2  #") != std::string::npos);
  CHECK(text.find("\nddp:\n  use_distributed_optimizer: true") != std::string::npos);
  CHECK(text.find("--") == std::string::npos);
}

TEST_CASE("names cannot leave their comment") {
  Experiment hostile = read(kDense);
  hostile.name = "x\nrm -rf ~\r`id` $(id) 'quoted'";
  hostile.model.name = "m\n\"broken";
  for (const Framework& framework : frameworks()) {
    const std::string text = emit(framework.name, hostile);
    CHECK(text.find("\nrm") == std::string::npos);
    CHECK(text.find("\n\"broken") == std::string::npos);
    CHECK(text.find('\r') == std::string::npos);
  }
}

TEST_CASE("words are quoted for the shell") {
  CHECK(shell_quoted("bf16") == "bf16");
  CHECK(shell_quoted("Et*2|L") == "'Et*2|L'");
  CHECK(shell_quoted("it's $(id)") == "'it'\\''s $(id)'");
  CHECK(shell_quoted("") == "''");
}

TEST_CASE("unknown frameworks and models that are no transformer are refused") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(emit("torchtian", read(kDense))),
      "found framework \"torchtian\", allowed megatron, torchtitan, deepspeed, nemo; did you mean "
      "\"torchtitan\"?",
      InputError);
  const Experiment images = read(R"({"model": "resnet-50", "cluster": "dgx-a100-80gb"})");
  CHECK_THROWS_AS(static_cast<void>(emit("megatron", images)), InputError);
}
