// No key is accepted beside inference and does nothing there: each of them changes a digit in one of the
// experiments below, or is refused, or is warned of.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/sanitized.hpp"
#include "tests/sim/run/turned_keys.hpp"

using namespace orrery;
using orrery::test::KeyEffects;
using orrery::test::TurnedKeys;
using orrery::test::Values;

namespace {

const std::vector<std::string> kExperiments{
    // A dense model on tensor ranks and stages, over nodes; prompts in pieces.
    R"({"model": {"kind": "transformer", "layers": 8, "hidden": 512, "heads": 8, "kv_heads": 4, "vocab": 1024, "seq_length": 256},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 8, "nodes": 2}, "stack": "vllm-2025",
        "plan": {"tensor_parallel": 4, "pipeline_parallel": 2, "data_parallel": 2, "collectives": {"all-reduce": "nvls"}},
        "software": {"one_shot_reduce_us": 0},
        "inference": {"prompt_tokens": 100, "output_tokens": 20, "batch_size": 4, "requests": 16,
                      "chunked_prefill": true, "ttft_target_s": 1e-9}})",
    // Experts over nodes, shared ones beside them.
    R"({"model": {"kind": "moe-transformer", "layers": 4, "hidden": 512, "ffn_hidden": 1024, "heads": 8, "vocab": 1024,
                  "seq_length": 256, "attention": "flash", "experts": 16, "experts_per_token": 2, "shared_experts": 1, "dense_layers": 1,
                  "window": 64, "window_pattern": 2},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 2, "nodes": 4,
                    "fabric": {"kind": "switch", "nic_gbps": 400, "nics_per_node": 2}},
        "plan": {"tensor_parallel": 2, "expert_parallel": 8, "expert_tensor_parallel": 1},
        "inference": {"prompt_tokens": 100, "output_tokens": 20, "batch_size": 4, "requests": 16}})",
    // Prompts and outputs apart; weights in 8 bits; lengths and arrivals by chance.
    R"({"model": {"kind": "transformer", "layers": 8, "hidden": 512, "heads": 8, "kv_heads": 2, "vocab": 1024,
                  "seq_length": 256},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 1, "nodes": 4,
                    "fabric": {"kind": "fat-tree", "nic_gbps": 100, "oversubscription": 2, "shape": [2, 2]}},
        "inference": {"prompt_tokens": {"distribution": "log-normal", "mean": 40, "deviation": 40},
                      "output_tokens": {"distribution": "log-normal", "mean": 20, "deviation": 20},
                      "requests_per_s": 1000, "requests": 40, "disaggregated": {"prefill": 1, "decode": 3},
                      "weight_precision": "int8", "tpot_target_s": 1e-9}})",
    // Proposed tokens; long contexts on ranks that share them.
    R"({"model": {"kind": "transformer", "layers": 4, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 512, "attention": "flash"},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 8, "nodes": 1}, "plan": {"context_parallel": 4},
        "inference": {"prompt_tokens": {"distribution": "uniform", "min": 5, "max": 90},
                      "output_tokens": {"distribution": "uniform", "min": 5, "max": 90},
                      "batch_size": 4, "requests": 16, "kv_precision": "fp8",
                      "speculative": {"num_speculative_tokens": 2, "acceptance_rate": 0.7, "draft_share": 0.1}}})",
    // Products in 8 bits; a host that outlasts kernels.
    R"({"model": {"kind": "transformer", "layers": 4, "hidden": 1024, "heads": 8, "vocab": 1024, "seq_length": 1024,
                  "attention": "flash"},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 1, "nodes": 1}, "plan": {"precision": "fp8"},
        "software": {"forward_issue_us": 50, "flash_version": 2},
        "inference": {"prompt_tokens": 512, "output_tokens": 8, "batch_size": 8, "requests": 16}})",
};

/// Values of keys that take more than numbers and names.
const Values kMoreValues{
    {"cluster.groups",
     {"[{nodes: 1}, {nodes: 3, gpu: a100-80gb}]", "[{nodes: 1}, {nodes: 1, gpu: a100-80gb}]"}},
    {"cluster.overrides", {"[{gpu: 0, speed: 0.5}]"}},
    {"cluster.fabric.shape", {"[4]", "[4, 1]", "[1, 4]"}},
    {"plan.rank_order", {"tp-cp-ep-pp-dp"}},
    {"plan.stage_layers", {"[3, 5]", "auto"}},
    {"plan.sub_seq_length", {"64"}},
    {"plan.recompute", {"full"}},
    {"inference.requests", {"20"}},
    {"stack", {"ideal"}},
};

/// Lists the keys without a visible effect, and why.
const std::map<std::string, std::string> kUnseen{
    {"cluster.gpu.communication_interference", "hardware, which a catalog describes whatever runs on it"},
    {"cluster.gpu.convolution_start_us", "the same"},
    {"cluster.gpu.host_memory_gb_per_s", "the same"},
    {"cluster.gpu.gemm_efficiency_fp4", "of products that none of the experiments has"},
    {"cluster.gpu.gemm_efficiency_fp8_blockwise", "the same"},
    {"cluster.gpu.product_pj_per_flop_fp4", "the same"},
    {"cluster.gpu.peak_tflops.fp16", "the same"},
    {"cluster.gpu.peak_tflops.fp32", "the same"},
    {"cluster.gpu.peak_tflops.tf32", "the same"},
    {"cluster.fabric.adaptive_routing", "messages of a replica meet no others on their ways up"},
    {"plan.collectives.broadcast", "no message of serving is one"},
    {"plan.collectives.send-recv", "there is one way to send"},
    {"plan.stage_layers=auto", "stages that are alike are divided evenly"},
    {"plan.wire_precision.combine=bf16", "as wide as values are kept"},
    {"plan.wire_precision.combine=fp16", "the same"},
    {"plan.wire_precision.dispatch=bf16", "the same"},
    {"plan.wire_precision.dispatch=fp16", "the same"},
    {"plan.wire_precision.expert=bf16", "the same"},
    {"plan.wire_precision.expert=fp16", "the same"},
};

bool is_asked(const std::string& unit) {
  if (unit.starts_with("cluster.storage")) return false;  // of orrery run
  for (const char* part : {"plan.", "software.", "simulation.", "data_parallel_sync", "cluster.",
                           "inference.", "training", "accuracy", "problem", "stack"})
    if (unit.starts_with(part)) return true;
  return false;
}

}  // namespace

// Figures alone; keys_test.cpp takes the same paths under the sanitizers.
TEST_CASE("no key is accepted beside inference and does nothing there" * doctest::skip(test::kSanitized)) {
  const TurnedKeys keys(test::values_of_keys(kMoreValues), kExperiments);
  int turned = 0;
  for (const auto& entry : keys.units()) {
    const std::string& unit = entry.first;
    const KeyEffects& seen = entry.second;
    if (!is_asked(unit) || !seen.was_turned()) continue;
    ++turned;
    if (!seen.is_sound()) MESSAGE(unit, " does nothing: ", seen.silent.front());
    CHECK(seen.is_sound() != kUnseen.contains(unit));
    // Constants that act in some experiment are none of training.
    const bool is_wrongly_warned = unit.starts_with("software.") && seen.acted > 0 && seen.warned > 0;
    if (is_wrongly_warned) MESSAGE(unit, " acts, and is warned of");
    CHECK_FALSE(is_wrongly_warned);
  }
  CHECK(turned > 200);
}

TEST_CASE("vLLM chunks prefills unless told otherwise, in iterations as long as its GPUs allow") {
  const auto served = [](const std::string& gpu, const std::string& more) {
    return *test::read(R"({"model": "llama3.1-8b", "cluster": {"base": ")" + gpu + R"(", "nodes": 1},
        "inference": {"prompt_tokens": 100, "output_tokens": 10)" +
                       more)
                .inference;
  };
  CHECK(served("dgx-h100", "}}").chunked_prefill);
  CHECK(served("dgx-h100", "}}").max_batched_tokens == 8192);
  CHECK(served("dgx-a100-80gb", "}}").max_batched_tokens == 2048);
  CHECK(served("g2-l4", "}}").max_batched_tokens == 2048);
  CHECK(served("dgx-h100", R"(, "max_num_batched_tokens": 512}})").max_batched_tokens == 512);
  CHECK_FALSE(served("dgx-h100", R"(, "chunked_prefill": false}})").chunked_prefill);
  CHECK_FALSE(served("dgx-h100", R"(, "batching": "static", "batch_size": 4}})").chunked_prefill);
}

TEST_CASE("engines schedule as they do unless told otherwise") {
  const auto served = [](const std::string& gpu, const std::string& stack) {
    return *test::read(R"({"model": "llama3.1-8b", "cluster": {"base": ")" + gpu + R"(", "nodes": 1},
        "inference": {"prompt_tokens": 100, "output_tokens": 10}, "stack": ")" +
                       stack + R"("})")
                .inference;
  };
  CHECK(served("dgx-h100", "tensorrt-llm-2025").max_batched_tokens == 8192);
  CHECK(served("dgx-h100", "tensorrt-llm-2025").guaranteed_no_evict);
  CHECK(served("dgx-h100", "tensorrt-llm-2025").chunked_prefill);
  CHECK_FALSE(served("dgx-h100", "sglang-2025").chunked_prefill);
  CHECK(served("dgx-h100", "sglang-2025").max_batched_tokens == 8192);
  CHECK(served("dgx-b200", "sglang-2025").max_batched_tokens == 16384);
  CHECK(served("g2-l4", "sglang-2025").max_batched_tokens == 2048);
  CHECK(served("dgx-h100", "ideal").max_batched_tokens == 0);
  const auto graphs = [](const std::string& more) {
    return test::read(R"({"model": "llama3.1-8b", "cluster": "dgx-h100", "stack": "sglang-2025",
        "inference": {"prompt_tokens": 100, "output_tokens": 10})" +
                      more)
        .plan.cuda_graphs;
  };
  CHECK(graphs("}") == CudaGraphs::step);
  CHECK(graphs(R"(, "plan": {"cuda_graphs": "none"}})") == CudaGraphs::none);
}

TEST_CASE("keys of training are refused beside inference by a sentence of their own") {
  const auto problem = [](const std::string& change) -> std::string {
    try {
      static_cast<void>(test::read(kExperiments[1], {change}));
    } catch (const InputError& error) {
      return error.diagnostics().front().pointer + ": " + error.diagnostics().front().message;
    }
    return "";
  };
  CHECK(problem("plan.overlap_expert_parallel=true") ==
        "/plan/overlap_expert_parallel: found beside inference, allowed in training only");
  CHECK(problem("plan.overlap_shared_experts=true") ==
        "/plan/overlap_shared_experts: found beside inference, allowed in training only");
  CHECK(problem("plan.wire_precision.pipeline=fp8") ==
        "/plan/wire_precision/pipeline: found beside inference, allowed there are dispatch and combine");
  CHECK(problem("plan.cuda_graphs=layers") ==
        "/plan/cuda_graphs: found \"layers\", allowed with inference are none and step");
  CHECK(problem("simulation.folding=off") ==
        "/simulation/folding: found beside inference, allowed in training only");
  // The type of context parallelism has no effect here, so it refuses no attention.
  CHECK(problem("plan.context_parallel_type=all-gather") ==
        "/plan/context_parallel_type: found beside inference, allowed in training only");
  CHECK_NOTHROW(static_cast<void>(test::read(kExperiments[3], {"model.attention=core"})));
  CHECK_NOTHROW(static_cast<void>(test::read(kExperiments[3], {"model.window=64"})));
}

TEST_CASE("constants of training are warned of beside inference where the experiment sets them") {
  const auto warnings = [](const std::vector<std::string>& changes) {
    const LocatedExperiment made =
        read_experiment_text(kExperiments[0], "test", changes, test::catalog(), menus());
    return made.positions.warnings(made.experiment);
  };
  CHECK(warnings({}).empty());  // the stack's own are not asked for
  CHECK(warnings({"software.forward_issue_us=3"}).empty());
  const std::vector<Diagnostic> found = warnings({"software.backward_issue_us=3"});
  REQUIRE(found.size() == 1);
  CHECK(found[0].pointer == "/software/backward_issue_us");
  CHECK(found[0].message ==
        "warning: found beside inference, where it has no effect: it is a constant of training");
}

TEST_CASE("a serving experiment that is written out in full is read again without a warning") {
  for (const std::string& text : kExperiments) {
    const LocatedExperiment made = read_experiment_text(text, "test", {}, test::catalog(), menus());
    const LocatedExperiment again =
        read_experiment_text(made.positions.resolved(made.experiment), "test", {}, test::catalog(), menus());
    CHECK(again.experiment == made.experiment);
    CHECK(again.positions.warnings(again.experiment).empty());
  }
}

TEST_CASE("tokens go to their experts by the dispatcher of the plan") {
  const auto expert_share = [](const std::string& dispatcher) {
    // Slow NICs, so that bytes count, of the prompts.
    const Report report =
        simulate(test::read(kExperiments[1], {"plan.dispatcher=" + dispatcher, "inference.prompt_tokens=200",
                                              "inference.output_tokens=2", "cluster.fabric.nic_gbps=10"}));
    return report.serving->work.messages_ps[static_cast<std::size_t>(Dimension::expert)];
  };
  const Int128 straight = expert_share("all-to-all");
  const Int128 hops = expert_share("hierarchical");
  const Int128 once = expert_share("deduplicated");
  CHECK(straight > 0);
  CHECK(hops != straight);
  CHECK(once != straight);
  CHECK(once < hops);  // fewer copies, and both hops at a time
}
