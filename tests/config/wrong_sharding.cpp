// Keys of sharding, widths and offloading that contradict each other or do nothing.
#include <doctest/doctest.h>

#include <string>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;
using io_test::plan_problems;

TEST_CASE("keys of ZeRO-3 do nothing elsewhere, and must not contradict") {
  const auto says = [](const char* plan, const char* message) {
    return plan_problems(plan).find(message) != std::string::npos;
  };
  CHECK(plan_problems(R"({"zero_stage": 3, "reshard_after_forward": false, "prefetch": 2,
                          "fsdp_unit_layers": 4, "gradient_reduction": "every-step"})")
            .empty());
  CHECK(
      says(R"({"zero_stage": 1, "reshard_after_forward": false})",
           "/plan/reshard_after_forward: found a value that does nothing with zero_stage 1, allowed with 3"));
  CHECK(plan_problems(R"({"zero_stage": 1, "reshard_after_forward": true})").empty());
  CHECK(says(R"({"prefetch": 1})", "/plan/prefetch: found a value that does nothing with zero_stage 0"));
  CHECK(
      says(R"({"zero_stage": 2, "fsdp_unit_layers": 2})", "/plan/fsdp_unit_layers: found a value that does"));
  CHECK(says(R"({"zero_stage": 3, "prefetch": 2, "overlap_parameter_gather": false})",
             "/plan/prefetch: found 2 with overlap_parameter_gather false, allowed 0"));
  CHECK(says(R"({"zero_stage": 3, "prefetch": 0, "overlap_parameter_gather": true})",
             "/plan/prefetch: found 0 with overlap_parameter_gather true, allowed 1 or more"));
  CHECK(
      diagnostics(R"({"model": "tiny", "cluster": "box", "plan": {"gradient_reduction": "every-micro-batch"},
                        "data_parallel_sync": {"method": "gossip"}})")
          .find("/plan/gradient_reduction: found \"every-micro-batch\" with data_parallel_sync.method "
                "\"gossip\", allowed every-step") != std::string::npos);
}

TEST_CASE("widths of what travels and of what an optimizer keeps must not contradict") {
  const auto says = [](const char* plan, const char* message) {
    return plan_problems(plan).find(message) != std::string::npos;
  };
  CHECK(plan_problems(R"({"wire_precision": {"expert": "fp8", "dispatch": "fp8", "data": "fp32"}})").empty());
  CHECK(says(R"({"wire_precision": {"expert": "fp8", "combine": "bf16"}})",
             "/plan/wire_precision/combine: found \"bf16\" beside expert \"fp8\", allowed one of the keys"));
  CHECK(says(R"({"wire_precision": {"date": "fp8"}})", "did you mean \"data\"?"));
  CHECK(says(R"({"wire_precision": {"data": "fp12"}})", "/plan/wire_precision/data: found \"fp12\""));
  CHECK(says(R"({"wire_precision": "fp8"})", "/plan/wire_precision: found"));
  CHECK(says(R"({"wire_precision": {"models": "bf16"}})",
             "/plan/wire_precision/models: found a precision with data_parallel_sync.method \"all-reduce\", "
             "allowed with gossip | push-sum | local-sgd"));
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "box", "plan": {"wire_precision": {"data": "bf16"}},
                        "data_parallel_sync": {"method": "gossip"}})")
            .find("/plan/wire_precision/data: found a precision with data_parallel_sync.method \"gossip\"") !=
        std::string::npos);
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "box", "plan": {"wire_precision": {"data": "bf16"}},
                        "data_parallel_sync": {"compression": "sign"}})")
            .find("found a precision beside data_parallel_sync.compression") != std::string::npos);
  CHECK(says(R"({"optimizer": "sgd", "moment_precision": "bf16"})",
             "/plan/moment_precision: found a value that does nothing with optimizer \"sgd\""));
  CHECK(says(R"({"precision": "fp32", "main_weight_precision": "none"})",
             "/plan/main_weight_precision: found a value that does nothing with precision \"fp32\""));
  CHECK(says(R"({"optimizer": "adamw"})", "/plan/optimizer: found \"adamw\""));
}

TEST_CASE("offloading needs a link to the host, and layers that stand alone") {
  const auto says = [](const char* plan, const char* link, const char* message) {
    const std::string cluster = R"({"base": "box", "gpu": {"base": "fast", "host_link_gb_per_s": )";
    return diagnostics(R"({"model": "tiny", "cluster": )" + cluster + link + "}}, \"plan\": " + plan + "}")
               .find(message) != std::string::npos;
  };
  CHECK(says(R"({"offload": "optimizer"})", "0",
             "/plan/offload: found \"optimizer\", allowed where cluster.gpu.host_link_gb_per_s is known"));
  CHECK_FALSE(says(R"({"offload": "optimizer", "offload_fraction": 0.5})", "32", "found"));
  CHECK(says(R"({"offload": "disk"})", "32", "/plan/offload: found \"disk\""));
  CHECK(says(R"({"offload_fraction": 0.5})", "32",
             "/plan/offload_fraction: found a value that does nothing with offload \"none\""));
  CHECK(says(R"({"offload": "activations", "recompute": {"layers": 2}})", "32",
             "/plan/offload: found \"activations\", allowed with recompute of layers one by one"));
}
