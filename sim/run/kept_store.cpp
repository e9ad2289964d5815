#include "sim/run/kept_store.hpp"

#include <algorithm>
#include <utility>

#include "topologies/topologies.hpp"

namespace orrery::kept {
namespace {

constexpr std::size_t kMostPlaces = 64;
constexpr std::size_t kMostCuts = 256;
constexpr std::size_t kMostPriced = 1 << 26;  ///< of all cuts
constexpr std::size_t kPricesWorth = 64;      ///< as much as a cut takes without prices

}  // namespace

bool Place::stands_for(const Cluster& other) const {
  return cluster.nodes == other.nodes && cluster.gpus_per_node == other.gpus_per_node &&
         cluster.node == other.node && cluster.fabric == other.fabric && cluster.graph == other.graph;
}

Cut::Cut(std::shared_ptr<const Place> at, const Experiment& experiment)
    : place(std::move(at)),
      prices(*place->topology, experiment.plan.collectives, experiment.software.split_node_efficiency) {}

std::size_t Cut::weight() const {
  return (prices.size() + kPricesWorth) * communicators.program_of_rank.size();
}

Store::Store(std::size_t most_bytes) : cuts(kMostPriced, kMostCuts), orders(most_bytes, most_bytes) {}

std::shared_ptr<const Place> Store::find(const Cluster& cluster) {
  const std::lock_guard lock(mutex_);
  const auto known =
      std::ranges::find_if(places_, [&](const auto& place) { return place->stands_for(cluster); });
  return known == places_.end() ? nullptr : *known;
}

std::shared_ptr<const Place> Store::place_of(const Cluster& cluster) {
  if (auto known = find(cluster)) return known;
  auto made = std::make_shared<const Place>(Place{cluster, build_topology(cluster)});
  const std::lock_guard lock(mutex_);
  if (places_.size() >= kMostPlaces) places_.clear();
  places_.push_back(made);
  return made;
}

}  // namespace orrery::kept
