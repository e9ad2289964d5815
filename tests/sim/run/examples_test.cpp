// Checks that every example runs and prints the output that its comment shows.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::example;
using orrery::test::examples_folder;

namespace {

double tensor_bytes(const Report& r) { return r.bytes_per_gpu[static_cast<std::size_t>(Dimension::tensor)]; }

}  // namespace

TEST_CASE("every example is feasible and adds up") {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(examples_folder())) {
    if (!file.is_directory()) names.insert(file.path().filename());
  }
  CHECK(names.size() >= 14);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Report r = simulate(example(name));
    CHECK(r.feasible);
    CHECK((r.serving ? r.serving->duration_ps : r.makespan_ps) > 0);
    CHECK(r.gpu_utilization_mean <= 1);
    CHECK(r.gpu_utilization_min <= r.gpu_utilization_mean);
  }
}

TEST_CASE("gpipe and 1f1b take the same time, 1f1b less memory") {
  const Report gpipe = simulate(example("pipeline-gpipe.json"));
  const Report one = simulate(example("pipeline-1f1b.json"));
  CHECK(one.stage_memory[1].activations.total() < gpipe.stage_memory[1].activations.total());
  CHECK(simulate(example("pipeline-non-uniform.json")).pipeline_bubble_fraction >
        one.pipeline_bubble_fraction);
}

TEST_CASE("the sharding note: columns then rows moves less than columns only") {
  CHECK(tensor_bytes(simulate(example("sharding-column-then-row.json"))) <
        tensor_bytes(simulate(example("sharding-column-only.json"))));
}

TEST_CASE("the slides: different partitions incur different communication cost") {
  CHECK(tensor_bytes(simulate(example("mlp-partition-1.json"))) !=
        tensor_bytes(simulate(example("mlp-partition-2.json"))));
}

TEST_CASE("the slides' hours by all-reduce and by gossip are met within 5 %") {
  const auto hours = [](const char* name, const std::string& nodes, const std::string& sync) {
    return 24 *
           simulate(example(name, {"cluster.nodes=" + nodes, "data_parallel_sync=" + sync})).training_days();
  };
  const auto within = [](double predicted, double published) {
    CHECK(std::abs(predicted / published - 1) < 0.05);
  };
  const std::string all_reduce = "{method: all-reduce}";
  const std::string gossip = "{method: gossip, level: node}";
  struct Row {
    const char* nodes;
    double all_reduce;
    double gossip;
  };
  for (const Row row : {Row{"4", 11.6, 11.1}, Row{"8", 6.3, 5.7}, Row{"16", 3.7, 2.8}, Row{"32", 2.2, 1.5}}) {
    CAPTURE(row.nodes);
    within(hours("gossip-resnet-50.json", row.nodes, all_reduce), row.all_reduce);
    within(hours("gossip-resnet-50.json", row.nodes, gossip), row.gossip);
  }
  within(hours("gossip-bert-large.json", "8", all_reduce), 59.02);
  within(hours("gossip-bert-large.json", "8", "{method: gossip-aga, level: node, period: 5}"), 30.4);
  const auto exposed = [](const std::string& sync) {
    const Report r = simulate(example("gossip-resnet-50.json", {"data_parallel_sync=" + sync}));
    return static_cast<double>(r.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)]) * 1e-12 /
           static_cast<double>(r.gpus * r.steps);
  };
  within(exposed(all_reduce), 0.278);
  within(exposed(gossip), 0.150);
}

TEST_CASE("BlueFog's scaling efficiencies, which nothing was fitted to, are met within 4 %") {
  const auto efficiency = [](const std::string& stack, const std::string& sync) {
    const auto samples_per_s = [&](const std::string& cluster) {
      return simulate(
                 example("gossip-resnet-50.json",
                         {"stack=" + stack, "training.data=synthetic", "plan.micro_batch_size=64",
                          "plan.bucket_mb=67.108864", "plan.overlap_gradient_reduce=true",
                          "cluster={base: v100-tcp-25g, " + cluster + "}", "data_parallel_sync=" + sync}))
          .samples_per_s();
    };
    return samples_per_s("nodes: 16") / samples_per_s("nodes: 1, gpus_per_node: 1") / 128;
  };
  CHECK(efficiency("horovod-2020", "{method: all-reduce}") == doctest::Approx(0.66).epsilon(0.03));
  CHECK(efficiency("bluefog-2021",
                   "{method: gossip, topology: inner-outer-exponential, overlap: combine-while-computing}") >
        0.95);
}

TEST_CASE("a plan that does not fit is infeasible, with its reason and its times") {
  const Report r = simulate(example("megatron-145b.json", {"plan.recompute=none"}));
  CHECK_FALSE(r.feasible);
  REQUIRE(r.reasons.size() == 1);
  CHECK(r.reasons[0].find("out of memory: stage 0 needs") == 0);
  CHECK(r.makespan_ps > 0);
}
