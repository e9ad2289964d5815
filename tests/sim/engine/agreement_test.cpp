// Independent ways to the same times, on random and on workload-like graphs; a failure prints its seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/task_graph_builder.hpp"
#include "sim/network/flow_network.hpp"

using namespace orrery;

namespace {

constexpr std::int64_t kBandwidth = 50'000'000'000;

void check_same(const Timeline& a, const Timeline& b) {
  REQUIRE(a.start_ps == b.start_ps);
  REQUIRE(a.finish_ps == b.finish_ps);
  REQUIRE(a.makespan_ps == b.makespan_ps);
}

struct RandomGraph {
  std::mt19937_64 random;
  std::uint32_t shared_links = 0;  ///< 0: every leg has links of its own, so that nobody shares
  bool lagging = false;            ///< most tasks start a while after their first predecessor
  TaskGraphBuilder build = {};
  std::uint32_t links = 0;

  std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  }

  /// One or two different links.
  void add_uses(std::vector<LinkUse>& uses) {
    if (shared_links == 0) {
      for (std::uint64_t count = pick(0, 2); count > 0; --count)
        uses.push_back({LinkId{links++}, kWeightOne});
      return;
    }
    const auto first = static_cast<std::uint32_t>(pick(0, shared_links - 2));
    uses.push_back({LinkId{first}, kWeightOne});
    if (pick(0, 1) == 0) uses.push_back({LinkId{first + 1}, kWeightOne / 2});
  }

  CostId cost() {
    if (pick(0, 1) == 0) return build.add_duration(static_cast<Picoseconds>(pick(0, 100)));
    std::vector<TransferLeg> legs(pick(1, 3));
    for (TransferLeg& leg : legs) {
      leg = {static_cast<Picoseconds>(pick(0, 3)), static_cast<Picoseconds>(pick(0, 50)), kBandwidth, {}};
      add_uses(leg.uses);
    }
    return build.add_transfer(legs);
  }

  /// Edges from lower to higher places in a random order of ids, or in the order of ids.
  TaskGraph make(bool ids_in_order) {
    const auto tasks = static_cast<std::uint32_t>(pick(1, 120));
    std::vector<std::uint32_t> place(tasks);
    std::iota(place.begin(), place.end(), 0U);
    if (!ids_in_order) std::shuffle(place.begin(), place.end(), random);
    for (std::uint32_t task = 0; task < tasks; ++task) build.add_task(cost());
    for (std::uint32_t later = 1; later < tasks; ++later) {
      for (std::uint64_t e = pick(0, 3); e > 0; --e) {
        build.add_edge(TaskId{place[pick(0, later - 1)]}, TaskId{place[later]});
      }
    }
    TaskGraph graph = std::move(build).finish();
    if (!lagging) return graph;
    for (std::uint32_t task = 0; task < tasks; ++task)
      graph.lag.push_back(pick(0, 2) == 0 ? 0 : static_cast<Picoseconds>(pick(0, 150)));
    return graph;
  }
};

/// Returns the same tasks with ids in another order: new_id[old] is the new place of a task.
TaskGraph renumbered(const TaskGraph& graph, const std::vector<std::uint32_t>& new_id) {
  std::vector<std::uint32_t> old_id(new_id.size());
  for (std::uint32_t old = 0; old < new_id.size(); ++old) old_id[new_id[old]] = old;
  TaskGraph out{.cost = {},
                .pred_begin = {0},
                .preds = {},
                .costs = graph.costs,
                .legs = graph.legs,
                .uses = graph.uses};
  for (const std::uint32_t old : old_id) {
    out.cost.push_back(graph.cost[old]);
    if (!graph.lag.empty()) out.lag.push_back(graph.lag[old]);
    for (const std::uint32_t pred : graph.predecessors(old)) out.preds.push_back(new_id[pred]);
    out.pred_begin.push_back(static_cast<std::uint32_t>(out.preds.size()));
  }
  return out;
}

std::vector<std::uint32_t> shuffled_ids(const TaskGraph& graph, std::mt19937_64& random) {
  std::vector<std::uint32_t> new_id(graph.tasks());
  std::iota(new_id.begin(), new_id.end(), 0U);
  std::shuffle(new_id.begin(), new_id.end(), random);
  return new_id;
}

/// Task new_id[i] of `b` ran when task i of `a` did.
void check_renumbered(const Timeline& a, const Timeline& b, const std::vector<std::uint32_t>& new_id) {
  REQUIRE(a.makespan_ps == b.makespan_ps);
  for (std::uint32_t task = 0; task < new_id.size(); ++task) {
    REQUIRE(a.start_ps[task] == b.start_ps[new_id[task]]);
    REQUIRE(a.finish_ps[task] == b.finish_ps[new_id[task]]);
  }
}

/// Torus gossip: every node mixes, then sends to its four neighbours; the next round of a node starts
/// when its four messages are in. Messages of a node share its one NIC when `shared`.
TaskGraph gossip(std::uint32_t side, std::uint32_t rounds, bool shared) {
  TaskGraphBuilder build;
  const std::uint32_t nodes = side * side;
  std::vector<std::vector<TaskId>> inbox(nodes);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::vector<std::vector<TaskId>> next(nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const std::uint32_t x = node % side;
      const std::uint32_t y = node / side;
      const std::uint32_t to[]{(x + 1) % side + y * side, (x + side - 1) % side + y * side,
                               x + (y + 1) % side * side, x + (y + side - 1) % side * side};
      const Picoseconds duration = 1'000'000'000 + (node * 7919 + round * 104729) % 200'000'000;
      const TaskId mix = build.add_task(build.add_duration(duration), inbox[node]);
      for (std::uint32_t d = 0; d < 4; ++d) {
        const LinkId link{shared ? node : node * 4 + d};
        const CostId cost = build.add_message(100'000'000, kBandwidth, 1'000'000, {&link, 1});
        next[to[d]].push_back(build.add_task(cost, {mix}));
      }
    }
    inbox = std::move(next);
  }
  return std::move(build).finish();
}

}  // namespace

TEST_CASE("both engines agree to the bit where no links are shared") {
  for (std::uint32_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    RandomGraph random{.random = std::mt19937_64(seed), .lagging = seed > 300};
    const TaskGraph graph = random.make(seed % 2 == 0);
    FlowNetwork network(std::vector<std::int64_t>(random.links + 1, kBandwidth));
    check_same(run_contention_free(graph), run(graph, network));
    check_same(run_contention_free(graph), run(graph, network));  // a network can be used again
  }
}

TEST_CASE("the sweep and any order of ids agree, with lags: the first predecessor stays first") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    RandomGraph random{.random = std::mt19937_64(seed), .lagging = true};
    const TaskGraph graph = random.make(true);
    const auto new_id = shuffled_ids(graph, random.random);
    check_renumbered(run_contention_free(graph), run_contention_free(renumbered(graph, new_id)), new_id);
  }
}

TEST_CASE("a start is the latest finish of the predecessors, of the first one with its lag") {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    RandomGraph random{.random = std::mt19937_64(seed), .shared_links = 6, .lagging = true};
    const TaskGraph graph = random.make(seed % 2 == 0);
    FlowNetwork network(std::vector<std::int64_t>(6, kBandwidth));
    const Timeline timeline = run(graph, network);
    for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
      const auto preds = graph.predecessors(task);
      Picoseconds start = preds.empty() ? 0 : timeline.finish_ps[preds[0]] + graph.lag[task];
      for (const std::uint32_t pred : preds) start = std::max(start, timeline.finish_ps[pred]);
      REQUIRE(timeline.start_ps[task] == start);
    }
  }
}

TEST_CASE("times do not depend on how tasks are numbered, even when links are shared") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    RandomGraph random{.random = std::mt19937_64(seed), .shared_links = 6, .lagging = seed > 100};
    const TaskGraph graph = random.make(true);
    FlowNetwork network(std::vector<std::int64_t>(6, kBandwidth));
    const Timeline expected = run(graph, network);
    const auto new_id = shuffled_ids(graph, random.random);
    const Timeline actual = run(renumbered(graph, new_id), network);
    REQUIRE(actual.events == expected.events);
    check_renumbered(expected, actual, new_id);
  }
}

TEST_CASE("torus gossip: four messages through one NIC take four times as long") {
  FlowNetwork own(std::vector<std::int64_t>(64, kBandwidth));
  const TaskGraph alone = gossip(4, 3, false);
  check_same(run_contention_free(alone), run(alone, own));

  // One round: mix of at most 1.2 ms, 1 us, then 4 * 2 ms at a quarter of the NIC instead of 2 ms.
  FlowNetwork nic(std::vector<std::int64_t>(16, kBandwidth));
  const Picoseconds apart = run_contention_free(gossip(4, 1, false)).makespan_ps;
  CHECK(run(gossip(4, 1, true), nic).makespan_ps - apart == 3 * 2'000'000'000LL);
}

TEST_CASE("a permutation through too few spines: the fullest uplink decides") {
  // 8 hosts send 1000 work each (100 ps at 10 B/s) over 3 uplinks: links 8, 9, 10 carry 3, 3 and 2.
  // 3 share 10 B/s: floor(10/3) = 3 B/s, ceil(1000/3) = 334 ps; 2 share: 5 B/s, 200 ps.
  TaskGraphBuilder build;
  for (std::uint32_t host = 0; host < 8; ++host) {
    build.add_task(
        build.add_transfer({{0, 100, 10, {{LinkId{host}, kWeightOne}, {LinkId{8 + host % 3}, kWeightOne}}}}));
  }
  FlowNetwork network(std::vector<std::int64_t>(11, 10));
  const Timeline timeline = run(std::move(build).finish(), network);
  CHECK(timeline.finish_ps == std::vector<Picoseconds>{334, 334, 200, 334, 334, 200, 334, 334});
}
