// Experiments that serve requests, from their text to the report.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/run/iteration_cost.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/run.hpp"

using namespace orrery;

namespace {

Experiment serving_experiment(const std::vector<std::string>& overrides) {
  static const Catalog catalog = Catalog::embedded();
  static const Menus all = menus();
  return read_experiment_text(R"({"model": "llama3.1-8b", "cluster": "dgx-h100",
      "plan": {"data_parallel": 8},
      "inference": {"prompt_tokens": 500, "output_tokens": 20, "batch_size": 4, "requests": 64}})",
                              "e.json", overrides, catalog, all)
      .experiment;
}

/// Returns the cost of replicas that are all alike.
std::unique_ptr<IterationCost> cost_of(const PreparedExperiment& prepared, Memo& memo) {
  const Experiment& experiment = prepared.experiment;
  return std::move(
      iteration_costs(prepared, *experiment.inference, replica_kinds(experiment).kinds, memo).front());
}

}  // namespace

TEST_CASE("an experiment with inference serves its requests, alone or after others") {
  Simulator simulator;
  const Experiment experiment = serving_experiment({});
  const Report report = simulate(experiment);
  REQUIRE(report.serving);
  CHECK(report.feasible);
  CHECK(report.makespan_ps == 0);  // no step
  CHECK(report.serving->requests == 64);
  CHECK(report.serving->output_tokens == 64 * 20);
  for (int i = 0; i < 2; ++i)
    CHECK(simulator.simulate(experiment).serving->duration_ps == report.serving->duration_ps);
  CHECK(simulator.simulate(serving_experiment({"inference.output_tokens=21"})).serving->duration_ps >
        report.serving->duration_ps);
}

TEST_CASE("replicas that are alike serve as much each, however many they are") {
  // All replicas have one front end, which is left out here.
  const std::string none = "software.front_end_request_us=0";
  const Report eight = simulate(serving_experiment({none}));
  const Report one = simulate(
      serving_experiment({"cluster.gpus_per_node=1", "plan.data_parallel=1", "inference.requests=8", none}));
  CHECK(one.serving->duration_ps == eight.serving->duration_ps);
  CHECK(one.serving->output_tokens_per_s() * 8 == doctest::Approx(eight.serving->output_tokens_per_s()));
}

TEST_CASE("what does not fit is infeasible, with the reason and without figures") {
  const Experiment large = serving_experiment({"model.base=llama3.1-70b"});
  for (const Report& report : {simulate(large), account_memory(large)}) {
    CHECK_FALSE(report.feasible);
    REQUIRE(report.reasons.size() == 1);
    CHECK(report.reasons[0].starts_with("weights of 141.1 GB and activations"));
    CHECK(report.serving->duration_ps == 0);
  }
  CHECK(account_memory(serving_experiment({})).feasible);
}

TEST_CASE("rates beyond capacity end, and are called so") {
  const Report report =
      simulate(serving_experiment({"inference.requests_per_s=1e6", "inference.requests=2000"}));
  CHECK(report.serving->unstable == true);
  REQUIRE_FALSE(report.warnings.empty());
  CHECK(report.warnings[0].find("the queue grows by") != std::string::npos);
}

TEST_CASE("a batch that grows instead of a queue is beyond capacity too") {
  const std::vector<std::string> many{"cluster.gpus_per_node=1",       "plan.data_parallel=1",
                                      "inference.batch_size=null",     "inference.prompt_tokens=10",
                                      "inference.output_tokens=500",   "inference.requests=800",
                                      "inference.chunked_prefill=true"};
  std::vector<std::string> beyond = many;
  beyond.emplace_back("inference.requests_per_s=200");
  const Report report = simulate(serving_experiment(beyond));
  CHECK(report.serving->unstable == true);
  CHECK(report.serving->queue_growth_per_s == doctest::Approx(200).epsilon(0.1));  // none ends meanwhile
  std::vector<std::string> within = many;
  within.emplace_back("inference.requests_per_s=5");
  CHECK(simulate(serving_experiment(within)).serving->unstable == false);
}

TEST_CASE("keys and values take longer to another node, and as long as the NICs that all ranks share") {
  Memo memo;
  const PreparedExperiment two_nodes =
      prepare(serving_experiment({"cluster.nodes=2", "plan.tensor_parallel=4", "plan.data_parallel=4",
                                  "cluster.fabric.nics_per_node=1"}),
              memo);
  const auto cost = cost_of(two_nodes, memo);
  const Picoseconds near = cost->transfer_ps(0, 1, 1000);
  const Picoseconds far = cost->transfer_ps(0, 2, 1000);
  CHECK(near == cost->transfer_ps(3, 2, 1000));
  CHECK(far == cost->transfer_ps(3, 1, 1000));
  CHECK(far > 4 * near);
  const PreparedExperiment own_nics = prepare(
      serving_experiment({"cluster.nodes=2", "plan.tensor_parallel=4", "plan.data_parallel=4"}), memo);
  const auto wide = cost_of(own_nics, memo);
  CHECK(far > 3 * wide->transfer_ps(0, 2, 1000));  // four ranks by one NIC, or by one each
}

TEST_CASE("roles of replicas have whole groups that share experts") {
  const std::vector<std::string> shared{"model=mixtral-8x7b", "plan.expert_parallel=4",
                                        R"(inference.disaggregated={"prefill": 4, "decode": 4})"};
  CHECK_NOTHROW(serving_experiment(shared));
  std::vector<std::string> torn = shared;
  torn.back() = R"(inference.disaggregated={"prefill": 2, "decode": 6})";
  CHECK_THROWS_WITH_AS(serving_experiment(torn), doctest::Contains("allowed multiples of 4"), InputError);
}

TEST_CASE("prompts whose attention cannot be counted are refused") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(simulate(serving_experiment(
          {"cluster.gpu.memory_gb=1000000", "inference.max_model_len=1e8", "inference.output_tokens=2",
           "inference.requests=1", "inference.batch_size=1", "inference.prompt_tokens=99000000",
           "inference.chunked_prefill=false", "plan.data_parallel=1", "cluster.gpus_per_node=1"}))),
      doctest::Contains("more than 2^63 FLOPs"), InputError);
}

TEST_CASE("memory alone has no range of latencies to speak of") {
  for (const std::string& line : account_memory(serving_experiment({})).assumptions)
    CHECK(line.find("measured") == std::string::npos);
}

TEST_CASE("experiments that serve are of an engine unless they name a stack") {
  CHECK(serving_experiment({}).stack == "vllm-2025");
  CHECK(serving_experiment({"stack=nemo-2024"}).stack == "nemo-2024");
}

TEST_CASE("logits of proposals, and tokens of large batches, take memory") {
  const auto workspace = [](const std::vector<std::string>& changes) {
    return account_memory(serving_experiment(changes)).serving->workspace_bytes;
  };
  const std::vector<std::string> plain{"inference.batch_size=256", "inference.chunked_prefill=true"};
  std::vector<std::string> proposing = plain;
  proposing.emplace_back(R"(inference.speculative={"num_speculative_tokens": 64, "acceptance_rate": 0.5})");
  // 64 more logits of a request in 16 and in 32 bits, and as many tokens more than a pass of prompts has.
  CHECK(workspace(proposing) - workspace(plain) > Bytes{256} * 64 * 128256 * 6);
  std::vector<std::string> small = plain;
  small.emplace_back("inference.max_num_batched_tokens=64");
  std::vector<std::string> equal = plain;
  equal.emplace_back("inference.max_num_batched_tokens=256");
  CHECK(workspace(small) == workspace(equal));  // outputs of 256 requests go through it anyway
}

TEST_CASE("requests have no step to look at") {
  CHECK_THROWS_AS(static_cast<void>(run(serving_experiment({}))), InputError);
}

TEST_CASE("figures have the range of runs that no fit saw, on GPUs and with models that were measured") {
  Experiment experiment = serving_experiment({});
  CalibrationDomains domains;
  domains.serving = {{"ttft_s", false, {"h100"}, 9, -0.5, 1},
                     {"tpot_s", true, {"h100"}, 9, -0.1, 0.1},
                     {"output_tokens_per_s", false, {"h200"}, 9, -0.1, 0.1}};
  experiment.domains = std::make_shared<const CalibrationDomains>(domains);
  const Report report = simulate(experiment);
  REQUIRE(report.serving->ranges.size() == 1);
  CHECK(report.serving->ranges[0].figure == "ttft_s");
  CHECK(report.serving->ranges[0].low == report.serving->ttft_s.mean * 0.5);
  CHECK(report.serving->ranges[0].high == report.serving->ttft_s.mean * 2);
  CHECK(report.assumptions.back().ends_with(": time to first token -50 to +100 % (9 runs on h100)"));

  domains.serving.erase(domains.serving.begin());
  experiment.domains = std::make_shared<const CalibrationDomains>(domains);
  const Report unknown = simulate(experiment);
  CHECK(unknown.serving->ranges.empty());
  CHECK(unknown.assumptions.back() ==
        "no run of a model without experts was measured on h100 under stack vllm-2025 (measured: dense "
        "models on "
        "h200; "
        "models with experts on h100): latencies and throughput have no range");
}
