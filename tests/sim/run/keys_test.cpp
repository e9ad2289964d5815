// Checks over all keys of an experiment that a simulator which knows the experiment gives, with one key
// changed, the same report as a fresh one.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/report_text.hpp"
#include "tests/sim/run/turned_keys.hpp"

using namespace orrery;
using orrery::test::read;
using orrery::test::text_of;
using orrery::test::Values;

namespace {

/// Between them they give every key something to change.
const std::vector<std::string> kExperiments{
    // A transformer on several nodes with host costs, under flow.
    R"({"model": {"kind": "transformer", "layers": 8, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256,
                  "attention": "core"},
        "cluster": {"base": "dgx-a100-80gb", "gpus_per_node": 4, "nodes": 4,
                    "fabric": {"kind": "switch", "nic_gbps": 200, "ramp_us": 1, "ramp_efficiency": 0.5}},
        "stack": "megatron-2021",
        "plan": {"tensor_parallel": 2, "pipeline_parallel": 2, "data_parallel": 4, "global_batch_size": 16,
                 "zero_stage": 1, "bucket_mb": 1}})",
    // Sharded parameters in 8 bits, a context cut in two, leaf switches that are shared unevenly.
    R"({"model": {"kind": "transformer", "layers": 4, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 512,
                  "attention": "flash", "lora_rank": 4, "lora_targets": ["linear_qkv"]},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 6,
                    "fabric": {"kind": "fat-tree", "nic_gbps": 400, "oversubscription": 2, "shape": [4, 2]}},
        "plan": {"context_parallel": 2, "context_parallel_type": "hierarchical", "global_batch_size": 24, "zero_stage": 3, "overlap_parameter_gather": true,
                 "precision": "fp8-blockwise"},
        "training": {"tokens": 1000000}})",
    // Adapters beside whole weights.
    R"({"model": {"kind": "transformer", "layers": 2, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256,
                  "lora_rank": 4},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 2, "nodes": 1}, "plan": {"global_batch_size": 4}})",
    // Packed samples in chunks of stages as whole passes, without contention.
    R"({"model": {"kind": "transformer", "layers": 8, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256,
                  "attention": "flash", "packed_sample_length": 128},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 2}, "stack": "nemo-2024",
        "plan": {"tensor_parallel": 2, "pipeline_parallel": 2, "global_batch_size": 64, "virtual_stages": 2,
                 "pipeline_schedule": "interleaved-1f1b", "sequence_parallel": true, "overlap_tensor_parallel": true},
        "software": {"flash_version": 3, "cudnn_attention": false}, "simulation": {"network": "alpha-beta", "detail": "stage"}})",
    // Nodes without peer access.
    R"({"model": {"kind": "transformer", "layers": 2, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256},
        "cluster": {"base": "g4dn-12xlarge", "nodes": 2, "node": {"host_gb_per_s": 2}},
        "plan": {"tensor_parallel": 4, "data_parallel": 2, "global_batch_size": 2, "precision": "fp16"}})",
    // One node, whose switches add up.
    R"({"model": {"kind": "transformer", "layers": 2, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256},
        "cluster": "dgx-h100", "plan": {"tensor_parallel": 8, "global_batch_size": 1, "collectives": {"all-reduce": "nvls"}}})",
    // Experts on the ranks of a stage, in two nodes.
    R"({"model": {"kind": "moe-transformer", "layers": 4, "hidden": 512, "ffn_hidden": 1024, "heads": 8, "vocab": 1024,
                  "seq_length": 256, "attention": "flash", "experts": 16, "experts_per_token": 2, "shared_experts": 1,
                  "dense_layers": 1, "window": 64, "window_pattern": 2, "expert_groups": 4, "groups_per_token": 2},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 4},
        "plan": {"tensor_parallel": 2, "sequence_parallel": true, "expert_parallel": 8, "expert_tensor_parallel": 1,
                 "dispatcher": "deduplicated", "token_imbalance": "zipf", "capacity_factor": 3}})",
    R"({"model": {"kind": "moe-transformer", "layers": 2, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256,
                  "attention": "flash", "experts": 4, "experts_per_token": 1, "multi_token_prediction": 1,
                  "latent_attention": {"q_rank": 64, "kv_rank": 64, "nope_dim": 32, "value_dim": 16}},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 1},
        "plan": {"precision": "fp8", "expert_parallel": 4, "token_imbalance": "histogram", "token_histogram": [4, 3, 2, 1]}})",
    // Layers that recur beside attention, with gates, and experts in some of them.
    R"({"model": {"kind": "moe-transformer", "layers": 4, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 512,
                  "attention": "flash", "experts": 4, "experts_per_token": 1, "shared_experts": 1,
                  "attention_output_gate": true, "shared_expert_gate": true, "mamba2": {"heads": 8, "groups": 2},
                  "gated_delta_net": {"key_heads": 4, "value_heads": 8},
                  "layer_pattern": ["mamba2", {"kind": "gated-delta-net", "mlp": "experts"}, "attention", "mamba2"]},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 2, "nodes": 1}, "plan": {"tensor_parallel": 2}})",
    // Attention to tokens that an indexer picks.
    R"({"model": {"kind": "transformer", "layers": 2, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 512,
                  "attention": "flash", "latent_attention": {"q_rank": 64, "kv_rank": 64, "nope_dim": 32},
                  "indexer": {"heads": 4, "top_k": 64}},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 2, "nodes": 1}})",
    // An encoder and a decoder, each on a stage.
    R"({"model": {"kind": "transformer", "layers": 4, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 128,
                  "encoder_layers": 4, "encoder_seq_length": 256, "positions": "relative"},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 1},
        "plan": {"tensor_parallel": 2, "pipeline_parallel": 2, "sequence_parallel": true, "global_batch_size": 8}})",
    // Passes side by side in two copies of the model.
    R"({"model": {"kind": "moe-transformer", "layers": 4, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256,
                  "attention": "flash", "experts": 4, "experts_per_token": 2},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 1},
        "plan": {"pipeline_parallel": 2, "expert_parallel": 2, "pipeline_schedule": "dualpipe",
                 "global_batch_size": 16}})",
    // Products in 4 bits, and half of the optimizer's states in the memory of the host.
    R"({"model": {"kind": "transformer", "layers": 2, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256},
        "cluster": {"gpu": "b200"}, "plan": {"precision": "fp4", "offload": "optimizer", "offload_fraction": 0.5}})",
    // Gossip of servers on a torus, of compressed models.
    R"({"model": "resnet-50",
        "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 2, "nodes": 6, "fabric": {"kind": "torus", "nic_gbps": 25}},
        "plan": {"micro_batch_size": 32, "precision": "fp32", "bucket_mb": 25},
        "data_parallel_sync": {"method": "gossip", "topology": "grid", "level": "node",
                               "compression": {"method": "quantize"}},
        "stack": "bluefog-2021", "training": {"data": "loaded"}, "accuracy": {"target": 0.01}, "simulation": {"steps": 4}})",
    // This experiment sends uncompressed models in a precision of their own.
    R"({"model": "resnet-50", "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 2, "nodes": 4},
        "plan": {"micro_batch_size": 32, "precision": "fp32", "wire_precision": {"models": "bf16"}},
        "data_parallel_sync": {"method": "gossip", "topology": "ring", "overlap": "adapt-then-combine"}})",
    R"({"model": "gpt3-125m", "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 1, "node": "none", "nodes": 5},
        "plan": {"global_batch_size": 5},
        "data_parallel_sync": {"method": "gossip", "topology": "base-k", "compression": {"method": "top-k"}},
        "simulation": {"steps": 4}})",
    // Global averages at times.
    R"({"model": "gpt3-125m", "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 1, "node": "none", "nodes": 4},
        "plan": {"global_batch_size": 4}, "data_parallel_sync": {"method": "diloco", "period": 4, "fragments": 2},
        "simulation": {"steps": 8}})",
    R"({"model": "gpt3-125m", "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 1, "node": "none", "nodes": 4},
        "plan": {"global_batch_size": 4},
        "data_parallel_sync": {"method": "gossip-aga", "topology": "erdos-renyi", "period": 2, "final_period": 4,
                               "compression": {"method": "qsgd"}},
        "simulation": {"steps": 12}})",
    R"({"model": "gpt3-125m", "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 1, "node": "none", "nodes": 4},
        "plan": {"global_batch_size": 4},
        "data_parallel_sync": {"method": "parameter-server", "compression": {"method": "low-rank"}}})",
    // Workers that keep no step with each other, in pairs and at a centre.
    R"({"model": "gpt3-125m", "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 1, "node": "none", "nodes": 4},
        "plan": {"global_batch_size": 4}, "software": {"jitter": 0.1},
        "data_parallel_sync": {"method": "ad-psgd", "topology": "erdos-renyi"}, "simulation": {"steps": 4}})",
    R"({"model": "gpt3-125m", "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 1, "node": "none", "nodes": 4},
        "plan": {"global_batch_size": 4}, "data_parallel_sync": {"method": "async-diloco", "period": 2},
        "simulation": {"steps": 4}})",
    // Nodes at two sites.
    R"({"model": "gpt3-125m",
        "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 1, "node": "none",
                    "regions": {"sites": [{"name": "east", "nodes": 2}, {"name": "west", "nodes": 2}],
                                "links": [{"from": "east", "to": "west", "up_gbps": 1, "latency_ms": 20}]}},
        "plan": {"global_batch_size": 4}})",
    // Slow momentum over gossip.
    R"({"model": {"kind": "mlp", "widths": [64, 64], "seq_length": 8}, "cluster": {"base": "dgx-1", "nodes": 2, "gpus_per_node": 2},
        "plan": {"global_batch_size": 4}, "data_parallel_sync": {"method": "slowmo", "period": 4}})",
    // A perceptron whose matrices are cut one by one, on links given one by one.
    R"({"model": {"kind": "mlp", "layers": 3, "hidden": 1024, "widths": [1024, 512, 2048, 1024], "seq_length": 128},
        "cluster": {"gpu": "a100-80gb", "gpus_per_node": 2, "nodes": 1,
                    "graph": {"vertices": ["gpu0", "gpu1", "switch"],
                              "links": [{"from": "gpu0", "to": "switch", "gb_per_s": 12, "latency_us": 2},
                                        {"from": "gpu1", "to": "switch", "gb_per_s": 12, "latency_us": 2}]}},
        "plan": {"tensor_parallel": 2, "global_batch_size": 1, "precision": "tf32",
                 "tensor_partition": ["column", "row", "row"]}})",
    // Requests of one length, of which none is fast enough; no host that outlasts kernels.
    R"({"model": {"kind": "transformer", "layers": 8, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256},
        "stack": "ideal", "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 1}, "plan": {"tensor_parallel": 2, "data_parallel": 2},
        "inference": {"prompt_tokens": 100, "output_tokens": 20, "batch_size": 4, "requests": 16,
                      "ttft_target_s": 1e-9}})",
    // Requests that arrive at a rate, at replicas for prompts; grouped queries, weights in 8 bits.
    R"({"model": {"kind": "transformer", "layers": 8, "hidden": 512, "heads": 8, "kv_heads": 2, "vocab": 1024,
                  "seq_length": 256},
        "stack": "ideal", "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 1}, "plan": {"data_parallel": 4},
        "inference": {"prompt_tokens": {"distribution": "log-normal", "mean": 40, "deviation": 40},
                      "output_tokens": {"distribution": "log-normal", "mean": 20, "deviation": 20},
                      "requests_per_s": 1000, "requests": 40, "disaggregated": {"prefill": 1, "decode": 3},
                      "weight_precision": "int8",
                      "tpot_target_s": 1e-9}})",
    // Proposed tokens, and stages.
    R"({"model": {"kind": "transformer", "layers": 8, "hidden": 512, "heads": 8, "vocab": 1024, "seq_length": 256},
        "cluster": {"base": "dgx-h100", "gpus_per_node": 4, "nodes": 1}, "plan": {"pipeline_parallel": 2, "data_parallel": 2},
        "inference": {"prompt_tokens": {"distribution": "uniform", "min": 5, "max": 90},
                      "output_tokens": {"distribution": "uniform", "min": 5, "max": 90},
                      "batch_size": 4, "requests": 16,
                      "speculative": {"num_speculative_tokens": 2, "acceptance_rate": 0.7, "draft_share": 0.1}}})",
};

/// Values of keys that take more than numbers and fixed names.
const Values kMoreValues{
    {"name", {"another"}},
    {"model", {"gpt3-350m"}},
    {"model.base", {"gpt3-125m"}},
    {"model.name", {"another"}},
    {"model.layer_pattern", {"[{}, {mlp: none, heads: 4}]", "[{}, mamba2, gated-delta-net, {}]"}},
    {"model.lora_targets", {"[linear_fc1]"}},
    {"model.convolutions", {"36"}},
    {"model.parameters", {"30000000"}},
    {"model.packed_sample_length", {"128"}},
    {"model.widths", {"[1024, 512, 1024, 1024]"}},
    {"cluster", {"dgx-h100", "a3-high"}},
    {"cluster.base", {"dgx-h100", "a3-high"}},
    {"cluster.name", {"another"}},
    {"cluster.gpu", {"h100"}},
    {"cluster.gpu.base", {"h100"}},
    {"cluster.gpu.name", {"another"}},
    {"cluster.gpu.calibration", {"l4"}},
    {"cluster.gpu.peak_tflops", {"{bf16: 100, fp16: 100, fp32: 10}"}},
    {"cluster.node.calibration", {"nvlink-v100"}},
    {"cluster.fabric", {"{kind: ring, nic_gbps: 100}"}},
    {"cluster.fabric.calibration", {"infiniband-ndr", "a3-high"}},
    {"cluster.fabric.shape", {"[2, 3]"}},
    {"cluster.graph.vertices", {"[gpu0, gpu1, switch, spare]"}},
    {"cluster.graph.links",
     {"[{from: gpu0, to: switch, gb_per_s: 6}, {from: gpu1, to: switch, gb_per_s: 12}]"}},
    {"cluster.groups", {"[{nodes: 1}, {nodes: 3, gpu: h100}]"}},
    {"cluster.overrides", {"[{gpu: 0, speed: 0.5}]"}},
    {"cluster.regions.sites", {"[{name: east, nodes: 1}, {name: west, nodes: 3}]"}},
    {"cluster.regions.links", {"[{from: east, to: west, up_gbps: 1, latency_ms: 20, loss: 0.01}]"}},
    {"problem.changes", {"[{iteration: 10, leaves: 1}]"}},
    {"plan.context_parallel", {"4"}},
    {"plan.rank_order", {"tp-cp-ep-pp-dp"}},
    {"plan.recompute", {"full", "selective"}},
    {"plan.recompute.modules", {"[mlp]", "[norm, attention]"}},
    {"plan.recompute.stage_layers", {"[1, 3]"}},
    {"plan.replica_batch_sizes", {"[2, 2, 4, 8]"}},
    {"plan.stage_layers", {"[3, 5]"}},
    {"plan.sub_seq_length", {"128"}},
    {"plan.token_histogram", {"[1, 1, 1, 1]"}},
    {"plan.tensor_partition", {"[row, column, row]"}},
    {"data_parallel_sync.shape", {"[1, 6]"}},
    {"data_parallel_sync.placement", {"[1, 0, 2, 3, 4, 5]"}},
    {"stack", {"ideal", "nemo-2024"}},
};

/// Keys that no value can be changed of alone.
const std::set<std::string> kFixed{
    "$schema",     // for editors
    "id",          // of a line of a batch, not of the experiment
    "model.kind",  // another kind has other keys
    "plan",        // chosen by who reads the experiment
    "plan.base",
    "plan.data_parallel",              // follows from the GPUs
    "inference.disaggregated.decode",  // together data_parallel
    "inference.disaggregated.prefill",
    "inference.output_tokens.distribution",  // another one has other keys
    "inference.prompt_tokens.distribution",
};

/// Returns true for keys of steps of several roles, of weeks of steps, and of several jobs.
bool is_of_no_plan(const std::string& key) {
  for (const char* part : {"post_training.", "run", "jobs", "placement", "queueing", "preemption"})
    if (key.starts_with(part)) return true;
  return false;
}

/// Keys of which a report tells nothing, as it tells nothing of those of is_of_other_commands().
const std::set<std::string> kUntold{
    "accuracy.heterogeneity", "accuracy.noise", "accuracy.noise_of",
    "accuracy.target",             // for compare
    "cluster.graph.vertices",      // a switch that no link leads to
    "data_parallel_sync.weights",  // what is learnt, not how long it takes
    "data_parallel_sync.compression.error_decay",
    "cluster.gpu.widened_product_speed",    // memory bounds all products of these small models
    "software.widened_product_speed",       // the same
    "software.bucket_parameters_per_copy",  // the few copies of these models count less than
                                            // bucket_parameters
    "software.eager_layers",                // of memory that is not the most there
    "software.fuses_expert_mlp",            // of graphs of whole steps
    "software.update_group_parameters",     // all parameters of these models are fewer
};

/// Keys that were met with another value than the experiment's, and those of them that made another report.
struct Met {
  std::set<std::string> changed;
  std::set<std::string> told;
};

/// Once a key has shown an effect, each experiment is run with one in this many of its values.
constexpr std::size_t kOneValueIn = test::kSanitized ? 72 : 2;

/// With every value of every key in turn, compares the simulator's report with that of a fresh one.
void compare_all(const std::string& text, const Values& values, std::size_t turn, Met& met) {
  Simulator simulator;
  const Experiment unchanged = read(text);
  const std::string report = text_of(simulator.simulate(unchanged));
  const auto compare = [&](const std::string& key, const std::string& value) {
    const Experiment changed = read(text, {key + "=" + value});
    if (changed == unchanged) return;
    const std::string fresh = text_of(simulate(changed));
    CHECK(text_of(simulator.simulate(changed)) == fresh);
    met.changed.insert(key);
    if (fresh != report) met.told.insert(key);
  };
  for (const auto& entry : values) {
    const std::string& key = entry.first;
    CAPTURE(key);
    for (const std::string& value : entry.second) {
      const bool is_spared = turn++ % kOneValueIn != 0;
      if (is_spared && (test::kSanitized || met.told.contains(key))) continue;
      CAPTURE(value);
      try {
        compare(key, value);
      } catch (const InputError&) {  // not with the other keys
      }
    }
  }
}

/// Keys of `orrery converge`, of storage, which `orrery run` writes to, and those that no report tells of.
bool is_of_other_commands(const std::string& key) {
  const auto begins = [&key](const char* part) { return key.starts_with(part); };
  return kUntold.contains(key) || begins("problem.") || begins("cluster.storage");
}

}  // namespace

TEST_CASE("with any key changed, a simulator tells what a fresh one tells") {
  const Values values = test::values_of_keys(kMoreValues);
  Met met;
  for (std::size_t i = 0; i < kExperiments.size(); ++i) {
    CAPTURE(kExperiments[i]);
    compare_all(kExperiments[i], values, i, met);
  }
  CHECK(values.size() > 200);
  if (test::kSanitized) return;
  for (const auto& entry : values) {
    const std::string& key = entry.first;
    if (is_of_no_plan(key)) continue;
    CAPTURE(key);
    CHECK(met.changed.contains(key) != kFixed.contains(key));
    if (met.changed.contains(key)) CHECK(met.told.contains(key) != is_of_other_commands(key));
  }
}
