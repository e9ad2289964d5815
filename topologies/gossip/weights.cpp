#include "topologies/gossip/weights.hpp"

#include <algorithm>

#include "orrery/error.hpp"

namespace orrery {
namespace {

const std::string& pointer_to_weights() {
  static const std::string pointer = "/data_parallel_sync/weights";
  return pointer;
}

template <class WeightOf>
void weigh_rows(Mixing& round, const WeightOf& weight_of) {
  const auto workers = static_cast<std::uint32_t>(round.begin.size() - 1);
  round.weight.resize(round.from.size());
  round.self.resize(workers);
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    double sum = 0;
    for (std::uint32_t edge = round.begin[worker]; edge < round.begin[worker + 1]; ++edge) {
      round.weight[edge] = weight_of(worker, round.from[edge]);
      sum += round.weight[edge];
    }
    round.self[worker] = 1 - sum;
  }
}

std::uint32_t in_degree(const Mixing& round, std::uint32_t worker) {
  return round.begin[worker + 1] - round.begin[worker];
}

/// w_ij = 1 / (in-degree of i + 1).
void weigh_uniformly(Mixing& round) {
  weigh_rows(round, [&](std::uint32_t to, std::uint32_t) { return 1.0 / (in_degree(round, to) + 1.0); });
}

/// w_ij = 1 / (1 + max(d_i, d_j)) (Metropolis et al. 1953; Xiao and Boyd 2004).
void weigh_by_larger_degree(Mixing& round) {
  weigh_rows(round, [&](std::uint32_t to, std::uint32_t from) {
    return 1.0 / (1.0 + std::max(in_degree(round, to), in_degree(round, from)));
  });
}

/// Sets w_ij = 1 / (out-degree of j + 1): each sender splits its values (Kempe, Dobra and Gehrke 2003).
void weigh_by_sender(Mixing& round) {
  const std::vector<std::uint32_t> degrees = out_degrees(round);
  weigh_rows(round, [&](std::uint32_t, std::uint32_t from) { return 1.0 / (degrees[from] + 1.0); });
  for (std::size_t worker = 0; worker < degrees.size(); ++worker) {
    round.self[worker] = 1.0 / (degrees[worker] + 1.0);
  }
}

bool has_edge(const Mixing& round, std::uint32_t to, std::uint32_t from) {
  const auto first = round.from.begin() + round.begin[to];
  return std::binary_search(first, round.from.begin() + round.begin[to + 1], from);
}

/// `round` with sorted rows.
Mixing sorted(const Mixing& round) {
  Mixing copy;
  copy.begin = round.begin;
  copy.from = round.from;
  for (std::size_t worker = 0; worker + 1 < copy.begin.size(); ++worker) {
    std::sort(copy.from.begin() + copy.begin[worker], copy.from.begin() + copy.begin[worker + 1]);
  }
  return copy;
}

bool goes_both_ways(const Mixing& unsorted) {
  const Mixing round = sorted(unsorted);
  for (std::uint32_t worker = 0; worker + 1 < round.begin.size(); ++worker) {
    for (std::uint32_t edge = round.begin[worker]; edge < round.begin[worker + 1]; ++edge) {
      if (!has_edge(round, round.from[edge], worker)) return false;
    }
  }
  return true;
}

MixingWeights rule_of(const Wiring& wiring, const DataParallelSync& sync) {
  if (sync.weights == MixingWeights::uniform) return sync.weights;
  const bool both_ways = goes_both_ways(wiring);
  if (sync.weights == MixingWeights::metropolis_hastings && !both_ways) {
    throw InputError(
        pointer_to_weights(),
        "found \"metropolis-hastings\" on a directed graph; allowed are \"uniform\" and \"auto\", "
        "or a graph whose edges go both ways");
  }
  return both_ways ? MixingWeights::metropolis_hastings : MixingWeights::uniform;
}

}  // namespace

bool goes_both_ways(const Wiring& wiring) {
  return std::all_of(wiring.rounds.begin(), wiring.rounds.end(),
                     [](const Mixing& round) { return goes_both_ways(round); });
}

std::vector<std::uint32_t> out_degrees(const Mixing& round) {
  std::vector<std::uint32_t> degrees(round.begin.size() - 1);
  for (const std::uint32_t from : round.from) ++degrees[from];
  return degrees;
}

void weigh(Wiring& wiring, const DataParallelSync& sync) {
  if (wiring.weighted) {
    if (sync.weights == MixingWeights::automatic) return;
    throw InputError(pointer_to_weights(),
                     "found weights for \"" + sync.topology + "\", which has its own; allowed is \"auto\"");
  }
  const MixingWeights rule = rule_of(wiring, sync);
  const bool by_sender =
      sync.method == SyncMethod::push_sum && sync.weights != MixingWeights::metropolis_hastings;
  for (Mixing& round : wiring.rounds) {
    if (by_sender) {
      weigh_by_sender(round);
    } else if (rule == MixingWeights::uniform) {
      weigh_uniformly(round);
    } else {
      weigh_by_larger_degree(round);
    }
  }
}

std::vector<double> column_sums(const Mixing& round) {
  std::vector<double> sums = round.self;
  for (std::size_t edge = 0; edge < round.from.size(); ++edge) sums[round.from[edge]] += round.weight[edge];
  return sums;
}

}  // namespace orrery
