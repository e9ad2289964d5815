// Graphs drawn by a seed.
#include <algorithm>
#include <numeric>
#include <utility>

#include "orrery/error.hpp"
#include "topologies/gossip/random_numbers.hpp"
#include "topologies/gossip/wiring.hpp"

namespace orrery {
namespace {

/// Most pairs of workers for which a coin is thrown: some seconds.
constexpr double kMaxPairs = 2147483648.0;

/// Pairs up all workers, but for one of an odd number (Fisher and Yates' shuffle).
Mixing matching(std::uint32_t workers, SplitMix64& random) {
  std::vector<std::uint32_t> order(workers);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t left = workers; left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  std::vector<std::uint32_t> partner(workers);
  std::iota(partner.begin(), partner.end(), 0U);
  for (std::uint32_t i = 0; i + 1 < workers; i += 2) {
    partner[order[i]] = order[i + 1];
    partner[order[i + 1]] = order[i];
  }
  RowWriter rows(workers);
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    rows.add(partner[worker]);
    rows.end_row();
  }
  return rows.take();
}

void check_probability(const DataParallelSync& sync) {
  if (sync.probability > 0 && sync.probability <= 1) return;
  throw InputError("/data_parallel_sync/probability",
                   "found " + std::to_string(sync.probability) + "; allowed is a share above 0, at most 1");
}

}  // namespace

Wiring wire_random_matching(const DataParallelSync& sync, const GossipSize& size) {
  const std::uint32_t rounds = std::max(1U, size.random_rounds);
  check_edge_count(sync, size, static_cast<double>(rounds) * size.workers);
  SplitMix64 random(static_cast<std::uint64_t>(size.seed));
  Wiring wiring;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    wiring.rounds.push_back(matching(size.workers, random));
  }
  return wiring;
}

/// Every pair is joined with the probability given (Erdos and Renyi 1959).
Wiring wire_erdos_renyi(const DataParallelSync& sync, const GossipSize& size) {
  check_probability(sync);
  const double pairs = static_cast<double>(size.workers) * static_cast<double>(size.workers - 1) / 2;
  check_edge_count(sync, size, 2 * pairs * sync.probability);
  if (pairs > kMaxPairs) {
    throw InputError(
        "/data_parallel_sync/topology",
        "found \"erdos-renyi\" over " + std::to_string(size.workers) + " workers; allowed are at most 65536");
  }
  SplitMix64 random(static_cast<std::uint64_t>(size.seed));
  std::vector<std::vector<std::uint32_t>> neighbours(size.workers);
  for (std::uint32_t a = 0; a < size.workers; ++a) {
    for (std::uint32_t b = a + 1; b < size.workers; ++b) {
      if (random.uniform() >= sync.probability) continue;
      neighbours[a].push_back(b);
      neighbours[b].push_back(a);
    }
  }
  RowWriter rows(size.workers);
  for (const auto& row : neighbours) {
    for (const std::uint32_t neighbour : row) rows.add_new(neighbour);
    rows.end_row();
  }
  return one_round(rows.take());
}

}  // namespace orrery
