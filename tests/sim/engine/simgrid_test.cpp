// Compares with an independent simulator on the same tasks: the output of SimGrid 3.32 and 4.1 (model CM02,
// factors 1, no cross traffic). Their times are floating-point sums in which an activity may end up to 1 ns
// early (precision/timing), which shows in the training step only. bench/peers/ runs both side by side.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>

#include "bench/workload_graphs.hpp"
#include "sim/engine/engine.hpp"
#include "sim/network/flow_network.hpp"

using namespace orrery;
using namespace orrery::bench;

namespace {

std::int64_t simulated_ns(const WorkloadGraph& workload) {
  FlowNetwork network(workload.bytes_per_s);
  return (run(workload.graph, network).makespan_ps + 500) / 1000;
}

std::int64_t simulated_ns(FlowSizes sizes) {
  return simulated_ns(permutation_graph(100, sizes, Spines::by_destination));
}

}  // namespace

TEST_CASE("100,000 contending flows take as long as in SimGrid") {
  CHECK(simulated_ns(FlowSizes::equal) == 1'378'200'000);
  CHECK(simulated_ns(FlowSizes::random) == 1'474'365'525);
}

TEST_CASE("a training step of 1,024 GPUs takes as long as in SimGrid") {
  CHECK(std::abs(simulated_ns(training_graph({16, 1})) - 407'537'241) <= 2);
}

TEST_CASE("gossip on a torus takes as long as in SimGrid") {
  CHECK(simulated_ns(gossip_graph({100})) == 307'815'876);
}

TEST_CASE("a ring all-reduce takes as long as in SimGrid, by steps and as two million flows") {
  const RepeatedGraph ring = ring_graph(Ring{1024});
  const Picoseconds makespan = run_contention_free(ring).makespan_ps;
  CHECK((makespan + 500) / 1000 == 44'953'730);
  FlowNetwork network(std::vector<std::int64_t>(1024, kLinkBytesPerS));
  CHECK(run(unroll(ring), network).makespan_ps == makespan);
}
