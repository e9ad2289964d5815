#include <doctest/doctest.h>
#include <fmt/format.h>

#include "config/schema/menus.hpp"
#include "tests/config/support.hpp"

using namespace orrery;
using io_test::read;

TEST_CASE("a minimal experiment gets its defaults") {
  const Experiment e = read(R"({"model": "tiny", "cluster": "box"})");
  CHECK(e.name == "tiny on box");
  CHECK(e.model.kv_heads == 8);
  CHECK(e.model.head_dim == 8);      // 64 / 8
  CHECK(e.model.ffn_hidden == 256);  // 4 * 64
  CHECK(e.model.max_positions == 32);
  CHECK(e.cluster.gpu.name == "fast");
  CHECK(e.cluster.gpus() == 8);
  CHECK(e.plan.data_parallel == 8);
  CHECK(e.plan.global_batch_size == 8);
  CHECK(e.plan.precision == Precision::bf16);
  CHECK(e.simulation.steps == 1);
}

TEST_CASE("JSON with comments and tabs, and YAML, give equal experiments") {
  const Experiment json = read(
      "// a comment\n{\t\"model\": {\"base\": \"tiny\", \"layers\": 1.6e1}, /* and\n"
      "another */ \"cluster\": {\"base\": \"box\", \"nodes\": 2},\n"
      "\t\"plan\": {\"stage_layers\": [7, 9], \"pipeline_parallel\": 2, "
      "\"micro_batch_size\": 2, \"recompute\": \"full\"}}");
  const Experiment yaml = read(
      "# a comment\nmodel:\n  base: tiny\n  layers: 1.6e1\n"
      "cluster: {base: box, nodes: 2}\n"
      "plan:\n  stage_layers:\n  - 7\n  - 9\n  pipeline_parallel: 0x2\n"
      "  micro_batch_size: 0o2\n  recompute: 'full'\n",
      {}, "e.yaml");
  for (const Experiment* e : {&json, &yaml}) {
    CHECK(e->model.layers == 16);
    CHECK(e->cluster.nodes == 2);
    CHECK(e->plan.stage_layers == std::vector<std::int64_t>{7, 9});
    CHECK(e->plan.data_parallel == 8);
    CHECK(e->plan.global_batch_size == 16);
    CHECK(e->plan.recompute == Recompute::full);
  }
}

TEST_CASE("a YAML flow mapping is read where the name says YAML") {
  CHECK(read("{model: tiny, cluster: box}", {}, "e.yml").plan.data_parallel == 8);
  CHECK(io_test::diagnostics("{model: tiny, cluster: box}")
            .starts_with("e.json:1:2: syntax error while parsing object key"));
}

TEST_CASE("bases merge key by key, but another wiring starts afresh") {
  const Experiment e = read(R"({"model": {"base": "tiny-wide", "layers": 4}, "cluster": {"base": "box",
    "nodes": 2, "gpu": {"memory_gb": 40}, "fabric": {"nic_gbps": 400},
    "node": {"kind": "ring", "link_gb_per_s": 50}}})");
  CHECK(e.model.name == "tiny-wide");
  CHECK(e.model.hidden == 128);
  CHECK(e.model.heads == 8);
  CHECK(e.cluster.gpu.memory_gb == 40);
  CHECK(e.cluster.gpu.sms == 108);
  CHECK(e.cluster.fabric.nic_gbps == 400);
  CHECK(e.cluster.fabric.nics_per_node == 8);
  CHECK(e.cluster.node.kind == "ring");
  CHECK(e.cluster.node.efficiency == 1);  // not the nvswitch's 0.7
  CHECK(e.cluster.node.latency_us == 0);
}

TEST_CASE("a GPU without bf16 trains in fp16 by default") {
  const Experiment e = read(R"({"model": "tiny", "cluster": "old-box"})");
  CHECK(e.plan.precision == Precision::fp16);
  CHECK(e.cluster.gpu.memory_gb == 32);
  CHECK(e.cluster.gpu.name == "old");
}

TEST_CASE("overrides reach parts given by name, and create what is missing") {
  const Experiment e = read(R"({"model": "tiny", "cluster": "box"})",
                            {"cluster.nodes=4", "cluster.gpu.memory_gb=40", "cluster.fabric.nics_per_node=2",
                             "plan.tensor_parallel=4", "plan.collectives.all-reduce=tree",
                             "plan.stage_layers=[3,5]", "plan.pipeline_parallel=2", "plan.stage_layers.1=5",
                             "name=a b", "simulation={network: alpha-beta, seed: 7}"});
  CHECK(e.cluster.nodes == 4);
  CHECK(e.cluster.gpu.memory_gb == 40);
  CHECK(e.cluster.fabric.nics_per_node == 2);
  CHECK(e.plan.data_parallel == 4);  // 32 / (4 * 2)
  CHECK(e.plan.collectives[0] == "tree");
  CHECK(e.plan.stage_layers == std::vector<std::int64_t>{3, 5});
  CHECK(e.name == "a b");
  CHECK(e.simulation.network == Network::alpha_beta);
  CHECK(e.simulation.seed == 7);
  const Experiment wired = read(R"({"model": "tiny", "cluster": {"base": "box", "node": "ring"}})",
                                {"cluster.node.link_gb_per_s=25"});
  CHECK(wired.cluster.node.kind == "ring");
  CHECK(wired.cluster.node.link_gb_per_s == 25);
}

TEST_CASE("what a plan leaves open is reduced and gathered as its ZeRO stage asks") {
  const auto plan = [](const char* keys) {
    return read(R"({"model": "tiny", "cluster": "box", "plan": )" + std::string(keys) + "}").plan;
  };
  for (const char* few : {"{}", R"({"zero_stage": 1})", R"({"sharding": "OPTIMIZER_STATES"})"})
    CHECK(plan(few).gradient_reduction == GradientReduction::every_step);
  for (const char* many : {R"({"zero_stage": 2})", R"({"sharding": "FULLY_SHARD"})"})
    CHECK(plan(many).gradient_reduction == GradientReduction::every_micro_batch);
  CHECK(plan(R"({"zero_stage": 3})").prefetch == 0);
  CHECK(plan(R"({"zero_stage": 3, "overlap_parameter_gather": true})").prefetch == 1);
  CHECK(plan(R"({"zero_stage": 3, "prefetch": 2})").overlap_parameter_gather);
}

TEST_CASE("sharding is another name for zero_stage") {
  CHECK(read(R"({"model": "tiny", "cluster": "box", "plan": {"sharding": "FULLY_SHARD"}})").plan.zero_stage ==
        3);
  CHECK(io_test::plan_problems(R"({"sharding": "NO_OP", "zero_stage": 0})").empty());
}

TEST_CASE("an mlp is a chain of matrices") {
  const Experiment e = read(R"({"model": {"kind": "mlp", "widths": [8, 16, 8], "seq_length": 4},
                                "cluster": "box", "plan": {"tensor_parallel": 8}})");
  CHECK(e.model.layers == 2);
  CHECK(e.plan.tensor_partition == std::vector{MatrixPartition::column, MatrixPartition::row});
  const Experiment square = read(R"({"model": {"kind": "mlp", "layers": 3, "hidden": 8, "seq_length": 4},
                                     "cluster": "box", "plan": {"tensor_partition": ["row", "row", "column"]}})");
  CHECK(square.model.widths == std::vector<std::int64_t>{8, 8, 8, 8});
  CHECK(square.plan.tensor_partition[2] == MatrixPartition::column);
}

TEST_CASE("an explicit graph says how many GPUs there are") {
  const Experiment e = read(R"({"model": "tiny", "cluster": {"gpu": "fast", "graph": {
    "vertices": ["gpu0", "gpu1", "s"], "links": [{"from": "gpu0", "to": "s", "gb_per_s": 10, "latency_us": 1},
    {"from": "s", "to": "gpu1", "gb_per_s": 10, "bidirectional": false}]}}})");
  CHECK(e.cluster.gpus() == 2);
  REQUIRE(e.cluster.graph);
  CHECK(e.cluster.graph->links[0].latency_us == 1);
  CHECK_FALSE(e.cluster.graph->links[1].bidirectional);
}

TEST_CASE("a plan overlaps as the software does, unless it says otherwise") {
  const std::string text =
      R"({"model": "tiny", "cluster": "box", "plan": {"tensor_parallel": 2}, "software": {)";
  const Plan plain = read(text + "}}").plan;
  CHECK(!plain.overlap_tensor_parallel);
  CHECK(!plain.overlap_parameter_gather);
  const std::string tensor = text + R"("overlaps_tensor_parallel": true}})";
  const std::string gather = text + R"("overlaps_parameter_gather": true}})";
  CHECK(read(tensor).plan.overlap_tensor_parallel);
  CHECK(!read(tensor).plan.overlap_parameter_gather);
  CHECK(!read(gather).plan.overlap_tensor_parallel);
  CHECK(read(gather).plan.overlap_parameter_gather);
  CHECK(!read(tensor, {"plan.overlap_tensor_parallel=false"}).plan.overlap_tensor_parallel);
  CHECK(!read(gather, {"plan.overlap_parameter_gather=false"}).plan.overlap_parameter_gather);
  CHECK(read(text + "}}", {"plan.overlap_tensor_parallel=true"}).plan.overlap_tensor_parallel);
  CHECK(read(text + "}}", {"plan.overlap_parameter_gather=true"}).plan.overlap_parameter_gather);
}

TEST_CASE("the accuracy to reach") {
  const std::string text = R"({"model": "tiny", "cluster": "box", "accuracy": {"target": 1e-4, "noise": 2)";
  const Accuracy accuracy = read(text + R"(, "heterogeneity": 0.5, "noise_of": "sample"}})").accuracy;
  CHECK(accuracy.target == 1e-4);
  CHECK(accuracy.noise == 2);
  CHECK(accuracy.heterogeneity == 0.5);
  CHECK(accuracy.noise_of == NoiseOf::sample);
  CHECK(read(text + "}}").accuracy.noise_of == NoiseOf::replica);
  CHECK_FALSE(read(R"({"model": "tiny", "cluster": "box"})").accuracy.wanted());
  CHECK_THROWS_AS(read(R"({"model": "tiny", "cluster": "box", "accuracy": {"noise": 2}})"), InputError);
}

TEST_CASE("the training run and the software of an experiment") {
  const Experiment e = read(
      R"({"model": "tiny", "cluster": "box", "training": {"tokens": 3e11},
      "software": {"forward_issue_us": 2.5, "gradient_bytes": 4, "synchronize_passes": true}})");
  CHECK(e.training.tokens == 300'000'000'000);
  CHECK(e.software.forward_issue_us == 2.5);
  CHECK(e.software.backward_issue_us == 0);
  CHECK(e.software.gradient_bytes == 4);
  CHECK(e.software.synchronize_passes);
  CHECK(read(R"({"model": "tiny", "cluster": "box"})").training.tokens == 0);
}

TEST_CASE("adapters beside the matrices that are named, or all") {
  const Model some =
      read(R"({"model": {"base": "tiny", "lora_rank": 4, "lora_targets": ["linear_qkv", "linear_fc2"]},
      "cluster": "box"})")
          .model;
  CHECK(some.lora_rank == 4);
  CHECK(some.lora_targets == std::array<bool, kLinearCount>{true, false, false, true});
  const Model all = read(R"({"model": {"base": "tiny", "lora_rank": 4}, "cluster": "box"})").model;
  CHECK(all.lora_targets == std::array<bool, kLinearCount>{true, true, true, true});
  CHECK(!read(R"({"model": "tiny", "cluster": "box"})").model.adapts(Linear::qkv));
}

TEST_CASE("a sequence is one sample unless several are packed") {
  const Model packed = read(R"({"model": {"base": "tiny", "attention": "flash", "packed_sample_length": 8},
      "cluster": "box"})")
                           .model;
  CHECK(packed.attended_length() == 8);
  CHECK(read(R"({"model": "tiny", "cluster": "box"})").model.attended_length() == 32);
}

TEST_CASE("ZeRO shards over all replicas, those named, or as the stack does by itself") {
  const auto group = [](const std::string& plan, bool in_nodes) {
    const Plan read_plan =
        read(R"({"model": "tiny", "cluster": {"base": "box", "nodes": 4}, "plan": )" + plan +
             R"(, "software": {"shards_in_nodes": )" + (in_nodes ? "true" : "false") + "}}")
            .plan;
    return read_plan.sharding_ranks();
  };
  CHECK(group(R"({"zero_stage": 1})", false) == 32);
  CHECK(group(R"({"zero_stage": 1, "zero_group_size": 8})", false) == 8);
  CHECK(group(R"({"zero_stage": 1})", true) == 8);
  CHECK(group(R"({"zero_stage": 1, "tensor_parallel": 2})", true) == 4);
  CHECK(group(R"({"zero_stage": 1, "pipeline_parallel": 2})", true) == 8);
  CHECK(
      group(
          R"({"zero_stage": 1, "tensor_parallel": 2, "pipeline_parallel": 2, "rank_order": "tp-cp-ep-pp-dp"})",
          true) == 2);
  CHECK(group(R"({"zero_stage": 1, "zero_group_size": 32})", true) == 32);
  CHECK(group(R"({"zero_stage": 1, "tensor_parallel": 8})", true) == 4);  // one replica a node: all
  CHECK(group(R"({"tensor_parallel": 2})", true) == 16);                  // nothing is sharded
}

TEST_CASE("experiments of a series are those read one by one, and so are their mistakes") {
  const std::vector<std::string> overrides{"plan.micro_batch_size=2"};
  ExperimentSeries without(io_test::catalog(), io_test::menus(), {});
  ExperimentSeries with(io_test::catalog(), io_test::menus(), overrides);
  const auto outcome = [](auto&& read) {
    try {
      const Experiment e = read();
      return fmt::format("{} {} {} | {} {} {} {} {} | {} {} | {} {} {} | {} {} {} {} {}", e.model.name,
                         e.model.hidden, e.model.layers, e.cluster.name, e.cluster.nodes,
                         e.cluster.gpus_per_node, e.cluster.gpu.memory_gb, e.cluster.gpu.gemm_efficiency,
                         e.cluster.node.link_gb_per_s, e.cluster.fabric.nic_gbps, e.software.step_overhead_ms,
                         e.software.gemm_speed, e.stack, e.plan.micro_batch_size, e.plan.data_parallel,
                         e.name, e.plan.zero_stage, e.simulation.steps);
    } catch (const InputError& error) {
      std::string text;
      for (const Diagnostic& diagnostic : error.diagnostics()) text += diagnostic.text() + "\n";
      return text;
    }
  };
  const char* const texts[] = {
      R"({"model": "tiny", "cluster": "box"})",
      R"({"model": "tiny", "cluster": "box", "software": {"step_overhead_ms": 3}})",
      R"({"model": "tiny", "cluster": "box", "software": {"step_overhead_ms": 3}, "stack": "ideal"})",
      R"({"model": "tiny", "cluster": "box", "software": {"step_overhead_ms": 3}})",
      R"({"model": "tiny-wide", "cluster": "box"})",
      R"({"model": "tiny-wide", "cluster": {"base": "box", "gpu": {"memory_gb": 40}}})",
      R"({"model": "tiny-wide", "cluster": {"gpu": {"memory_gb": 40}, "base": "box"}})",
      R"({"model": "tiny-wide", "cluster": {"base": "box", "nodes": 2, "fabric": {"nic_gbps": 400}}})",
      R"({"model": {"base": "tiny-wide", "layers": 4}, "cluster": {"base": "box", "nodes": 2}})",
      R"({"model": "tiny-wide", "cluster": {"base": "box", "gpu": {"memory_gb": -40}}})",
      R"({"model": "tiny-wide", "cluster": {"base": "box", "gpu": {"memory_gb": 40}}})",
      R"({"model": "tiny-wide", "cluster": {"base": "box", "gpu": {"memory_gb": 40}}, "plan": {"zero_stage": 7}})",
      R"({"model": "broken", "cluster": "box"})",
      R"({"model": "broken", "cluster": "box"})",
      R"({"model": "loop-a", "cluster": "box", "plan": {"tensor_parallel": 3}})",
      R"({"model": null, "cluster": "box"})",
      R"({"cluster": "box"})",
      R"({"model": "tiny", "cluster": "box", "plan": {"tensor_parallel": 3}})",
      R"({"model": "tiny", "cluster": "box", "software": 5})",
      R"({"model": "tiny", "cluster": "box", "plan": {"zero_stage": 1}})",
      R"({"model": "tiny", "cluster": "box", "plan": {}})",
      R"({"model": "tiny", "cluster": "box", "plan": {"zero_stage": 1}, "simulation": {"steps": 3}, "name": "x"})",
      R"({"name": "x", "simulation": {"steps": 3}, "plan": 5, "model": "tiny", "cluster": "box"})",
      R"({"name": "x", "simulation": {"steps": 3}, "model": "tiny", "cluster": "box"})",
      R"({"name": "x", "simulation": {"steps": 0}, "plan": {"zero_stage": 7}, "model": "tiny", "cluster": "box"})",
      R"({"name": "x", "training": {"tokens": 1e9}, "model": "tiny", "cluster": "box", "plan": {"zero": 7}})",
      R"([])",
      R"({"model": "tiny", "cluster": "box"} and more)",
      R"({"model": "tiny", "cluster": "box"})",
  };
  for (int round = 0; round < 2; ++round) {
    for (const std::string text : texts) {
      CAPTURE(text);
      CHECK(outcome([&] { return without.read(text, "e.json").experiment; }) ==
            outcome([&] { return read(text); }));
      CHECK(outcome([&] { return with.read(text, "e.json").experiment; }) ==
            outcome([&] { return read(text, overrides); }));
    }
  }
}

TEST_CASE("groups of nodes with GPUs of their own") {
  const Experiment e = io_test::read(R"({"model": "tiny", "cluster": {"base": "box", "groups": [
      {"nodes": 2, "gpu": "old"}, {"nodes": 1}, {"nodes": 3, "gpu": {"base": "old", "memory_gb": 16}}]}})");
  CHECK(e.cluster.nodes == 6);
  REQUIRE(e.cluster.gpu_classes() == 2);  // the last group is like the first
  CHECK(e.cluster.gpu.memory_gb == 16);
  CHECK(e.cluster.gpu_of_class(1).memory_gb == 80);
  CHECK(e.cluster.class_of_node(1) == 0);
  CHECK(e.cluster.class_of_node(2) == 1);
  CHECK(e.cluster.class_of_node(5) == 0);
  CHECK(e.plan.precision == Precision::fp16);  // bf16 on the one, none on the other
}
