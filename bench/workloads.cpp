// Runs a workload of docs/developers/performance.md as a process of its own and prints one line of JSON: what
// was simulated, and what building and running took.
//
//   bench_workloads ring RANKS              ring all-reduce, the sweep over one step after the other
//   bench_workloads ring-flows RANKS        the same, every message a flow through the event queue
//   bench_workloads steps REPLICAS STEPS    training on 64 x REPLICAS GPUs, messages as flows
//   bench_workloads steps-free REPLICAS STEPS   the same without contention, by the sweep
//   bench_workloads flows equal|random|tied ROUNDS   permutations through a fat tree
//   bench_workloads gossip ROUNDS           gossip on a torus of 32 x 32
//   bench_workloads collective ALGORITHM GPUS   all-reduce of 1 GiB, every message a flow on its route
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/collective_graph.hpp"
#include "bench/workload_graphs.hpp"
#include "face/heap.hpp"
#include "sim/engine/engine.hpp"
#include "sim/network/flow_network.hpp"
#include "topologies/common/topologies.hpp"

namespace {

using namespace orrery;
using namespace orrery::bench;

struct Outcome {
  std::uint64_t tasks = 0;
  std::uint64_t edges = 0;
  std::size_t links = 0;
  Picoseconds makespan_ps = 0;
  double built_s = 0;  ///< CPU seconds of the process when the graph stood
  double ran_s = 0;    ///< and when it had run
  std::size_t graph_bytes = 0;
};

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Returns the peak memory of this program alone; getrusage() may return that of the process that started it.
std::size_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

template <class T>
std::size_t bytes_of(const std::vector<T>& vector) {
  return vector.capacity() * sizeof(T);
}

std::size_t bytes_of(const TaskGraph& graph) {
  return graph.cost.bytes() + graph.pred_begin.bytes() + graph.preds.bytes() + bytes_of(graph.costs) +
         bytes_of(graph.legs) + bytes_of(graph.uses);
}

Outcome run_ring(std::uint32_t ranks) {
  const Ring ring{ranks};
  const RepeatedGraph graph = ring_graph(ring);
  const double built = cpu_seconds();
  const Picoseconds makespan = run_contention_free(graph).makespan_ps;
  return {ring.messages(), ring.messages() - ranks, ranks, makespan, built,
          cpu_seconds(),   bytes_of(graph.body())};
}

/// `simulate` takes the workload and gives its makespan.
template <class Simulate>
Outcome run_graph(const WorkloadGraph& workload, Simulate simulate) {
  const TaskGraph& graph = workload.graph;
  const double built = cpu_seconds();
  const Picoseconds makespan = simulate(workload);
  return {graph.tasks(), graph.preds.size(), workload.bytes_per_s.size(), makespan, built,
          cpu_seconds(), bytes_of(graph)};
}

Outcome run_flows(const WorkloadGraph& workload) {
  return run_graph(workload, [](const WorkloadGraph& given) {
    FlowNetwork network(given.bytes_per_s);
    return run(given.graph, network).makespan_ps;
  });
}

Outcome run_free(const WorkloadGraph& workload) {
  return run_graph(workload,
                   [](const WorkloadGraph& given) { return run_contention_free(given.graph).makespan_ps; });
}

/// Nodes of 8 GPUs and 8 NICs of 400 Gb/s on a fat tree with leaves of 32 nodes.
Outcome run_collective(const std::string& algorithm, std::uint32_t gpus) {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.nodes = gpus / 8;
  cluster.node = {.kind = "nvswitch", .link_gb_per_s = 450, .latency_us = 1};
  cluster.fabric = {.kind = "fat-tree", .nics_per_node = 8, .nic_gbps = 400, .latency_us = 1, .shape = {}};
  const std::unique_ptr<Topology> topology = build_topology(cluster);
  return run_flows(CollectiveGraph(*topology).all_reduce(algorithm, Bytes{1} << 30));
}

std::uint32_t number(const std::string& text) {
  std::size_t used = 0;
  const unsigned long value = std::stoul(text, &used);
  if (used != text.size() || value == 0 || value > 1'000'000) throw std::invalid_argument(text);
  return static_cast<std::uint32_t>(value);
}

std::optional<Outcome> run_workload(const std::vector<std::string>& words) {
  const std::string what = words.empty() ? "" : words[0];
  if (words.size() == 2) {
    const std::uint32_t size = number(words[1]);
    if (what == "ring") return run_ring(size);
    if (what == "ring-flows") {
      return run_flows({unroll(ring_graph(Ring{size})), std::vector<std::int64_t>(size, kLinkBytesPerS)});
    }
    if (what == "gossip") return run_flows(gossip_graph(Gossip{size}));
  }
  if (words.size() == 3) {
    const std::uint32_t last = number(words[2]);
    if (what == "steps") return run_flows(training_graph({number(words[1]), last}));
    if (what == "steps-free") return run_free(training_graph({number(words[1]), last}));
    if (what == "collective") return run_collective(words[1], last);
    if (what != "flows") return {};
    if (words[1] == "equal")
      return run_flows(permutation_graph(last, FlowSizes::equal, Spines::by_destination));
    if (words[1] == "random")
      return run_flows(permutation_graph(last, FlowSizes::random, Spines::by_destination));
    if (words[1] == "tied") return run_flows(permutation_graph(last, FlowSizes::random, Spines::hashed));
  }
  return {};
}

void print(const std::vector<std::string>& words, const Outcome& outcome) {
  std::string name;
  for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
  std::printf(
      "{\"workload\": \"%s\", \"tasks\": %llu, \"edges\": %llu, \"links\": %zu, \"simulated_s\": %.12f, "
      "\"build_cpu_s\": "
      "%.6f, "
      "\"run_cpu_s\": %.6f, \"graph_bytes\": %zu, \"peak_bytes\": %zu}\n",
      name.c_str(), static_cast<unsigned long long>(outcome.tasks),
      static_cast<unsigned long long>(outcome.edges), outcome.links, to_seconds(outcome.makespan_ps),
      outcome.built_s, outcome.ran_s - outcome.built_s, outcome.graph_bytes, peak_bytes());
}

}  // namespace

int main(int argc, char** argv) {
  orrery::prepare_heap();  // as the program does
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (const auto outcome = run_workload(words)) {
      print(words, *outcome);
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_workloads: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr,
               "usage: bench_workloads ring|ring-flows RANKS | steps|steps-free REPLICAS STEPS | "
               "flows equal|random|tied ROUNDS | gossip ROUNDS | collective ALGORITHM GPUS\n");
  return 2;
}
