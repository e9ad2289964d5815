// Exchanges of workers whose local steps are given by hand. A worker is a GPU of its own node on a switch:
// B = 1.008 GB/s a direction, L = 0.1 ms a message; a model of 4,032,000 bytes takes 4 ms at B, so X = 4.1 ms
// alone.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/asynchronous/exchanges.hpp"
#include "tests/sim/run/experiments.hpp"
#include "topologies/common/topologies.hpp"
#include "topologies/gossip/gossip.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

constexpr Picoseconds kTenth = 100'000'000;  // of a millisecond
constexpr Picoseconds kExchange = 41 * kTenth;
constexpr Bytes kModel = 4'032'000;

/// Builds workers on their switch, with local steps of some tenths of a millisecond each.
struct Workers {
  explicit Workers(std::vector<Picoseconds> tenths)
      : experiment(read(fmt::format(
            R"({{"model": {{"kind": "mlp", "widths": [1008, 1000], "seq_length": 1}},
                 "cluster": {{"nodes": {}, "gpu": {{"peak_tflops": {{"fp32": 1}}, "memory_gb": 1, "memory_gb_per_s": 4032}},
                              "fabric": {{"kind": "switch", "nic_gbps": 8.064, "latency_us": 100}}}},
                 "plan": {{"precision": "fp32"}}, "stack": "ideal"}})",
            tenths.size()))),
        topology(build_topology(experiment.cluster)),
        routes(experiment, *topology, {kModel}),
        nothing(tenths.size(), 0) {
    for (const Picoseconds tenth : tenths) workers.emplace_back(std::vector<Picoseconds>{tenth * kTenth});
  }
  [[nodiscard]] ExchangeInput input(std::int64_t steps, bool shares_links = true) {
    return {workers, steps, *topology, shares_links, routes, nothing};
  }
  [[nodiscard]] GossipGraph graph(const std::string& name) const {
    DataParallelSync sync;
    sync.method = SyncMethod::ad_psgd;
    sync.topology = name;
    return build_gossip_graph(sync, {static_cast<std::uint32_t>(workers.size()), 1, 4, 1});
  }

  Experiment experiment;
  std::unique_ptr<Topology> topology;
  ModelRoutes routes;
  std::vector<Picoseconds> nothing;
  std::vector<LocalSteps> workers;
};

}  // namespace

TEST_CASE("two workers that wait for their meetings end N (D + X) + X after N steps") {
  // At D both ask; worker 0 goes first, and its k-th exchange ends at k (D + X), that of worker 1 X later.
  Workers two({100, 100});
  const ExchangeRun run = average_in_pairs(two.input(5), {two.graph("complete")});
  CHECK(run.makespan == 5 * (100 * kTenth + kExchange) + kExchange);
  CHECK(run.steps == std::vector<std::int64_t>{5, 5});
  CHECK(run.exchanges.size() == 10);
  CHECK(run.bytes == 10 * 2 * kModel);
  // While the last exchange of worker 1 goes on, worker 0 has begun another step.
  CHECK(run.busy == std::vector<Picoseconds>{500 * kTenth + kExchange, 500 * kTenth});
}

TEST_CASE("meetings beside the next step cost nothing while they fit into it") {
  Workers two({100, 100});  // two exchanges of X fit into D
  const PairRules rules{two.graph("complete"), 1, true};
  CHECK(average_in_pairs(two.input(5), rules).makespan == 500 * kTenth);
  // They do not fit into 6 ms: the k-th pair of exchanges ends at D + 2 k X. Worker 0 waits from 18 to 18.3
  // ms for the end of its second exchange, and so on.
  Workers faster({60, 60});
  const ExchangeRun run = average_in_pairs(faster.input(40), rules);
  CHECK(run.makespan > 39 * 2 * kExchange);
  CHECK(run.makespan < 41 * 2 * kExchange);
}

TEST_CASE("a worker four times slower costs its own share alone") {
  // 65 steps of 4 workers: at 80 D the slow one has done 20, the three others 80 each, 260 in all.
  Workers four({4000, 1000, 1000, 1000});
  const ExchangeRun run = average_in_pairs(four.input(65), {four.graph("complete"), 1, true});
  CHECK(run.makespan == 80 * 1000 * kTenth);
  CHECK(run.steps == std::vector<std::int64_t>{20, 80, 80, 80});
  // While it does a step, the others do 4 each.
  CHECK(run.most_stale >= 12);
}

TEST_CASE("who is in a meeting is in one, with a neighbour") {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    CAPTURE(seed);
    Workers eight({61, 47, 83, 55, 49, 90, 71, 66});
    const GossipGraph graph = eight.graph("ring");
    const ExchangeRun run = average_in_pairs(eight.input(20, false), {graph, seed, seed % 2 == 0});
    std::map<std::uint32_t, Picoseconds> free_at;
    for (const Exchange& exchange : run.exchanges) {
      const std::uint32_t apart = (exchange.worker + 8 - exchange.partner) % 8;
      CHECK((apart == 1 || apart == 7));
      for (const std::uint32_t one : {exchange.worker, exchange.partner}) {
        CHECK(free_at[one] <= exchange.at - kExchange);  // nobody else slows it down under alpha-beta
        free_at[one] = exchange.at;
      }
    }
    CHECK(run.bytes >= static_cast<Int128>(run.exchanges.size()) * 2 * kModel);
  }
}

TEST_CASE("a run is a function of its seed") {
  const auto partners = [](std::uint64_t seed) {
    Workers eight({61, 47, 83, 55, 49, 90, 71, 66});
    std::vector<std::pair<Picoseconds, std::uint32_t>> list;
    for (const Exchange& one : average_in_pairs(eight.input(10), {eight.graph("complete"), seed}).exchanges)
      list.emplace_back(one.at, one.partner);
    return list;
  };
  CHECK(partners(1) == partners(1));
  CHECK(partners(1) != partners(2));
  std::set<std::uint32_t> picked;
  for (std::int64_t step = 0; step < 100; ++step) picked.insert(pick_neighbour(1, 0, step, 7));
  CHECK(picked.size() == 7);
}

TEST_CASE("workers that come at different times share the server's link") {
  // The server is on worker 0. Worker 1 sends from 10.1 ms, worker 2 from 12.1 ms: from there both have B / 2
  // until 16.1 ms, when the first has arrived; the second arrives at 18.1 ms. Each is taken in in 1 ms. The
  // answers leave at 17.2 and 19.2 ms, so they share from 19.2 to 23.2 ms and end at 23.2 and 25.2 ms.
  Workers three({500, 100, 120});
  const std::vector<Picoseconds> update(3, 10 * kTenth);
  const CentreRules rules{1, {0}, three.nothing, update};
  const ExchangeRun run = run_parameter_server(three.input(1), rules);
  REQUIRE(run.exchanges.size() == 4);
  CHECK(run.exchanges[0].at == 171 * kTenth);
  CHECK(run.exchanges[0].worker == 1);
  CHECK(run.exchanges[1].at == 191 * kTenth);
  // The third step of all is the second of worker 1, from 23.2 to 33.2 ms, which meets the centre until 42.4
  // ms. Worker 2 sends again from 37.3 ms, when the link is free, and is taken in until 42.3 ms.
  CHECK(run.makespan == 424 * kTenth);
  CHECK(run.exchanges[2].at == 383 * kTenth);
  CHECK(run.exchanges[3].at == 423 * kTenth);
  CHECK(run.busy == std::vector<Picoseconds>{424 * kTenth, 200 * kTenth, 240 * kTenth});
  CHECK(run.steps == std::vector<std::int64_t>{0, 2, 2});
  // Each but the first model does not know of the one that was taken in before.
  CHECK(run.updates == 4);
  CHECK(run.staleness == 3);
  CHECK(run.bytes == 7 * kModel);
  // Alone, worker 1 is back 9.2 ms after each of its steps.
  CHECK(run_parameter_server(three.input(1, false), rules).makespan == 384 * kTenth);
}

TEST_CASE("a server takes in one model after the other, and every server its part") {
  // Worker 0 has the server and meets it at once: [10, 15] and [25, 30] ms. Worker 1 comes at 14.1 ms, is
  // taken in until 20 ms, and is back at 24.1 ms; its second step ends at 34.1 ms, comes at 38.2 ms, is taken
  // in until 43.2 ms and back at 47.3 ms, while worker 0, whose third step ends at 40 ms, waits for the
  // server.
  Workers two({100, 100});
  const std::vector<Picoseconds> update(2, 50 * kTenth);
  const ExchangeRun one = run_parameter_server(two.input(2), {1, {0}, two.nothing, update});
  REQUIRE(one.exchanges.size() == 4);
  CHECK(one.exchanges[0].at == 150 * kTenth);
  CHECK(one.exchanges[1].at == 200 * kTenth);
  CHECK(one.exchanges[2].at == 300 * kTenth);
  CHECK(one.exchanges[3].at == 432 * kTenth);
  CHECK(one.makespan == 473 * kTenth);
  // Both are servers: each is taken in by itself in [10, 15] ms and by the other in [15, 20] ms, and back at
  // 24.1 ms.
  const ExchangeRun both = run_parameter_server(two.input(2), {1, {0, 1}, two.nothing, update});
  CHECK(both.exchanges[0].at == 200 * kTenth);
  CHECK(both.exchanges[1].at == 200 * kTenth);
  CHECK(both.makespan == 2 * 241 * kTenth);
}

TEST_CASE("a period goes by without the centre") {
  Workers two({100, 100});
  const ExchangeRun run = run_parameter_server(two.input(7), {8, {0}, two.nothing, two.nothing});
  CHECK(run.makespan == 700 * kTenth);
  CHECK(run.exchanges.empty());
  CHECK(run.bytes == 0);
}

TEST_CASE("local steps come again beyond those simulated") {
  const LocalSteps steps({3, 7, 12});
  CHECK(steps.finish(0) == 0);
  CHECK(steps.finish(3) == 12);
  CHECK(steps.finish(5) == 19);
  CHECK(steps.duration(1) == 4);
  CHECK(steps.duration(3) == 3);
}
