#include "sim/run/kept_store.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "topologies/topologies.hpp"

namespace orrery::kept {
namespace {

constexpr std::size_t kMostPlaces = 64;
constexpr std::size_t kMostCuts = 256;
constexpr std::size_t kMostCutBytes = 256 << 20;  ///< of all cuts
constexpr std::size_t kBytesOfRank = 128;         ///< of a cut without prices

constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMostTrailBytes = 64'000'000;
constexpr std::size_t kMostOfPlan = 16;  ///< trails, which are looked at one by one

/// Equal for equal experiments, and mostly different for those of a search that differ.
Signature sign_plan(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  Signature signature;
  for (const std::int64_t value :
       {plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel, plan.micro_batch_size,
        plan.global_batch_size, plan.virtual_stages, std::int64_t{plan.zero_stage}, plan.zero_group_size})
    signature.append(static_cast<std::uint64_t>(value));
  signature.append(static_cast<std::uint64_t>(plan.recompute) << 8 | (plan.sequence_parallel ? 1U : 0U) |
                   (plan.overlap_gradient_reduce ? 2U : 0U) | (plan.overlap_parameter_gather ? 4U : 0U) |
                   (plan.overlap_tensor_parallel ? 8U : 0U));
  return signature;
}

/// About, with all that can be long.
std::size_t bytes_of(const Experiment& e) {
  std::size_t strings = e.name.size() + e.stack.size() + e.model.name.size() + e.cluster.name.size() +
                        e.cluster.gpu.name.size() + e.plan.rank_order.size();
  if (e.cluster.graph) {
    for (const std::string& vertex : e.cluster.graph->vertices) strings += sizeof vertex + vertex.size();
    for (const GraphLink& link : e.cluster.graph->links)
      strings += sizeof link + link.from.size() + link.to.size();
  }
  std::size_t numbers = e.model.widths.size() + e.cluster.fabric.shape.size() + e.plan.stage_layers.size() +
                        e.plan.tensor_partition.size() + e.data_parallel_sync.shape.size() +
                        e.data_parallel_sync.places.size();
  for (const auto& neighbours : e.data_parallel_sync.neighbours)
    numbers += sizeof neighbours + neighbours.size();
  return sizeof e + strings + sizeof(std::int64_t) * numbers +
         sizeof(GpuOverride) * e.cluster.overrides.size();
}

}  // namespace

bool Place::stands_for(const Cluster& other) const {
  return cluster.nodes == other.nodes && cluster.gpus_per_node == other.gpus_per_node &&
         cluster.node == other.node && cluster.fabric == other.fabric && cluster.graph == other.graph;
}

Cut::Cut(std::shared_ptr<const Place> at, const Experiment& experiment)
    : place(std::move(at)),
      prices(*place->topology, experiment.plan.collectives, experiment.software.split_node_efficiency) {}

std::size_t Cut::weight() const {
  return prices.bytes() + kBytesOfRank * communicators.program_of_rank.size();
}

Store::Store(std::size_t most_bytes) : cuts(kMostCutBytes, kMostCuts), orders(most_bytes, kAnyNumber) {}

/// With the lock.
std::shared_ptr<const Place> Store::find(const Cluster& cluster) const {
  const auto known =
      std::ranges::find_if(places_, [&](const auto& place) { return place->stands_for(cluster); });
  return known == places_.end() ? nullptr : *known;
}

std::optional<Trail> Store::trail_of(const Experiment& experiment) {
  const Signature key = sign_plan(experiment);
  const std::lock_guard lock(mutex_);
  const auto of_plan = trails_.find(key);
  if (of_plan == trails_.end()) return {};
  const auto left = std::ranges::find(of_plan->second, experiment, &Left::experiment);
  return left == of_plan->second.end() ? std::nullopt : std::optional(left->trail);
}

void Store::leave(const Experiment& experiment, const Trail& trail) {
  const Signature key = sign_plan(experiment);
  const std::size_t bytes = bytes_of(experiment);
  const std::lock_guard lock(mutex_);
  if (bytes > kMostTrailBytes) return;
  if (trail_bytes_ + bytes > kMostTrailBytes) {
    trails_.clear();
    trail_bytes_ = 0;
  }
  std::vector<Left>& of_plan = trails_[key];
  if (of_plan.size() == kMostOfPlan) {  // many that differ in what is not of the plan, as those of a fit
    for (const Left& left : of_plan) trail_bytes_ -= left.bytes;
    of_plan.clear();
  }
  of_plan.push_back({experiment, trail, bytes});
  trail_bytes_ += bytes;
}

std::shared_ptr<const Place> Store::place_of(const Cluster& cluster) {
  std::unique_lock lock(mutex_);
  if (auto known = find(cluster)) return known;
  lock.unlock();
  auto made = std::make_shared<Place>(Place{0, cluster, build_topology(cluster)});
  lock.lock();
  if (auto known = find(cluster)) return known;  // of another thread
  made->number = ++places_made_;
  if (places_.size() >= kMostPlaces) places_.clear();
  places_.push_back(made);
  return made;
}

}  // namespace orrery::kept
