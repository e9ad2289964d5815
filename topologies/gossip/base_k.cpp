// The Base-(k+1) graph (Takezawa, Sato, Bao, Niwa and Yamada, "Beyond exponential graph: communication-
// efficient topologies for decentralized learning via finite-time convergence", NeurIPS 2023): exact
// averages after at most 2 log_{k+1}(n) + 2 rounds for any number of workers n and at most k neighbours.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "orrery/error.hpp"
#include "topologies/gossip/wiring.hpp"

namespace orrery {
namespace {

using Workers = std::vector<std::uint32_t>;

struct Edge {
  std::uint32_t a, b;
  double weight;
};
using Round = std::vector<Edge>;
using Rounds = std::vector<Round>;

/// The fewest factors within [2, most] whose product is n, the largest first; none where n has a larger
/// prime.
std::optional<std::vector<std::size_t>> fewest_factors(std::size_t n, std::size_t most) {
  if (n == 1) return std::vector<std::size_t>{};
  std::optional<std::vector<std::size_t>> best;
  for (std::size_t factor = std::min(n, most); factor >= 2; --factor) {
    if (n % factor != 0) continue;
    auto rest = fewest_factors(n / factor, factor);
    if (!rest || (best && rest->size() + 1 >= best->size())) continue;
    rest->insert(rest->begin(), factor);
    best = std::move(rest);
  }
  return best;
}

/// Builds algorithm 1, the k-peer hyper-hypercube: numbers in mixed radix; each round joins workers that
/// differ in one digit. The number of workers has the factors given.
Rounds hyper_hypercube(const Workers& workers, const std::vector<std::size_t>& factors) {
  Rounds rounds;
  std::size_t stride = 1;
  for (const std::size_t factor : factors) {
    Round round;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const std::size_t digit = i / stride % factor;
      for (std::size_t more = 1; more < factor - digit; ++more) {
        round.push_back({workers[i], workers[i + more * stride], 1.0 / static_cast<double>(factor)});
      }
    }
    rounds.push_back(std::move(round));
    stride *= factor;
  }
  return rounds;
}

void add_rounds(Rounds& all, const Rounds& more, std::size_t first) {
  if (all.size() < first + more.size()) all.resize(first + more.size());
  for (std::size_t m = 0; m < more.size(); ++m) {
    all[first + m].insert(all[first + m].end(), more[m].begin(), more[m].end());
  }
}

/// V_l of Algorithm 2: `count` sets of `size` = (k+1)^p workers each, in a row.
struct Part {
  Workers workers;
  std::size_t count, size;
};

/// n = a_1 (k+1)^{p_1} + ... + a_L (k+1)^{p_L}, the largest power first.
std::vector<Part> parts_of(const Workers& workers, std::size_t base) {
  std::vector<Part> parts;
  std::size_t power = 1;
  while (power <= workers.size() / base) power *= base;
  for (std::size_t begin = 0; begin < workers.size(); power /= base) {
    const std::size_t count = (workers.size() - begin) / power;
    if (count == 0) continue;
    const auto first = workers.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(count * power);
    parts.push_back({Workers(first, last), count, power});
    begin += count * power;
  }
  return parts;
}

/// Every worker of the parts after `l` meets one worker of each set of part l, so that it and part l both
/// come to the average of part l and all after it. Weights |V_l| / (a_l sum_{j >= l} |V_j|).
Round meet_the_rest(const std::vector<Part>& parts, std::size_t l) {
  std::size_t total = 0;
  for (std::size_t j = l; j < parts.size(); ++j) total += parts[j].workers.size();
  const double weight = static_cast<double>(parts[l].size) / static_cast<double>(total);
  Round round;
  std::size_t next = 0;
  for (std::size_t j = l + 1; j < parts.size(); ++j) {
    for (const std::uint32_t worker : parts[j].workers) {
      for (std::size_t set = 0; set < parts[l].count; ++set) {
        round.push_back({parts[l].workers[set * parts[l].size + next], worker, weight});
      }
      ++next;
    }
  }
  return round;
}

/// After meeting the rest, the sets of a part are alike: each averages over itself.
void average_sets(Rounds& all, const Part& part, std::size_t base, std::size_t first) {
  const auto factors = fewest_factors(part.size, base);
  for (std::size_t set = 0; set < part.count; ++set) {
    const auto begin = part.workers.begin() + static_cast<std::ptrdiff_t>(set * part.size);
    add_rounds(all, hyper_hypercube(Workers(begin, begin + static_cast<std::ptrdiff_t>(part.size)), *factors),
               first);
  }
}

/// Algorithm 2, the simple Base-(k+1) graph: each part averages, the parts meet the rest in turn, and
/// average again.
Rounds simple_base(const Workers& workers, std::size_t base) {
  if (const auto factors = fewest_factors(workers.size(), base)) return hyper_hypercube(workers, *factors);
  const std::vector<Part> parts = parts_of(workers, base);
  Rounds all;
  for (const Part& part : parts) {
    add_rounds(all, hyper_hypercube(part.workers, *fewest_factors(part.workers.size(), base)), 0);
  }
  const std::size_t meetings = all.size();
  for (std::size_t l = 0; l + 1 < parts.size(); ++l) {
    add_rounds(all, {meet_the_rest(parts, l)}, meetings + l);
    average_sets(all, parts[l], base, meetings + l + 1);
  }
  return all;
}

/// Algorithm 3: with n = p q, p of primes up to k+1, the simple graph over p sets of q, then the
/// hyper-hypercube across the sets; or the simple graph, if it is no longer.
Rounds base_graph(const Workers& workers, std::size_t base) {
  std::size_t q = workers.size();
  for (std::size_t factor = 2; factor <= std::min(base, q); ++factor) {
    while (q % factor == 0) q /= factor;
  }
  Rounds simple = simple_base(workers, base);
  const std::size_t p = workers.size() / q;
  Rounds product;
  for (std::size_t set = 0; set < p; ++set) {
    const auto begin = workers.begin() + static_cast<std::ptrdiff_t>(set * q);
    add_rounds(product, simple_base(Workers(begin, begin + static_cast<std::ptrdiff_t>(q)), base), 0);
  }
  const std::size_t within = product.size();
  for (std::size_t place = 0; place < q; ++place) {
    Workers across;
    for (std::size_t set = 0; set < p; ++set) across.push_back(workers[set * q + place]);
    add_rounds(product, hyper_hypercube(across, *fewest_factors(p, base)), within);
  }
  return product.size() < simple.size() ? product : simple;
}

Mixing mixing_of(const Round& round, std::uint32_t workers) {
  std::vector<std::vector<std::pair<std::uint32_t, double>>> lists(workers);
  for (const Edge& edge : round) {
    lists[edge.a].emplace_back(edge.b, edge.weight);
    lists[edge.b].emplace_back(edge.a, edge.weight);
  }
  RowWriter rows(workers);
  for (const auto& list : lists) {
    double sum = 0;
    for (const auto& [neighbour, weight] : list) {
      rows.add_new(neighbour, weight);
      sum += weight;
    }
    rows.end_row(1 - sum);
  }
  return rows.take();
}

}  // namespace

Wiring wire_base_k(const DataParallelSync& sync, const GossipSize& size) {
  if (sync.peers < 1) {
    throw InputError("/data_parallel_sync/peers",
                     "found " + std::to_string(sync.peers) + "; allowed is at least 1");
  }
  const auto peers = std::min<std::int64_t>(sync.peers, std::max<std::int64_t>(1, size.workers - 1LL));
  const double rounds = 2 * std::log(size.workers) / std::log(static_cast<double>(peers) + 1) + 2;
  check_edge_count(sync, size, rounds * static_cast<double>(peers) * size.workers);
  Workers workers(size.workers);
  std::iota(workers.begin(), workers.end(), 0U);
  Wiring wiring;
  wiring.weighted = true;
  for (const Round& round : base_graph(workers, static_cast<std::size_t>(peers) + 1)) {
    wiring.rounds.push_back(mixing_of(round, size.workers));
  }
  return wiring;
}

}  // namespace orrery
