// The explorer's published CSV rows, and the same figures as JSON and for a terminal.
#include "reports/explorer_writers.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

using namespace orrery;

namespace {

Experiment published() {
  Experiment e;
  e.name = "LLaMA-3.1 405B";
  e.plan.data_parallel = 8;
  e.plan.global_batch_size = 4096;
  e.model.seq_length = 8192;
  return e;
}

/// Its figures, as tests/workloads/explorer_memory_test.cpp has them, on a GPU of 80 GB.
ExplorerAnswer answer_of(const Experiment& experiment) {
  ExplorerMemory memory;
  memory.dense_parameters = 405'849'243'648;
  memory.states_bytes = 7'305'286'385'664;
  memory.activations_bytes = 610'862'628'864;
  return {experiment, memory, 80'000'000'000};
}

template <class Write>
std::string written(Write write) {
  std::string text;
  write([&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace

TEST_CASE("the explorer's CSV: its columns in its order and as it prints them, then ours") {
  const Experiment experiment = published();
  const std::string csv = written([&](const Sink& sink) { write_explorer_csv(answer_of(experiment), sink); });
  CHECK(csv ==
        "name,ngpus,TP,PP,EP,CP,DP,sub_seq_length,micro_batch_size,num_of_micro_batches,"
        "data_parallel_sharding_strategy,total_memory_gb,model_and_optimizer_states_memory_gb,"
        "activations_memory_gb,pipeline_bubble,token_imbalance,dense_parameters,expert_parameters,"
        "capacity_gib,feasible\n"
        "LLaMA-3.1 405B,8,1,1,1,1,8,8192,1,512.0,NO_OP,7372.49,6803.58,568.91,"
        "0.0000,1.0000,405849243648,0,74.51,false\n");
}

TEST_CASE("sequences are cut in the CSV, and names quoted") {
  Experiment experiment = published();
  experiment.name = "a, \"b\"";
  experiment.plan.context_parallel = 4;
  experiment.plan.zero_stage = 2;
  const std::string csv = written([&](const Sink& sink) { write_explorer_csv(answer_of(experiment), sink); });
  CHECK(csv.find("\n\"a, \"\"b\"\"\",32,1,1,1,4,8,2048,1,512.0,OPTIMIZER_STATES_AND_GRADS,") !=
        std::string::npos);
}

TEST_CASE("the explorer's JSON has the columns as keys, in full precision") {
  const Experiment experiment = published();
  const auto json = [&](int indent) {
    return written([&](const Sink& sink) { write_explorer_json(answer_of(experiment), indent, sink); });
  };
  const auto parsed = nlohmann::ordered_json::parse(json(2));
  CHECK(parsed == nlohmann::ordered_json::parse(json(-1)));
  CHECK(json(-1).find('\n') == json(-1).size() - 1);
  CHECK(json(-1).starts_with("{\"name\":\"LLaMA-3.1 405B\",\"ngpus\":8,"));
  CHECK(parsed["total_memory_gb"] == 7'916'149'014'528.0 / (1 << 30));
  CHECK(parsed["num_of_micro_batches"] == 512);
  CHECK(parsed["feasible"] == false);
  CHECK(parsed["capacity_gib"] == 80e9 / (1 << 30));
  CHECK(parsed.size() == 20);
}

TEST_CASE("a plan fits up to the last byte, and where no memory is known") {
  const Experiment experiment = published();
  ExplorerAnswer answer = answer_of(experiment);
  answer.gpu_memory = 7'916'149'014'528;
  CHECK(answer.feasible());
  answer.gpu_memory -= 1;
  CHECK_FALSE(answer.feasible());
  answer.gpu_memory = 0;
  CHECK(answer.feasible());
}

TEST_CASE("the explorer's summary") {
  const Experiment experiment = published();
  CHECK(written([&](const Sink& sink) { write_explorer_summary(answer_of(experiment), sink); }) ==
        "LLaMA-3.1 405B  INFEASIBLE\n"
        "8 GPUs\n"
        "tp 1 x cp 1 x ep 1 x pp 1 x dp 8, 512 micro-batches of 1, NO_OP\n"
        "\n"
        "Memory per GPU as the explorer counts it  GiB of 74.51\n"
        "  model and optimizer states      6803.58\n"
        "  activations                      568.91\n"
        "  total                           7372.49\n"
        "\n"
        "pipeline bubble 0.0000, token imbalance 1.0000\n");
}
