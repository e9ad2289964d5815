#include "sim/claims/step_time_range.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

/// Ranges of six kinds, so that each can be told from the others.
const std::vector<std::string> kRanges{
    "software.error_p10_one_node=-0.01",   "software.error_p90_one_node=0.01",
    "software.error_p10_many_nodes=-0.02", "software.error_p90_many_nodes=0.02",
    "software.error_p10_new_stack=-0.1",   "software.error_p90_new_stack=0.1",
    "software.error_p10_new_gpu=-0.2",     "software.error_p90_new_gpu=0.2",
    "software.error_p10_new_fabric=-0.3",  "software.error_p90_new_fabric=0.3"};

Experiment run_on(const std::string& cluster, std::vector<std::string> changes = {}) {
  changes.insert(changes.end(), kRanges.begin(), kRanges.end());
  return read(R"({"model": "gpt3-1.3b", "cluster": {"base": ")" + cluster +
                  R"(", "nodes": 2}, "plan": {"tensor_parallel": 4, "global_batch_size": 16}})",
              changes);
}

/// `experiment` under a stack that was held against `own`, all stacks together against `all`.
StepTimeRange range_with(Experiment experiment, const std::vector<Experiment>& own,
                         const std::vector<Experiment>& all) {
  CalibrationDomains domains;
  for (const Experiment& run : own) include(domains.stack, run);
  for (const Experiment& run : own) include(domains.kin, run);
  for (const Experiment& run : all) include(domains.kin, run);
  experiment.domains = std::make_shared<const CalibrationDomains>(domains);
  return step_time_range(experiment);
}

std::string first_outside(const StepTimeRange& range) {
  return range.outside.empty() ? "" : range.outside.front();
}

}  // namespace

TEST_CASE("a run like those measured has the range of its stack, by its number of nodes") {
  const Experiment measured = run_on("dgx-a100-80gb");
  const StepTimeRange two = range_with(measured, {measured}, {});
  CHECK(two.p10 == -0.02);
  CHECK(two.p90 == 0.02);
  CHECK(two.outside.empty());
  CHECK(range_with(run_on("dgx-a100-80gb", {"cluster.nodes=1"}), {measured}, {}).p90 == 0.01);
  // Sizes count as measured up to twice beyond the runs: 16 GPUs reach to 32, not to 64.
  CHECK(range_with(run_on("dgx-a100-80gb", {"cluster.nodes=4"}), {measured}, {}).outside.empty());
  const StepTimeRange eight = range_with(run_on("dgx-a100-80gb", {"cluster.nodes=8"}), {measured}, {});
  CHECK(first_outside(eight) == "gpus 64 (measured: 16 to 16)");
  CHECK(eight.p90 == 0.1);
}

TEST_CASE("another GPU, another fabric and a stack without runs have wider ranges that say why") {
  const Experiment measured = run_on("dgx-a100-80gb");
  const Experiment other = run_on("dgx-h100");
  const StepTimeRange gpu = range_with(other, {measured}, {other});
  CHECK(gpu.p10 == -0.3);  // its links are others, too
  CHECK(gpu.p90 == 0.3);
  CHECK(first_outside(gpu) == "GPU h100 (measured: a100-80gb)");
  const StepTimeRange slower =
      range_with(run_on("dgx-a100-80gb", {"cluster.gpu.memory_gb_per_s=4000"}), {measured}, {other});
  CHECK(slower.p90 == 0.2);
  CHECK(slower.outside.size() == 1);
  const StepTimeRange none = range_with(measured, {}, {measured});
  CHECK(none.p90 == 0.1);
  CHECK(first_outside(none) == "stack nemo-2024 (no measured run)");
  CHECK(range_sentence(none, "nemo-2024").find("had not seen") != std::string::npos);
}

TEST_CASE("where no run of any stack is near there is no range") {
  const Experiment measured = run_on("dgx-a100-80gb");
  for (const std::string key :
       {"cluster.gpu.memory_gb_per_s=1", "cluster.fabric.nic_gbps=0.1", "cluster.node.link_gb_per_s=5000"}) {
    CAPTURE(key);
    const StepTimeRange range = range_with(run_on("dgx-a100-80gb", {key}), {measured}, {});
    CHECK(range.none_near);
    CHECK(range.p10 == range.p90);
    CHECK(range_sentence(range, "nemo-2024").starts_with("no measured run is near"));
  }
  const Experiment gossip = run_on("dgx-a100-80gb", {"data_parallel_sync.method=local-sgd"});
  CHECK(range_with(gossip, {measured}, {}).none_near);
}

TEST_CASE("the report states the range and warns where it is not that of the stack") {
  const Experiment measured = run_on("dgx-a100-80gb");
  CalibrationDomains domains;
  include(domains.stack, measured);
  domains.kin = domains.stack;
  Experiment asked = run_on("dgx-a100-80gb", {"model.seq_length=8192"});
  asked.domains = std::make_shared<const CalibrationDomains>(domains);
  const Report report = run(asked).report;
  CHECK(report.error_p90 == 0.1);
  REQUIRE(!report.warnings.empty());
  CHECK(report.warnings.front().find("seq_length 8192 (measured: 2048 to 2048)") != std::string::npos);
}
