// Replicas with unequally many samples.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "orrery/simulate.hpp"
#include "sim/choices/balance_batches.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;

namespace {

using Sizes = std::vector<std::int64_t>;

/// Two nodes of four GPUs each, of which one may be slower.
Experiment replicas(const std::vector<std::string>& overrides, const char* first = "h100",
                    const char* second = "h100") {
  return read(R"({"model": {"kind": "transformer", "layers": 8, "hidden": 1024, "heads": 16, "vocab": 8000,
                            "seq_length": 1024, "attention": "flash"}, "stack": "ideal",
                  "cluster": {"gpus_per_node": 4, "node": {"kind": "nvswitch", "link_gb_per_s": 100},
                              "fabric": {"nic_gbps": 100},
                              "groups": [{"nodes": 1, "gpu": ")" +
                  std::string(first) + R"("}, {"nodes": 1, "gpu": ")" + second + R"("}]},
                  "plan": {"tensor_parallel": 2}})",
              overrides);
}

std::string diagnostic_of(const std::vector<std::string>& overrides) {
  try {
    (void)replicas(overrides);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("replicas with unequal batches are the same folded and unfolded, in both networks") {
  const std::vector<std::vector<std::string>> plans{
      {"plan.replica_batch_sizes=[2, 8, 2, 4]"},
      {"plan.replica_batch_sizes=[2, 8, 2, 2]", "plan.zero_stage=1", "plan.overlap_gradient_reduce=true"},
      {"plan.replica_batch_sizes=[6, 9]", "plan.pipeline_parallel=2", "plan.micro_batch_size=3"},
      {"plan.replica_batch_sizes=[8, 12]", "plan.pipeline_parallel=2", "plan.pipeline_schedule=zb-h1"},
      {"plan.replica_batch_sizes=[8, 12]", "plan.pipeline_parallel=2", "plan.virtual_stages=2",
       "plan.pipeline_schedule=interleaved-1f1b", "plan.overlap_gradient_reduce=true"},
      {"plan.replica_batch_sizes=[4, 6]", "plan.pipeline_parallel=2", "plan.pipeline_schedule=zb-v"},
      {"plan.replica_batch_sizes=[3, 1]", "plan.context_parallel=2"},
      {"plan.replica_batch_sizes=[1, 3, 1, 3]", "plan.rank_order=dp-tp-cp-ep-pp"}};
  for (const auto& plan : plans) {
    for (const char* network : {"alpha-beta", "flow"}) {
      for (const char* slower : {"h100", "a100-80gb"}) {
        CAPTURE(plan.front());
        CAPTURE(plan.back());
        CAPTURE(network);
        Experiment e = replicas(plan, slower);
        e.simulation.network = std::string_view(network) == "flow" ? Network::flow : Network::alpha_beta;
        const Report folded = simulate(e);
        e.simulation.folding = Folding::off;
        check_same_times(folded, simulate(e));
        CHECK(folded.samples_per_step == e.plan.global_batch_size);
      }
    }
  }
}

TEST_CASE("replicas of equal batches stand for each other, whatever others have") {
  Experiment e = replicas({"plan.replica_batch_sizes=[2, 8, 2, 8]"});
  e.simulation.network = Network::alpha_beta;
  CHECK(simulate(e).stats.ranks == 2);  // all ranks of a tensor group are alike
}

TEST_CASE("batches that are equal after all are those of any plan") {
  CHECK(replicas({"plan.replica_batch_sizes=[4, 4, 4, 4]", "plan.zero_stage=3"}) ==
        replicas({"plan.global_batch_size=16", "plan.zero_stage=3"}));
}

// Without messages between replicas each takes as long as if all had its batch, and the step as the slowest.
TEST_CASE("a step takes as long as its slowest replica") {
  const auto time = [](const std::string& batches) {
    return simulate(replicas({batches, "data_parallel_sync.compression=none", "software.step_overhead_ms=0"}))
        .makespan_ps;
  };
  const Picoseconds even = time("plan.replica_batch_sizes=[8, 8, 8, 8]");
  CHECK(time("plan.replica_batch_sizes=[2, 8, 4, 8]") == even);
  CHECK(time("plan.replica_batch_sizes=[2, 2, 4, 2]") < even);
}

TEST_CASE("slower replicas get fewer samples, and the step is faster") {
  const std::vector<std::string> open{"plan.global_batch_size=64", "plan.replica_batch_sizes=auto"};
  const Report balanced = simulate(replicas(open, "a100-80gb"));
  REQUIRE(balanced.plan.replica_batch_sizes.size() == 4);
  CHECK(balanced.plan.replica_batch_sizes[0] < balanced.plan.replica_batch_sizes[3]);
  CHECK(balanced.makespan_ps <
        simulate(replicas({"plan.global_batch_size=64"}, "a100-80gb")).makespan_ps * 9 / 10);
  CHECK(simulate(replicas(open)).plan.replica_batch_sizes.empty());  // all are alike
  CHECK(account_memory(replicas(open, "a100-80gb")).plan.replica_batch_sizes ==
        balanced.plan.replica_batch_sizes);
}

TEST_CASE("layers and batches can be left open together") {
  const Report report = simulate(replicas({"plan.global_batch_size=32", "plan.replica_batch_sizes=auto",
                                           "plan.pipeline_parallel=2", "plan.stage_layers=auto"},
                                          "a100-80gb"));
  CHECK(report.plan.stage_layers.size() == 2);
  CHECK(report.plan.replica_batch_sizes.empty());  // stages, not replicas, differ: pipelines cross the nodes
}

// Against all ways to share out.
TEST_CASE("micro-batches are shared out so that the last replica ends as early as it can") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 1 + random() % 4;
    const auto all = static_cast<std::int64_t>(count + random() % 8);
    std::vector<Picoseconds> times;
    for (std::size_t i = 0; i < count; ++i) times.push_back(static_cast<Picoseconds>(1 + random() % 6));
    Picoseconds best = 0;
    Sizes one(count, 1);
    const std::function<void(std::size_t, std::int64_t, Picoseconds)> walk =
        [&](std::size_t replica, std::int64_t left, Picoseconds slowest) {
          if (replica + 1 == count) {
            const Picoseconds end = std::max(slowest, left * times[replica]);
            best = best == 0 ? end : std::min(best, end);
            return;
          }
          for (std::int64_t n = 1; left - n >= static_cast<std::int64_t>(count - replica - 1); ++n)
            walk(replica + 1, left - n, std::max(slowest, n * times[replica]));
        };
    walk(0, all, 0);
    const Sizes shares = share_micro_batches(all, times);
    Picoseconds slowest = 0;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      slowest = std::max(slowest, shares[i] * times[i]);
      sum += shares[i];
    }
    CHECK(sum == all);
    CHECK(slowest == best);
  }
}

TEST_CASE("what unequal batches ask of a plan") {
  const auto says = [](const std::vector<std::string>& overrides, const std::string& part) {
    CAPTURE(part);
    CHECK(diagnostic_of(overrides).find(part) != std::string::npos);
  };
  const std::string sizes = "plan.replica_batch_sizes=[1, 2, 3, 4]";
  says({"plan.replica_batch_sizes=[1, 2]"}, "found 2 entries, allowed one for each of data_parallel 4");
  says({sizes, "plan.micro_batch_size=2"}, "found 1, allowed multiples of micro_batch_size 2");
  says({sizes, "plan.global_batch_size=8"}, "found a sum of 10, allowed global_batch_size 8");
  says({sizes, "plan.zero_stage=2"}, "found unequal batches with zero_stage 2, allowed zero_stage 0 or 1");
  says({sizes, "plan.zero_stage=1", "plan.zero_group_size=2"}, "with zero_group_size, allowed none");
  says({sizes, "data_parallel_sync.method=gossip"}, "allowed that alone");
  says({"plan.replica_batch_sizes=auto", "plan.global_batch_size=3"},
       "found 3, allowed a multiple of micro_batch_size 1 from 4 on, a micro-batch for each replica");
  says({"plan.replica_batch_sizes=some"}, "allowed a list of integers from 1 to 1000000000, or auto");
}
