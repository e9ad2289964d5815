// Checks the values that data_parallel_sync, its graphs, compression and cluster.overrides refuse.
#include <doctest/doctest.h>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;

namespace {

/// Returns the problems of an experiment with that data_parallel_sync, whose keys begin in column 61, and
/// `set` on the command line.
std::string sync_problems(const std::string& sync, const std::vector<std::string>& set = {}) {
  return diagnostics(R"({"model": "tiny", "cluster": "box", "data_parallel_sync": )" + sync + "}", set);
}

bool says(const std::string& found, const std::string& text) { return found.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("wrong methods, graphs and compressors name what is allowed and what is near") {
  CHECK(says(sync_problems(R"({"method": "gosip"})"), "found \"gosip\", allowed one of none, all-reduce"));
  CHECK(says(sync_problems(R"({"method": "gosip"})"), "did you mean \"gossip\"?"));
  CHECK(says(sync_problems(R"({"topology": "rng"})"), "/data_parallel_sync/topology: found \"rng\""));
  CHECK(says(sync_problems(R"({"topology": "rng"})"), "did you mean \"ring\"?"));
  CHECK(
      says(sync_problems(R"({"topology": [[1], ["a"]]})"), "/data_parallel_sync/topology/1/0: found \"a\""));
  CHECK(says(sync_problems(R"({"placement": "far"})"), "found \"far\", allowed one of linear, near"));
  CHECK(says(sync_problems(R"({"placement": [0, -1]})"), "/data_parallel_sync/placement/1: found -1"));
  CHECK(says(sync_problems(R"({"compression": "topk"})"), "did you mean \"top-k\"?"));
  CHECK(says(sync_problems(R"({"compression": {"method": "quantize", "bits": 5}})"),
             "/data_parallel_sync/compression/bits: found 5, allowed 4, 8 or 16"));
  CHECK(says(sync_problems(R"({"compression": {"fraction": 0}})"), "/compression/fraction: found 0"));
}

TEST_CASE("what cannot go together says so") {
  CHECK(says(sync_problems(R"({"method": "diloco", "period": 10, "fragments": 11})"),
             "/data_parallel_sync/fragments: found 11, allowed at most period 10"));
  CHECK(says(sync_problems(R"({"method": "diloco", "period": 10, "fragments": 3, "delay": 3})"),
             "/data_parallel_sync/delay: found 3, allowed less than period / fragments = 3"));
  CHECK(says(sync_problems(R"({"method": "diloco", "fragments": 90, "fragment_pattern": "strided"})"),
             "/data_parallel_sync/fragments: found 90, allowed at most the"));
  CHECK(says(
      sync_problems(R"({"method": "diloco", "fragments": 2, "overlap": "adapt-then-combine"})"),
      "/data_parallel_sync/overlap: found \"adapt-then-combine\" with fragment_pattern \"even\", allowed "
      "with sequential | strided"));
  CHECK(says(
      sync_problems(R"({"method": "local-sgd", "overlap": "one-step-stale"})"),
      "/data_parallel_sync/overlap: found \"one-step-stale\" with the method \"local-sgd\", allowed none | "
      "adapt-then-combine"));
  CHECK(says(sync_problems(R"({"method": "diloco", "period": 10, "fragments": 2, "delay": 5})"),
             "/data_parallel_sync/delay: found 5, allowed less than period / fragments = 5"));
  CHECK(says(sync_problems(R"({"method": "gossip-aga", "period": 8, "final_period": 4})"),
             "/data_parallel_sync/final_period: found 4, allowed period 8 or more"));
  CHECK(says(sync_problems(R"({"method": "parameter-server", "servers": 100000})"),
             "/data_parallel_sync/servers: found 100000, allowed at most the 8 workers"));
  CHECK(says(
      sync_problems(R"({"method": "gossip"})", {"plan.zero_stage=1"}),
      "/data_parallel_sync/method: found \"gossip\" with plan.zero_stage 1, allowed all-reduce, or level "
      "node"));
  CHECK(says(sync_problems(R"({"method": "parameter-server", "level": "node"})", {"plan.zero_stage=1"}),
             "/data_parallel_sync/method: found \"parameter-server\" with plan.zero_stage 1"));
  CHECK(says(sync_problems(R"({"method": "gossip", "level": "node", "overlap": "adapt-then-combine"})",
                           {"plan.zero_stage=3"}),
             "/data_parallel_sync/overlap: found \"adapt-then-combine\" with plan.zero_stage 3"));
  CHECK(says(sync_problems(R"({"method": "gossip", "level": "node"})",
                           {"plan.zero_stage=1", "plan.zero_group_size=2"}),
             "/plan/zero_group_size: found 2, allowed the"));
  CHECK(sync_problems(R"({"method": "gossip", "level": "node", "topology": "ring"})", {"plan.zero_stage=3"})
            .empty());
  CHECK(says(sync_problems(R"({"compression": "sign"})", {"plan.zero_stage=1"}),
             "/data_parallel_sync/compression: found a method with plan.zero_stage 1, allowed with 0"));
}

TEST_CASE("compressors that a method cannot carry say so") {
  for (const std::string method : {"gradient-tracking", "d2", "qg-dsgdm", "slowmo", "noloco"}) {
    CHECK(says(sync_problems(R"({"method": ")" + method + R"(", "compression": "top-k"})"),
               "/data_parallel_sync/compression: found \"top-k\" with the method \"" + method +
                   "\", whose messages must be exact, allowed none"));
  }
  for (const std::string method : {"demo", "sparse-loco"}) {
    CHECK(sync_problems(R"({"method": ")" + method + R"("})").empty());
    CHECK(says(sync_problems(R"({"method": ")" + method + R"(", "compression": "quantize"})"),
               "/data_parallel_sync/compression: found \"quantize\" without error feedback, which is the "
               "momentum of \"" +
                   method + "\""));
    CHECK(says(sync_problems(R"({"method": ")" + method + R"(", "compression": {"error_feedback": false}})"),
               "without error feedback"));
  }
  CHECK(says(sync_problems(R"({"method": "d2", "topology": "one-peer-exponential"})"),
             "/data_parallel_sync/topology: found a graph with"));
}

TEST_CASE("methods whose workers keep no step meet with whole models of single replicas") {
  CHECK(says(sync_problems(R"({"method": "ad-psgd", "level": "node"})"),
             "/data_parallel_sync/level: found \"node\", allowed gpu: replicas that keep no step"));
  CHECK(says(sync_problems(R"({"method": "easgd", "compression": "top-k"})"),
             "/data_parallel_sync/compression: found \"top-k\", allowed none"));
  CHECK(
      says(sync_problems(R"({"method": "ad-psgd", "overlap": "one-step-stale"})"),
           "/data_parallel_sync/overlap: found \"one-step-stale\", allowed none or combine-while-computing"));
  CHECK(says(sync_problems(R"({"method": "async-diloco", "servers": 100000})"),
             "/data_parallel_sync/servers: found 100000, allowed at most the 8 workers"));
  CHECK(says(sync_problems(R"({"method": "easgd"})", {"plan.zero_stage=1"}),
             "/data_parallel_sync/method: found \"easgd\" with plan.zero_stage 1"));
  CHECK(says(sync_problems(R"({"method": "easgd"})", {"data_parallel_sync.overlap=none"}),
             "/data_parallel_sync/overlap: found a value that does nothing for the method \"easgd\""));
}

TEST_CASE("keys a method has no use for are mistakes on the command line, not in a file") {
  CHECK(
      sync_problems(R"({"method": "all-reduce", "topology": "ring", "period": 4, "level": "node"})").empty());
  CHECK(says(
      sync_problems(R"({"method": "all-reduce"})", {"data_parallel_sync.period=4"}),
      "/data_parallel_sync/period: found a value that does nothing for the method \"all-reduce\", allowed "
      "only for local-sgd | gossip-pga | gossip-aga | diloco | slowmo | noloco | sparse-loco"));
  CHECK(says(sync_problems(R"({"method": "gossip", "topology": "ring"})", {"data_parallel_sync.shape=[2,2]"}),
             "/data_parallel_sync/shape: found a value that does nothing for the topology \"ring\""));
}

TEST_CASE("slow GPUs are named one way, and exist") {
  const auto override = [](const std::string& entry) {
    return diagnostics(R"({"model": "tiny", "cluster": {"base": "box", "overrides": [)" + entry + "]}}");
  };
  CHECK(override(R"({"gpu": 0, "speed": 0.5})").empty());
  CHECK(says(override(R"({"speed": 0.5})"), "/cluster/overrides/0: found neither or both of gpu and node"));
  CHECK(says(override(R"({"gpu": 0, "node": 0, "speed": 0.5})"), "found neither or both of gpu and node"));
  CHECK(
      says(override(R"({"gpu": 1000, "speed": 0.5})"), "/cluster/overrides/0/gpu: found 1000, allowed 0 to"));
  CHECK(says(override(R"({"gpu": 0})"), "/cluster/overrides/0/speed: missing"));
  CHECK(says(override(R"({"gpu": 0, "speed": 0})"), "/cluster/overrides/0/speed: found 0"));
}
