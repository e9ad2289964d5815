// Checks the bandwidth of a GPU out of its node, over whole runs, and the run's statements about it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

constexpr const char* kGradients = R"({
  "model": {"kind": "mlp", "widths": [1000, 250000], "seq_length": 1},
  "cluster": {"base": "dgx-h100", "nodes": 2, "gpus_per_node": 1,
              "fabric": {"nics_per_node": 4, "nic_gbps": 400}},
  "plan": {"precision": "fp32", "optimizer": "sgd", "bucket_mb": 0}})";

bool warns_of_nics(const Report& report) {
  return std::ranges::any_of(report.warnings, [](const std::string& warning) {
    return warning.find("cluster.gpu.host_link_gb_per_s") != std::string::npos;
  });
}

}  // namespace

TEST_CASE("1 GB of gradients of one GPU a node takes what PCIe takes, and a warning says so") {
  // 1e9 bytes at 0.96 of 64 GB/s = 16.28 ms of the two ranks each; with one NIC of 50 GB/s 20.83 ms.
  const auto exposed = [](const Report& report) {
    const Int128 sum = report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)];
    return to_seconds(static_cast<Picoseconds>(sum / (report.gpus * report.steps)));
  };
  const Report four = simulate(read(kGradients, {}));
  CHECK(exposed(four) > 0.016);
  CHECK(exposed(four) < 0.017);
  CHECK(warns_of_nics(four));
  const Report one = simulate(read(kGradients, {"cluster.fabric.nics_per_node=1"}));
  CHECK(exposed(one) > 0.0208);
  CHECK(!warns_of_nics(one));
}

TEST_CASE("messages of a pipeline leave a node of one GPU by one NIC") {
  const std::string text = R"({
    "stack": "ideal", "model": "gpt3-1.3b", "cluster": {"base": "dgx-h100", "nodes": 2, "gpus_per_node": 1},
    "plan": {"pipeline_parallel": 2, "micro_batch_size": 8, "global_batch_size": 8}})";
  const Report report = simulate(read(text, {}));
  CHECK(report.makespan_ps == simulate(read(text, {"cluster.fabric.nics_per_node=1"})).makespan_ps);
  CHECK(!warns_of_nics(report));
}
