#include "topologies/gossip/analysis.hpp"

#include <algorithm>
#include <cmath>

#include "topologies/gossip/random_numbers.hpp"
#include "topologies/gossip/spectral_norm.hpp"
#include "topologies/gossip/weights.hpp"

namespace orrery {
namespace {

constexpr double kStochasticTolerance = 1e-9;
constexpr double kExact = 1e-12;
constexpr std::uint32_t kProbes = 3;

double distance_to_average(const GossipGraph& graph) {
  return graph.workers() <= kMaxDenseWorkers ? dense_distance_to_average(graph)
                                             : iterative_distance_to_average(graph);
}

/// Vectors that are averaged along: all unit vectors for few workers, random ones for many.
std::vector<std::vector<double>> probes(std::uint32_t workers) {
  const bool all = workers <= kMaxDenseWorkers;
  std::vector<std::vector<double>> probes(all ? workers : kProbes, std::vector<double>(workers));
  SplitMix64 random(0);
  for (std::size_t p = 0; p < probes.size(); ++p) {
    if (all) probes[p][p] = 1;
    for (double& value : probes[p]) value = all ? value : random.uniform();
  }
  return probes;
}

std::vector<double> mixed(const Mixing& mixing, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::uint32_t worker = 0; worker < mixing.workers(); ++worker) {
    double sum = mixing.self[worker] * x[worker];
    for (std::uint32_t edge = mixing.begin[worker]; edge < mixing.begin[worker + 1]; ++edge) {
      sum += mixing.weight[edge] * x[mixing.from[edge]];
    }
    y[worker] = sum;
  }
  return y;
}

bool is_average(const std::vector<double>& y, double mean) {
  return std::all_of(y.begin(), y.end(), [mean](double value) { return std::abs(value - mean) <= kExact; });
}

double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

}  // namespace

GossipDegrees gossip_degrees(const GossipGraph& graph) {
  constexpr std::uint32_t kMost = ~0U;
  GossipDegrees out{kMost, 0, kMost, 0};
  for (const Mixing& round : graph.rounds) {
    for (const std::uint32_t degree : out_degrees(round)) {
      out.min_out = std::min(out.min_out, degree);
      out.max_out = std::max(out.max_out, degree);
    }
    for (std::uint32_t worker = 0; worker < round.workers(); ++worker) {
      const auto degree = static_cast<std::uint32_t>(round.neighbours(worker).size());
      out.min_in = std::min(out.min_in, degree);
      out.max_in = std::max(out.max_in, degree);
    }
  }
  return out;
}

bool is_doubly_stochastic(const Mixing& mixing) {
  const auto is_one = [](double sum) { return std::abs(sum - 1) <= kStochasticTolerance; };
  const auto negative = [](double weight) { return weight < 0; };
  if (std::any_of(mixing.weight.begin(), mixing.weight.end(), negative)) return false;
  for (std::uint32_t worker = 0; worker < mixing.workers(); ++worker) {
    double sum = mixing.self[worker];
    for (const double weight : mixing.weights(worker)) sum += weight;
    if (!is_one(sum) || mixing.self[worker] < -kStochasticTolerance) return false;
  }
  const std::vector<double> sums = column_sums(mixing);
  return std::all_of(sums.begin(), sums.end(), is_one);
}

bool is_doubly_stochastic(const GossipGraph& graph) {
  return std::all_of(graph.rounds.begin(), graph.rounds.end(),
                     [](const Mixing& round) { return is_doubly_stochastic(round); });
}

double spectral_gap(const Mixing& mixing) { return spectral_gap(GossipGraph{"", {mixing}}); }

double spectral_gap(const GossipGraph& graph) {
  return 1 - std::pow(distance_to_average(graph), 1.0 / static_cast<double>(graph.rounds.size()));
}

std::optional<std::uint32_t> averaging_period(const GossipGraph& graph) {
  std::vector<std::vector<double>> vectors = probes(graph.workers());
  std::vector<double> means;
  for (const auto& x : vectors) means.push_back(mean_of(x));
  for (std::uint32_t round = 0; round < graph.rounds.size(); ++round) {
    bool exact = true;
    for (std::size_t p = 0; p < vectors.size(); ++p) {
      vectors[p] = mixed(graph.rounds[round], vectors[p]);
      exact = exact && is_average(vectors[p], means[p]);
    }
    if (exact) return round + 1;
  }
  return std::nullopt;
}

double messages_per_step(const GossipGraph& graph) {
  double messages = 0;
  for (const Mixing& round : graph.rounds) messages += static_cast<double>(round.from.size());
  return graph.empty() ? 0 : messages / static_cast<double>(graph.rounds.size());
}

}  // namespace orrery
