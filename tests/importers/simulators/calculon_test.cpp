// Files of Calculon: model, plan and machine together.
#include <doctest/doctest.h>

#include <string>

#include "tests/importers/imported_text.hpp"

namespace orrery::importers {
namespace {

constexpr const char* kApplication =
    R"({"hidden": 6144, "feedforward": 24576, "seq_size": 2048, "attn_heads": 64, "attn_size": 96, "num_blocks": 48})";

std::string execution(const std::string& changes) {
  return R"({"num_procs": 64, "tensor_par": 4, "pipeline_par": 4, "data_par": 4, "batch_size": 64,
    "microbatch_size": 2, "datatype": "float16", "activation_recompute": "attn_only", 
    "optimizer_sharding": true, "tensor_par_comm_type": "rs_ag", "tensor_par_overlap": "none",
    "optimizer_offload": false)" +
         changes + "}";
}

constexpr const char* kSystem =
    R"({"matrix": {"float16": {"tflops": 312, "gflops_efficiency": [[16, 0.9], [1, 0.6]]}},
  "mem1": {"GiB": 80, "GBps": 2000, "MB_efficiency": [[1, 0.8]]}, "mem2": {"GiB": 512, "GBps": 32},
  "networks": [{"bandwidth": 300, "efficiency": 0.65, "size": 8, "latency": 1e-5, "processor_usage": 0.15},
               {"bandwidth": 25, "efficiency": 0.9, "size": 65536, "latency": 2e-5}]})";

}  // namespace

TEST_CASE("Calculon's three files are one experiment") {
  const Imported imported =
      import_texts({kApplication, execution(R"(, "pipeline_interleaving": 3)"), kSystem});
  REQUIRE_MESSAGE(!imported.stopped(), problems_of(imported));
  const auto experiment = experiment_of(imported);
  const auto plan = experiment.at("plan");
  CHECK(plan.at("recompute") == "selective");
  CHECK(plan.at("sequence_parallel") == true);
  CHECK(plan.at("zero_stage") == 1);
  CHECK(plan.at("virtual_stages") == 3);
  CHECK(plan.at("pipeline_schedule") == "interleaved-1f1b");
  const auto cluster = experiment.at("cluster");
  CHECK(cluster.at("nodes") == 8);  // 64 processors, 8 a node
  CHECK(cluster.at("gpu").at("memory_gb").get<double>() == doctest::Approx(85.899));  // 80 GiB
  CHECK(cluster.at("gpu").at("gemm_efficiency") == 0.9);
  CHECK(cluster.at("node").at("base_latency_us").get<double>() == doctest::Approx(10));
  CHECK(cluster.at("fabric").at("nic_gbps") == 200);  // 25 GB/s
  CHECK(experiment.at("stack") == "ideal");
}

TEST_CASE("what no experiment says is refused by name") {
  const Imported offload = import_texts({kApplication, execution(R"(, "weight_offload": true)")});
  CHECK(offload.stopped());
  CHECK(items_of(offload, Fate::missing).find("weight_offload") != std::string::npos);
  const std::string strange = execution(R"(, "attention_type": "linear")");
  CHECK(import_texts({kApplication, strange}).stopped());
  CHECK_FALSE(import_texts({kApplication, strange}, {"model.kv_heads=8"}).stopped());
  const Imported forward = import_texts({kApplication, execution(R"(, "training": false)")});
  CHECK(items_of(forward, Fate::missing).find("training") != std::string::npos);
}

}  // namespace orrery::importers
