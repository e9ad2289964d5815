#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/error.hpp"
#include "topologies/gossip/weights.hpp"

namespace orrery {
namespace {

constexpr GossipTopologyEntry kTopologies[] = {
    {{"ring", "neighbours on both sides"}, wire_ring},
    {{"one-way-ring", "receives from the worker before, sends to the one after"}, wire_one_way_ring},
    {{"grid", "open grid of `shape`, as square as can be by default"}, wire_grid},
    {{"torus", "grid closed to rings along every dimension"}, wire_torus},
    {{"star", "worker 0 exchanges with all others"}, wire_star},
    {{"complete", "everybody with everybody: one step is the average"}, wire_complete},
    {{"exponential", "receives from 1, 2, 4, ... workers before"}, wire_exponential},
    {{"one-peer-exponential", "one of the exponential graph's shifts each step; exact for powers of two"},
     wire_one_peer_exponential},
    {{"symmetric-exponential", "workers at distances 1, 4, 16, ... on both sides"},
     wire_symmetric_exponential},
    {{"hypercube", "workers whose numbers differ in one bit; powers of two"}, wire_hypercube},
    {{"one-peer-hypercube", "one bit each step; powers of two; exact"}, wire_one_peer_hypercube},
    {{"base-k", "Base-(k+1) graph: exact for any number of workers with `peers` = k neighbours a step"},
     wire_base_k},
    {{"random-matching", "random pairs, drawn anew each step"}, wire_random_matching},
    {{"erdos-renyi", "every pair with `probability`"}, wire_erdos_renyi},
    {{"inner-outer-ring", "each step one worker of a node passes on between nodes, the others within"},
     wire_inner_outer_ring},
    {{"inner-outer-exponential", "the same with shifts by powers of two"}, wire_inner_outer_exponential},
};

constexpr double kSumTolerance = 1e-9;

const GossipTopologyEntry& entry_of(const DataParallelSync& sync) {
  std::string names;
  for (const GossipTopologyEntry& entry : kTopologies) {
    if (entry.name == sync.topology) return entry;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw InputError("/data_parallel_sync/topology", "found \"" + sync.topology + "\"; allowed are " + names);
}

constexpr const char* kGraphPointer = "/data_parallel_sync/topology";

Mixing reversed(const Mixing& round) {
  const std::vector<std::uint32_t> degrees = out_degrees(round);
  Mixing out;
  out.begin.assign(1, 0);
  for (const std::uint32_t degree : degrees) out.begin.push_back(out.begin.back() + degree);
  out.from.resize(round.from.size());
  std::vector<std::uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  for (std::uint32_t to = 0; to + 1 < round.begin.size(); ++to) {
    for (std::uint32_t edge = round.begin[to]; edge < round.begin[to + 1]; ++edge) {
      out.from[next[round.from[edge]]++] = to;
    }
  }
  return out;
}

/// Marks the workers whose models reach worker 0, over all rounds together.
std::vector<char> heard_by_first(const std::vector<Mixing>& rounds, std::uint32_t workers) {
  std::vector<char> heard(workers);
  std::vector<std::uint32_t> waiting{0};
  heard[0] = 1;
  while (!waiting.empty()) {
    const std::uint32_t worker = waiting.back();
    waiting.pop_back();
    for (const Mixing& round : rounds) {
      for (std::uint32_t edge = round.begin[worker]; edge < round.begin[worker + 1]; ++edge) {
        if (std::exchange(heard[round.from[edge]], 1) == 0) waiting.push_back(round.from[edge]);
      }
    }
  }
  return heard;
}

void expect_all(const std::vector<char>& reached, bool from_first) {
  const auto missing = std::find(reached.begin(), reached.end(), 0);
  if (missing == reached.end()) return;
  const std::string other = std::to_string(missing - reached.begin());
  throw InputError(kGraphPointer, "found a disconnected graph: nothing gets from worker " +
                                      (from_first ? "0 to worker " + other : other + " to worker 0") +
                                      "; allowed are graphs in which every worker reaches every other");
}

void check_connected(const Wiring& wiring, const DataParallelSync& sync, std::uint32_t workers) {
  if (sync.neighbours.empty() && sync.topology == "random-matching") return;
  expect_all(heard_by_first(wiring.rounds, workers), false);
  if (goes_both_ways(wiring)) return;
  std::vector<Mixing> backwards;
  for (const Mixing& round : wiring.rounds) backwards.push_back(reversed(round));
  expect_all(heard_by_first(backwards, workers), true);
}

void check_columns(const Wiring& wiring, const DataParallelSync& sync) {
  if (sync.method == SyncMethod::push_sum) return;
  for (const Mixing& round : wiring.rounds) {
    const std::vector<double> sums = column_sums(round);
    const auto wrong =
        std::find_if(sums.begin(), sums.end(), [](double sum) { return std::abs(sum - 1) > kSumTolerance; });
    if (wrong == sums.end()) continue;
    const bool chosen = sync.weights == MixingWeights::uniform;
    throw InputError(
        chosen ? "/data_parallel_sync/weights" : kGraphPointer,
        "found weights that are not doubly stochastic: those with which others take from worker " +
            std::to_string(wrong - sums.begin()) + " and it keeps add up to " + std::to_string(*wrong) +
            "; allowed are the method push-sum" +
            (goes_both_ways(wiring) ? ", or the weights metropolis-hastings"
                                    : ", or a graph whose edges go both ways with metropolis-hastings"));
  }
}

/// Checks that the matrix is symmetric and fixed, because exact diffusion takes back the averaging of the
/// step before.
void check_symmetric(const Wiring& wiring, const DataParallelSync& sync) {
  if (sync.method != SyncMethod::d2 || (wiring.rounds.size() == 1 && goes_both_ways(wiring))) return;
  throw InputError(kGraphPointer,
                   "found a graph with " +
                       (wiring.rounds.size() > 1 ? std::to_string(wiring.rounds.size()) + " rounds"
                                                 : std::string("edges that go one way")) +
                       " for the method d2; allowed are graphs of one round whose edges go both "
                       "ways, such as ring, torus, hypercube, complete");
}

/// Returns the graph of a single worker, without neighbours.
Wiring lone_worker() {
  RowWriter rows(1);
  rows.end_row();
  return one_round(rows.take());
}

Wiring wire(const DataParallelSync& sync, const GossipSize& size) {
  if (!sync.neighbours.empty()) return wire_neighbour_lists(sync, size);
  const GossipTopologyEntry& entry = entry_of(sync);
  return size.workers == 1 ? lone_worker() : entry.wire(sync, size);
}

}  // namespace

std::span<const GossipTopologyEntry> gossip_topologies() { return kTopologies; }

GossipGraph build_gossip_graph(const DataParallelSync& sync, const GossipSize& size) {
  Wiring wiring = wire(sync, size);
  check_connected(wiring, sync, size.workers);
  weigh(wiring, sync);
  check_columns(wiring, sync);
  check_symmetric(wiring, sync);
  return {sync.topology, std::move(wiring.rounds)};
}

}  // namespace orrery
