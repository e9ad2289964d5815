#include "topologies/gossip/placement.hpp"

#include <numeric>
#include <utility>

namespace orrery {
namespace {

constexpr int kMostPasses = 20;

class NearPlacement {
 public:
  NearPlacement(const GossipGraph& graph, const Distance& distance)
      : workers_(graph.workers()), distances_(std::size_t{workers_} * workers_), partners_(workers_) {
    for (std::uint32_t a = 0; a < workers_; ++a) {
      for (std::uint32_t b = 0; b < a; ++b)
        distances_[a * workers_ + b] = distances_[b * workers_ + a] = distance(a, b);
    }
    for (const Mixing& round : graph.rounds) {
      for (std::uint32_t to = 0; to < workers_; ++to) {
        for (const std::uint32_t from : round.neighbours(to)) {
          partners_[to].push_back(from);
          partners_[from].push_back(to);
        }
      }
    }
  }

  std::vector<std::uint32_t> find() {
    places_.resize(workers_);
    std::iota(places_.begin(), places_.end(), 0U);
    for (int pass = 0; pass < kMostPasses && improve(); ++pass) {
    }
    return std::move(places_);
  }

 private:
  /// Returns the total length of the edges of two workers.
  [[nodiscard]] std::uint64_t length(std::uint32_t a, std::uint32_t b) const {
    std::uint64_t sum = 0;
    for (const std::uint32_t worker : {a, b}) {
      for (const std::uint32_t partner : partners_[worker])
        sum += distances_[places_[worker] * workers_ + places_[partner]];
    }
    return sum;
  }

  bool improve() {
    bool improved = false;
    for (std::uint32_t a = 0; a < workers_; ++a) {
      for (std::uint32_t b = a + 1; b < workers_; ++b) {
        const std::uint64_t before = length(a, b);
        std::swap(places_[a], places_[b]);
        if (length(a, b) < before) {
          improved = true;
        } else {
          std::swap(places_[a], places_[b]);
        }
      }
    }
    return improved;
  }

  std::size_t workers_;
  std::vector<std::uint32_t> distances_;
  std::vector<std::vector<std::uint32_t>> partners_;  ///< over all rounds, in either direction
  std::vector<std::uint32_t> places_;
};

}  // namespace

std::vector<std::uint32_t> place_near(const GossipGraph& graph, const Distance& distance) {
  return NearPlacement(graph, distance).find();
}

GossipGraph placed(const GossipGraph& graph, const std::vector<std::uint32_t>& places) {
  std::vector<std::uint32_t> worker_at(places.size());
  for (std::uint32_t worker = 0; worker < places.size(); ++worker) worker_at[places[worker]] = worker;
  GossipGraph result{graph.topology, {}};
  for (const Mixing& round : graph.rounds) {
    Mixing& there = result.rounds.emplace_back();
    there.begin.push_back(0);
    for (const std::uint32_t worker : worker_at) {
      for (const std::uint32_t from : round.neighbours(worker)) there.from.push_back(places[from]);
      const auto weights = round.weights(worker);
      there.weight.insert(there.weight.end(), weights.begin(), weights.end());
      there.self.push_back(round.self[worker]);
      there.begin.push_back(static_cast<std::uint32_t>(there.from.size()));
    }
  }
  return result;
}

}  // namespace orrery
