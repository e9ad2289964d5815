// No key of a training experiment is accepted in silence: it changes a figure, or the reader refuses it
// beside the others, or a warning says that it does nothing.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/sanitized.hpp"
#include "tests/sim/run/turned_keys.hpp"

using namespace orrery;
using orrery::test::TurnedKeys;
using orrery::test::Values;
using orrery::test::values_of_keys;

namespace {

struct Base {
  const char* name;
  std::string text;
};

/// A dense model that fits four nodes of four GPUs, with these parts.
std::string dense(const std::string& plan, const std::string& model = "", const std::string& more = "") {
  return R"({"model": {"kind": "transformer", "layers": 8, "hidden": 512, "heads": 8, "vocab": 1024,
      "seq_length": 512)" +
         (model.empty() ? "" : ", " + model) +
         R"(}, "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 4},
      "plan": {)" +
         plan + "}" + (more.empty() ? "" : ", " + more) + "}";
}

std::string experts(const std::string& plan, const std::string& model = "") {
  return R"({"model": {"kind": "moe-transformer", "layers": 8, "hidden": 512, "heads": 8, "vocab": 1024,
      "seq_length": 512, "experts": 16, "experts_per_token": 2, "shared_experts": 1)" +
         (model.empty() ? "" : ", " + model) +
         R"(}, "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 4}, "plan": {)" + plan + "}}";
}

/// Small data-parallel workers, a GPU each, and how they keep in step.
std::string workers(const std::string& sync, const std::string& more = "") {
  return R"({"model": {"kind": "transformer", "layers": 2, "hidden": 256, "heads": 4, "vocab": 1024,
      "seq_length": 256}, "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 1, "node": "none", "nodes": 8},
      "plan": {"global_batch_size": 8}, "data_parallel_sync": {)" +
         sync + "}" + (more.empty() ? "" : ", " + more) + "}";
}

/// Returns true for keys without effect on a step: requests, problems of converge, several jobs, and keys of
/// compare and training days.
bool of_other_commands(const std::string& key) {
  for (const char* part : {"jobs", "placement", "queueing", "preemption"})
    if (key.starts_with(part)) return true;
  return key.starts_with("inference") || key.starts_with("problem") || key.starts_with("training") ||
         key.starts_with("accuracy") || key.starts_with("post_training") || key.starts_with("run") ||
         key.starts_with("cluster.storage") || key == "id" || key.ends_with("name");
}

std::vector<Base> bases() {
  return {
      {"tensor and pipeline",
       dense(R"("tensor_parallel": 2, "pipeline_parallel": 2, "sequence_parallel": true, "zero_stage": 1,
                "global_batch_size": 32)",
             R"("dropout": true, "biases": true)", R"("stack": "megatron-core-2025")")},
      {"interleaved, unfused attention",
       dense(R"("tensor_parallel": 2, "pipeline_parallel": 2, "virtual_stages": 2, "global_batch_size": 32,
                "pipeline_schedule": "interleaved-1f1b", "recompute": {"modules": ["core-attention"]})",
             R"("attention": "core")", R"("stack": "megatron-2021")")},
      {"ZeRO-3", dense(R"("zero_stage": 3, "overlap_parameter_gather": true, "overlap_gradient_reduce": true,
                          "global_batch_size": 32, "recompute": "full")",
                       R"("gated_mlp": true)", R"("stack": "torchtitan-2024")")},
      {"context", dense(R"("context_parallel": 4, "global_batch_size": 16)", R"("attention": "flash")")},
      {"LoRA", dense(R"("tensor_parallel": 2, "global_batch_size": 16)",
                     R"("lora_rank": 8, "lora_targets": ["linear_qkv", "linear_proj"])")},
      {"fp8", dense(R"("tensor_parallel": 4, "precision": "fp8", "global_batch_size": 16)", "",
                    R"("stack": "nemo-2024")")},
      {"offload", dense(R"("offload": "optimizer", "offload_fraction": 0.5, "global_batch_size": 16)")},
      {"graphs, zero bubble",
       dense(R"("pipeline_parallel": 4, "pipeline_schedule": "zb-h1", "global_batch_size": 32,
                "cuda_graphs": "layers")")},
      {"experts, all-to-all", experts(R"("expert_parallel": 8, "global_batch_size": 32)")},
      {"experts, over nodes first",
       experts(R"("tensor_parallel": 2, "expert_parallel": 8, "expert_tensor_parallel": 1,
                  "sequence_parallel": true, "dispatcher": "hierarchical", "global_batch_size": 32)")},
      {"experts, two ways",
       experts(R"("pipeline_parallel": 2, "expert_parallel": 8, "dispatcher": "deduplicated",
                  "pipeline_schedule": "dualpipe", "global_batch_size": 64)",
               R"("expert_groups": 4, "groups_per_token": 2,
                  "latent_attention": {"q_rank": 64, "kv_rank": 64, "nope_dim": 32, "value_dim": 32})")},
      {"encoder and decoder",
       dense(R"("tensor_parallel": 2, "pipeline_parallel": 2, "global_batch_size": 32)",
             R"("encoder_layers": 4, "encoder_seq_length": 256)")},
      {"convolutions",
       R"({"model": "resnet-50", "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 2, "nodes": 2},
           "plan": {"micro_batch_size": 32, "global_batch_size": 256}})"},
      {"chain", R"({"model": {"kind": "mlp", "widths": [1024, 512, 2048, 1024], "seq_length": 128},
           "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 2}, "plan": {"tensor_parallel": 2}})"},
      {"gossip", workers(R"("method": "gossip", "topology": "exponential")")},
      {"DiLoCo", workers(R"("method": "diloco", "period": 4)")},
      {"local SGD", workers(R"("method": "local-sgd", "period": 4)")},
      {"asynchronous",
       workers(R"("method": "ad-psgd", "topology": "ring")", R"("simulation": {"steps": 4})")},
      {"regions",
       R"({"model": {"kind": "transformer", "layers": 2, "hidden": 256, "heads": 4, "vocab": 1024, "seq_length": 256},
           "cluster": {"base": "dgx-h100", "gpus_per_node": 4,
                       "regions": {"sites": [{"name": "east", "nodes": 2}, {"name": "west", "nodes": 2}],
                                   "links": [{"from": "east", "to": "west", "up_gbps": 1, "latency_ms": 20}]}},
           "plan": {"global_batch_size": 16}})"},
  };
}

/// Keys of which none of these experiments can show anything, and why.
const std::map<std::string, std::string> kUnseen{
    {"cluster.fabric.adaptive_routing", "messages of small runs meet no others on their ways up"},
    {"cluster.fabric.oversubscription", "the same"},
    {"cluster.gpu.gemm_efficiency_fp4", "hardware, which a catalog describes whatever runs on it"},
    {"cluster.gpu.gemm_efficiency_fp8_blockwise", "the same"},
    {"cluster.gpu.product_pj_per_flop_fp4", "the same"},
    {"plan.overlap_gradient_reduce=true", "gradients of these small models fill no bucket"},
    {"software.exchange_wait_ms", "nobody loads samples in these"},
    {"software.bucket_parameters_per_copy",
     "the few copies of these models count less than bucket_parameters"},
    {"software.fuses_expert_mlp=true", "none of these is a graph of a whole step with experts"},
    {"software.keeps_cast_weights=true", "those in few bits have it"},
    {"cluster.gpu.widened_product_speed", "the same"},
    {"cluster.gpu.peak_tflops.fp32", "the same"},
    {"cluster.gpu.peak_tflops.fp4", "the same"},
    {"cluster.gpu.peak_tflops.tf32", "the same"},
    {"cluster.node.nvls_efficiency", "messages that small are not reduced by switches"},
    {"data_parallel_sync.fragment_pattern=sequential", "fragments of two layers are alike in every pattern"},
    {"data_parallel_sync.fragment_pattern=strided", "the same"},
    {"data_parallel_sync.level=node", "a worker is a node here"},
    {"data_parallel_sync.placement=near", "all nodes are as near"},
    {"data_parallel_sync.topology=exponential", "asynchronous exchanges do not slow workers down"},
    {"data_parallel_sync.topology=symmetric-exponential",
     "as many neighbours as the exponential one has here"},
    {"data_parallel_sync.weights=uniform", "weights take no time: converge tells them apart"},
    {"model.tensors", "of convolutional networks: gradients of a bucket travel together"},
    {"plan.collectives.broadcast", "no message of a step is one"},
    {"plan.collectives.send-recv", "there is one way to send"},
    {"plan.overlap_parameter_gather=true", "hides nothing where the optimizer ends a step"},
    {"plan.replica_batch_sizes=auto", "replicas that are alike have equal batches"},
    {"software.chooses_sharding=true", "other experiments ask for it; none of these was found to"},
    {"software.cudnn_attention=true", "other experiments ask for it; none of these was found to"},
    {"software.expert_bias_kernels=true", "other experiments ask for it; none of these was found to"},
    {"software.experts_in_turn=true", "other experiments ask for it; none of these was found to"},
    {"software.flash_version", "other experiments ask for it; none of these was found to"},
    {"software.gathers_tensors=false", "other experiments ask for it; none of these was found to"},
    {"software.image_loading_jitter", "of data loaders, which these experiments have not"},
    {"software.image_loading_us", "the same"},
    {"software.keeps_narrow_inputs=true", "other experiments ask for it; none of these was found to"},
    {"software.overlaps_parameter_gather=true", "other experiments ask for it; none of these was found to"},
    {"software.packed_attention_columns", "other experiments ask for it; none of these was found to"},
    {"software.update_group_parameters", "of updates that copy gradients, which these experiments have not"},
};

/// Whole groups: of other software, of ranges, of values as wide as they are kept.
bool is_unseen(const std::string& unit) {
  if (unit.starts_with("data_parallel_sync.compression.")) return true;  // none of them compresses
  if (unit.starts_with("software.error_p") || unit.starts_with("software.memory_error_p")) return true;
  if (unit.starts_with("plan.wire_precision.")) return unit.ends_with("=bf16") || unit.ends_with("=fp16");
  return kUnseen.contains(unit);
}

}  // namespace

// Figures alone; keys_test.cpp takes the same paths under the sanitizers.
TEST_CASE("no key of training is accepted in silence" * doctest::skip(test::kSanitized)) {
  Values values = values_of_keys({});
  std::erase_if(values, [](const auto& entry) { return of_other_commands(entry.first); });
  std::vector<std::string> texts;
  for (const Base& base : bases()) texts.push_back(base.text);
  const TurnedKeys keys(values, texts);
  int turned = 0;
  for (const auto& [unit, seen] : keys.units()) {
    if (!seen.was_turned()) continue;
    ++turned;
    if (kUnseen.contains(unit)) CHECK_FALSE(seen.is_sound());  // else the table says too much
    if (seen.is_sound() || is_unseen(unit)) continue;
    MESSAGE(unit, " does nothing: ", seen.silent.front());
    CHECK(seen.is_sound());
  }
  CHECK(turned > 300);
}
