#include <doctest/doctest.h>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;
using io_test::plan_problems;

TEST_CASE("unknown keys are named with the nearest known one, in JSON and YAML") {
  CHECK(
      diagnostics("{\n  \"model\": \"tiny\", \"cluster\": \"box\",\n  \"simulation\": {\"stepz\": 3}\n}") ==
      "e.json:3:18: /simulation/stepz: found unknown key \"stepz\", allowed network, folding, detail, steps, "
      "seed; did you mean \"steps\"?");
  CHECK(
      diagnostics("model: tiny\ncluster: box\nsimulation:\n  stepz: 3\n", {}, "e.yaml") ==
      "e.yaml:4:3: /simulation/stepz: found unknown key \"stepz\", allowed network, folding, detail, steps, "
      "seed; did you mean \"steps\"?");
  // A carriage return ends a comment too.
  CHECK(diagnostics("{\"model\": \"tiny\", // a box\r \"cluster\": \"box\", \"simulation\": {\"stepz\": 3}}")
            .starts_with("e.json:1:62: /simulation/stepz: found unknown key"));
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "box"})", {"simulation.stpes=3"}) ==
        "command line: /simulation/stpes: found unknown key \"stpes\", allowed network, folding, detail, "
        "steps, seed; did you mean \"steps\"?");
}

TEST_CASE("wrong types and values out of range say what is allowed") {
  CHECK(plan_problems(R"({"tensor_parallel": "eight"})") ==
        "e.json:1:65: /plan/tensor_parallel: found \"eight\", allowed an integer from 1 to 4000000");
  CHECK(plan_problems(R"({"tensor_parallel": 0})") ==
        "e.json:1:65: /plan/tensor_parallel: found 0, allowed an integer from 1 to 4000000");
  CHECK(plan_problems(R"({"tensor_parallel": 1.5})") ==
        "e.json:1:65: /plan/tensor_parallel: found 1.5, allowed an integer from 1 to 4000000");
  CHECK(plan_problems(R"({"bucket_mb": -1})") ==
        "e.json:1:59: /plan/bucket_mb: found -1, allowed a number from 0 to 10000000 MB");
  CHECK(plan_problems(R"({"sequence_parallel": 1})") ==
        "e.json:1:67: /plan/sequence_parallel: found 1, allowed true or false");
  CHECK(plan_problems(R"({"stage_layers": [4, -4]})") ==
        "e.json:1:66: /plan/stage_layers/1: found -4, allowed an integer from 0 to 100000");
  CHECK(plan_problems(R"({"zero_stage": 4})") ==
        "e.json:1:60: /plan/zero_stage: found 4, allowed an integer from 0 to 3");
  CHECK(plan_problems("[]") == "e.json:1:45: /plan: found [], allowed an object");
  CHECK(diagnostics("[1]") == "e.json:1:1: found [1], allowed an object");
  CHECK(diagnostics("model: tiny\ncluster: box\nplan:\n  sequence_parallel: yes\n", {}, "e.yaml") ==
        "e.yaml:4:22: /plan/sequence_parallel: found \"yes\", allowed true or false");
}

TEST_CASE("all problems come at once, in the order of the text") {
  CHECK(
      diagnostics("{\"plan\": {\"zero_stage\": 9},\n \"model\": \"tinny\",\n \"cluster\": 5}") ==
      "e.json:1:25: /plan/zero_stage: found 9, allowed an integer from 0 to 3\n"
      "e.json:2:11: /model: found \"tinny\", allowed an object or a catalog model (broken, experts, loop-a, "
      "loop-b, tiny, tiny-wide); did you mean \"tiny\"?\n"
      "e.json:3:13: /cluster: found 5, allowed a catalog cluster or an object");
}

TEST_CASE("missing keys are named") {
  CHECK(diagnostics("{}") ==
        "e.json:1:1: /model: missing; every experiment needs it: the name of a catalog model, or an object\n"
        "e.json:1:1: /cluster: missing; every experiment needs it: the name of a catalog cluster, or an "
        "object");
  CHECK(
      diagnostics(R"({"model": {"hidden": 8, "heads": 2, "vocab": 9, "seq_length": 4}, "cluster": "box"})") ==
      "e.json:1:11: /model/layers: missing; kind transformer needs it: an integer from 1 to 100000, "
      "transformer layers, matrices of an mlp, or equal parts of a convnet");
  CHECK(diagnostics(R"({"model": "tiny", "cluster": {"base": "box", "node": "ring"}})") ==
        "e.json:1:54: /cluster/node/link_gb_per_s: missing; a wired node needs it: a number from 1e-06 to "
        "70000 GB/s, one direction, per GPU port (nvswitch, pcie, pcie-host) or per link (the others)");
}

TEST_CASE("convolutional networks whose parts do not add up say so") {
  const auto net = [](const std::string& more) {
    return diagnostics(R"({"model": {"kind": "convnet", "layers": 4, "parameters": 100,
                                     "forward_gflops_per_sample": 1, )" +
                       more + R"(}, "cluster": "box"})");
  };
  CHECK(net(R"("convolutions": 8, "head_parameters": 100)").empty());
  CHECK(net(R"("convolutions": 6)").find("/model/convolutions: found 6, allowed a multiple of layers 4") !=
        std::string::npos);
  CHECK(net(R"("head_parameters": 101)")
            .find("/model/head_parameters: found 101, allowed at most parameters 100") != std::string::npos);
  CHECK(net(R"("small_filter_share": 2)").find("/model/small_filter_share: found 2") != std::string::npos);
}

TEST_CASE("data are loaded where a run has a length, unless it says otherwise") {
  const auto data = [](const std::string& training) {
    return io_test::read(R"({"model": "tiny", "cluster": "box")" + training + "}").training.data;
  };
  CHECK(data("") == DataInput::synthetic);
  CHECK(data(R"(, "training": {"samples": 10})") == DataInput::loaded);
  CHECK(data(R"(, "training": {"tokens": 10, "data": "synthetic"})") == DataInput::synthetic);
  CHECK(data(R"(, "training": {"data": "loaded"})") == DataInput::loaded);
}

TEST_CASE("errors inside catalog entries name the entry") {
  CHECK(diagnostics(R"({"model": "broken", "cluster": "box"})") ==
        "e.json:1:11: /model/layers: found 0, allowed an integer from 1 to 100000 (in catalog model "
        "\"broken\")");
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "bad-box"})") ==
        "e.json:1:30: /cluster/node/link_gb_per_s: missing; a wired node needs it: a number from 1e-06 to "
        "70000 GB/s, one direction, per GPU port (nvswitch, pcie, pcie-host) or per link (the others) (in "
        "catalog "
        "cluster \"bad-box\")");
  CHECK(
      diagnostics(R"({"model": "loop-a", "cluster": "box"})") ==
      "e.json:1:11: /model/base: catalog model \"loop-a\" is based on itself (in catalog model \"loop-a\")");
}

TEST_CASE("names that the interface knows but nothing models yet say so") {
  CHECK(
      plan_problems(R"({"collectives": {"all-reduce": "nvls"}})") ==
      "e.json:1:76: /plan/collectives/all-reduce: found \"nvls\", which the interface knows but Orrery does "
      "not model yet; available: auto, ring, tree, halving-doubling, direct");
  CHECK(plan_problems(R"({"pipeline_schedule": "1f1"})") ==
        "e.json:1:67: /plan/pipeline_schedule: found \"1f1\", allowed one of sequential, gpipe, 1f1b, "
        "interleaved-1f1b; did you mean \"1f1b\"?");
}

TEST_CASE("stack names are checked") {
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "box", "stack": "nemo-2024"})").empty());
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "box", "stack": "nemo-2025"})")
            .find("did you mean \"nemo-202") != std::string::npos);
}

TEST_CASE("plans must fit the cluster") {
  CHECK(plan_problems(R"({"tensor_parallel": 4, "data_parallel": 3})") ==
        "e.json:1:85: /plan/data_parallel: found tensor_parallel 4 x pipeline_parallel 1 x data_parallel 3 = "
        "12, allowed the cluster's 8 GPUs (data_parallel 2)");
  CHECK(
      plan_problems(R"({"pipeline_parallel": 16, "stage_layers": [8,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]})") ==
      "e.json:1:67: /plan/pipeline_parallel: found tensor_parallel 1 x pipeline_parallel 16 = 16, allowed a "
      "divisor of the cluster's 8 GPUs");
  CHECK(plan_problems(R"({"global_batch_size": 12})") ==
        "e.json:1:67: /plan/global_batch_size: found 12, allowed a multiple of data_parallel 8 x "
        "micro_batch_size 1 = 8");
  CHECK(plan_problems("{}", {"plan.global_batch_size=12"}) ==
        "command line: /plan/global_batch_size: found 12, allowed a multiple of data_parallel 8 x "
        "micro_batch_size 1 = 8");
}

TEST_CASE("packed samples fit into a sequence and need fused attention") {
  const auto with = [](const std::string& keys) {
    return diagnostics(R"({"model": {"base": "tiny", )" + keys + R"(}, "cluster": "box"})");
  };
  CHECK(with(R"("attention": "flash", "packed_sample_length": 16)").empty());
  CHECK(with(R"("attention": "flash", "packed_sample_length": 33)") ==
        "e.json:1:74: /model/packed_sample_length: found 33, allowed at most seq_length 32");
  CHECK(with(R"("packed_sample_length": 16)") ==
        "e.json:1:52: /model/packed_sample_length: found 16, allowed only with attention flash: unfused "
        "attention "
        "computes all scores");
  CHECK(
      diagnostics(R"({"model": {"kind": "mlp", "widths": [8, 6], "seq_length": 4, "packed_sample_length": 2},
                     "cluster": "box"})")
          .find("allowed only for kind transformer") != std::string::npos);
}

TEST_CASE("adapters need a rank that fits and a matrix") {
  CHECK(diagnostics(R"({"model": {"base": "tiny", "lora_targets": ["linear_qkv"]}, "cluster": "box"})") ==
        "e.json:1:44: /model/lora_targets: found a list, allowed only with lora_rank");
  CHECK(diagnostics(R"({"model": {"base": "tiny", "lora_rank": 4, "lora_targets": []}, "cluster": "box"})") ==
        "e.json:1:60: /model/lora_targets: found an empty list, allowed at least one matrix");
  CHECK(diagnostics(R"({"model": {"base": "tiny", "lora_rank": 1000}, "cluster": "box"})")
            .starts_with("e.json:1:41: /model/lora_rank: found 1000, allowed at most "));
  CHECK(diagnostics(
            R"({"model": {"base": "tiny", "lora_rank": 4, "lora_targets": ["linear_qv"]}, "cluster": "box"})")
            .find("linear_qkv") != std::string::npos);
  CHECK(
      diagnostics(
          R"({"model": {"kind": "mlp", "widths": [8, 6, 8], "seq_length": 4, "lora_rank": 2}, "cluster": "box"})")
          .find("allowed only for kind transformer") != std::string::npos);
}

TEST_CASE("groups that share a copy of what ZeRO shards divide the replicas") {
  CHECK(plan_problems(R"({"zero_stage": 1, "zero_group_size": 4})").empty());
  CHECK(plan_problems(R"({"zero_stage": 1, "zero_group_size": 3})")
            .find("/plan/zero_group_size: found 3, allowed a divisor of data_parallel 8") !=
        std::string::npos);
  CHECK(plan_problems(R"({"zero_group_size": 4})")
            .find("/plan/zero_group_size: found a value that does nothing with zero_stage 0") !=
        std::string::npos);
}

TEST_CASE("tensor parallelism must divide the model") {
  CHECK(diagnostics(
            R"({"model": {"base": "tiny", "heads": 4}, "cluster": "box", "plan": {"tensor_parallel": 8}})") ==
        "e.json:1:87: /plan/tensor_parallel: found 8, allowed a divisor of heads 4");
  CHECK(diagnostics(
            R"({"model": {"base": "tiny", "kv_heads": 2}, "cluster": "box", "plan": {"tensor_parallel": 8}})")
            .empty());  // replicated
  CHECK(diagnostics(R"({"model": {"base": "tiny", "kv_heads": 3}, "cluster": "box"})") ==
        "e.json:1:40: /model/kv_heads: found 3, allowed a divisor of heads 8");
  CHECK(
      diagnostics(
          R"({"model": {"base": "tiny", "ffn_hidden": 100}, "cluster": "box", "plan": {"tensor_parallel": 8}})") ==
      "e.json:1:94: /plan/tensor_parallel: found 8, allowed a divisor of ffn_hidden 100");
  CHECK(diagnostics(R"({"model": {"base": "tiny", "seq_length": 30}, "cluster": "box",
 "plan": {"tensor_parallel": 8, "sequence_parallel": true}})") ==
        "e.json:2:30: /plan/tensor_parallel: found 8, allowed a divisor of seq_length 30");
  CHECK(plan_problems(R"({"tensor_partition": ["row"]})") ==
        "e.json:1:66: /plan/tensor_partition: found a list, allowed only for models of kind mlp");
}

TEST_CASE("stages must share the layers") {
  CHECK(plan_problems(
            R"({"pipeline_parallel": 8, "virtual_stages": 2, "pipeline_schedule": "interleaved-1f1b"})") ==
        "e.json:1:67: /plan/pipeline_parallel: found pipeline_parallel 8 x virtual_stages 2 = 16, allowed at "
        "most "
        "10, layers 8 and an embedding and a head");
  CHECK(plan_problems(R"({"pipeline_parallel": 2, "virtual_stages": 2})") ==
        "e.json:1:88: /plan/virtual_stages: found 2 with the schedule \"1f1b\", allowed 1, or more with "
        "interleaved-1f1b");
  CHECK(
      plan_problems(R"({"pipeline_parallel": 2, "stage_layers": [8]})") ==
      "e.json:1:86: /plan/stage_layers: found 1 entries, allowed pipeline_parallel 2 x virtual_stages 1 = 2");
  CHECK(plan_problems(R"({"pipeline_parallel": 2, "stage_layers": [8, 1]})") ==
        "e.json:1:86: /plan/stage_layers: found a sum of 9, allowed layers 8");
}

TEST_CASE("recomputation must be of what the layers have") {
  const auto says = [](const std::string& recompute, const std::string& message) {
    CHECK(plan_problems("{" + recompute + "}") == message);
  };
  says(R"("recompute": "ful")",
       "e.json:1:59: /plan/recompute: found \"ful\", allowed one of none, selective, full; did you mean "
       "\"full\"?");
  says(R"("recompute": {"modules": []})",
       "e.json:1:71: /plan/recompute/modules: found an empty list, allowed at least one module");
  says(R"("recompute": {"layers": 1, "stage_layers": [1]})",
       "e.json:1:73: /plan/recompute/stage_layers: found layers beside it, allowed one of the keys");
  says(R"("recompute": {"method": "uniform", "stage_layers": [1]})",
       "e.json:1:81: /plan/recompute/stage_layers: found it with method \"uniform\", allowed with method "
       "\"block\"");
  says(R"("recompute": {"stage_layers": [1, 2]})",
       "e.json:1:76: /plan/recompute/stage_layers: found 2 entries, allowed pipeline_parallel 1 x "
       "virtual_stages 1 = 1");
  says(R"("recompute": {"modules": ["experts"]})",
       "e.json:1:71: /plan/recompute/modules: found \"experts\", allowed for models with experts");
  says(R"("recompute": {"modules": ["latent-projection"]})",
       "e.json:1:71: /plan/recompute/modules: found \"latent-projection\", allowed for models with "
       "latent_attention");
  says(R"("recompute": {"modules": ["mlp"], "method": "uniform", "layers": 2})",
       "e.json:1:111: /plan/recompute/layers: found 2 with modules and method \"uniform\", allowed 1: groups "
       "are of whole layers");
  says(R"("recompute": {"layers": 2}, "zero_stage": 3)",
       "e.json:1:70: /plan/recompute/layers: found 2 with zero_stage 3, allowed 1: parameters are gathered "
       "layer by layer");
}

TEST_CASE("precision, sharding and rank order") {
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "old-box", "plan": {"precision": "bf16"}})") ==
        "e.json:1:63: /plan/precision: found \"bf16\", allowed fp32, fp16: the precisions for which the gpu "
        "old "
        "has a peak");
  CHECK(plan_problems(R"({"sharding": "FULLY_SHARD", "zero_stage": 1})") ==
        "e.json:1:58: /plan/sharding: found \"FULLY_SHARD\" (zero_stage 3), allowed one that agrees with "
        "zero_stage 1");
  CHECK(plan_problems(R"({"rank_order": "tp-dp-pp"})") ==
        "e.json:1:60: /plan/rank_order: found \"tp-dp-pp\", allowed tp, cp, ep, dp and pp in any order with "
        "'-' "
        "between them");
}

TEST_CASE("an mlp's cuts and widths must fit") {
  const std::string mlp =
      R"({"model": {"kind": "mlp", "widths": [8, 6, 8], "seq_length": 4}, "cluster": "box",
"plan": )";
  CHECK(diagnostics(mlp + R"({"tensor_parallel": 8}})") ==
        "e.json:2:29: /plan/tensor_parallel: found 8, allowed a divisor of the width d_1 = 6");
  CHECK(diagnostics(mlp + R"({"tensor_partition": ["row"]}})") ==
        "e.json:2:30: /plan/tensor_partition: found 1 entries, allowed one per matrix: 2");
  CHECK(
      diagnostics(
          R"({"model": {"kind": "mlp", "layers": 4, "widths": [8, 6, 8], "seq_length": 4}, "cluster": "box"})") ==
      "e.json:1:50: /model/widths: found 3 widths, allowed layers + 1 = 5");
  CHECK(
      diagnostics(
          R"({"model": {"kind": "mlp", "layers": 4, "hidden": 2, "heads": 2, "seq_length": 4}, "cluster": "box"})") ==
      "e.json:1:53: /model/heads: found key \"heads\", allowed only for kind transformer");
}

TEST_CASE("graphs must name their GPUs and link known vertices") {
  CHECK(diagnostics(R"({"model": "tiny", "cluster": {"gpu": "fast", "nodes": 2, "graph": {
"vertices": ["gpu0", "gpu2"], "links": []}}})") ==
        "e.json:2:13: /cluster/graph/vertices: found 2 GPUs but no gpu1, allowed gpu0 to gpu1");
  CHECK(diagnostics(R"({"model": "tiny", "cluster": {"gpu": "fast", "graph": {
"vertices": ["gpu0", "gpu1"], "links": [{"from": "gpu0", "to": "gpu11", "gb_per_s": 1}]}}})") ==
        "e.json:2:64: /cluster/graph/links/0/to: found \"gpu11\", allowed a name of vertices; did you mean "
        "\"gpu1\"?");
}

TEST_CASE("what would leave 64-bit integers is refused") {
  const std::string found = diagnostics(R"({"model": {"base": "tiny", "layers": 100000}, "cluster": "box"})",
                                        {"plan.global_batch_size=8e8", "model.hidden=1e7"});
  // 8e8 samples / 8 replicas x 1e5 layers
  CHECK(
      found.starts_with("command line: /plan/global_batch_size: found micro-batches x layers x steps of "
                        "1e+13, allowed at most 1e+12\n"));
  // 1e5 layers x (2 x 8 x 8 heads + 3 x 4e7 ffn) x 1e7 weights x 24 bytes, and activations of 1e8 samples
  CHECK(found.find("/model: found bytes per replica of ") != std::string::npos);
  // 1e8 tokens x 8 x 1e7 x 3e8 weights
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "box"})",
                    {"model.hidden=1e7", "model.ffn_hidden=1e8", "model.heads=100", "model.seq_length=1e8"})
            .find("/model: found FLOPs of a layer per GPU and micro-batch of ") != std::string::npos);
}

TEST_CASE("a single value is no list") {
  CHECK(plan_problems(R"({"stage_layers": 8})") ==
        "e.json:1:62: /plan/stage_layers: found 8, allowed a list of integers from 0 to 100000, or auto");
}

TEST_CASE("an FP8 plan needs a 16-bit peak beside the FP8 one") {
  const auto with = [](const std::string& peaks) {
    return diagnostics(R"({"model": "tiny", "cluster": {"gpu": {"peak_tflops": )" + peaks +
                       R"(, "memory_gb": 80, "memory_gb_per_s": 1000}}, "plan": {"precision": "fp8"}})");
  };
  CHECK(with(R"({"fp8": 242, "fp16": 121})").empty());
  CHECK(with(R"({"fp8": 242, "bf16": 121})").empty());
  CHECK(with(R"({"fp8": 242, "fp32": 20})") ==
        "e.json:1:54: /cluster/gpu/peak_tflops: found no peak of fp16 or bf16, allowed for fp8 plans with "
        "one of "
        "them alone: what is no product with weights runs in 16 bits");
}

TEST_CASE("software times beyond simulated time are refused where they stand") {
  const auto with = [](const std::string& software) {
    return diagnostics(
        R"({"model": "tiny", "cluster": "box", "plan": {"global_batch_size": 80000}, "software": )" +
        software + "}");
  };
  CHECK(with(R"({"forward_issue_us": 10})").empty());
  // 10,000 micro-batches x 8 layers x 64 kernels of 10 s each.
  CHECK(with(R"({"forward_issue_us": 1e7})") ==
        "e.json:1:108: /software/forward_issue_us: found 5.1e+07 simulated seconds of software, allowed at "
        "most 1e+06");
  // 2 passes of 10,000 micro-batches, 100 s each.
  CHECK(with(R"({"pass_overhead_us": 1e7, "step_overhead_ms": 20})").empty());
}

TEST_CASE("gossip that would take too long is refused with the estimate") {
  Menus all = io_test::menus();
  for (const char* name : {"star", "complete", "erdos-renyi"}) all.gossip_topologies.emplace_back(name);
  const auto with = [&](const std::string& topology, const std::string& nodes, const std::string& network) {
    const std::string text = R"({"model": "tiny", "cluster": {"base": "box", "gpus_per_node": 1, "nodes": )" +
                             nodes + R"(}, "data_parallel_sync": {"method": "gossip", "topology": ")" +
                             topology + R"("}, "simulation": {"network": ")" + network + R"("}})";
    try {
      read_experiment_text(text, "", {}, io_test::catalog(), all);
    } catch (const InputError& error) {
      return error.diagnostics().front().message;
    }
    return std::string();
  };
  CHECK(with("ring", "8192", "flow").empty());
  CHECK(with("complete", "1024", "flow").empty());
  CHECK(with("star", "512", "flow").empty());
  CHECK(with("erdos-renyi", "256", "flow").empty());
  // 8,192 x 8,191 exchanges.
  CHECK(
      with("complete", "8192", "alpha-beta") ==
      "found \"complete\" over 8192 workers with about 8191 neighbours: about 6.7e+07 exchanges in a round, "
      "allowed at most 2e+06");
  // 2 x 4,095 streams of 4,096 ranks, one bucket.
  CHECK(with("star", "4096", "alpha-beta") ==
        "found \"star\" over 4096 workers with about 4095 neighbours: about 3.4e+07 operations to simulate, "
        "allowed at most 1e+07; the method parameter-server does what a star does");
  // (0.5 x 1,024 x 1,023)^2 x (2.4 + 4 x 0.16) ns.
  CHECK(
      with("erdos-renyi", "1024", "flow") ==
      "found \"erdos-renyi\" over 1024 workers with about 512 neighbours: about 8.3e+02 seconds to simulate, "
      "allowed at most 60; the network alpha-beta takes less");
  CHECK(with("erdos-renyi", "1024", "alpha-beta").empty());
}
