#include "sim/cost/collective_shapes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace orrery {
namespace {

using MemberPlaces = std::vector<std::uint32_t>;

/// Members by (node, position), for look-ups without a map.
class MemberIndex {
 public:
  MemberIndex(const Topology& topology, std::span<const std::uint32_t> members) : topology_(topology) {
    by_gpu_.reserve(members.size());
    for (std::uint32_t position = 0; position < members.size(); ++position) {
      by_gpu_.emplace_back(members[position], position);
    }
    std::ranges::sort(by_gpu_);
  }

  [[nodiscard]] std::uint32_t position(GpuId gpu) const {
    return std::ranges::lower_bound(by_gpu_, index(gpu), {}, &GpuPosition::first)->second;
  }

  /// GPUs of a node are consecutive, so members of a node are neighbours here.
  [[nodiscard]] std::vector<MemberPlaces> nodes() const {
    std::vector<MemberPlaces> nodes;
    for (std::size_t i = 0; i < by_gpu_.size(); ++i) {
      if (i == 0 || node(i) != node(i - 1)) nodes.emplace_back();
      nodes.back().push_back(by_gpu_[i].second);
    }
    for (MemberPlaces& node : nodes) std::ranges::sort(node);
    std::ranges::sort(nodes, {}, [](const MemberPlaces& node) { return node.front(); });
    return nodes;
  }

 private:
  using GpuPosition = std::pair<std::uint32_t, std::uint32_t>;
  [[nodiscard]] DomainId node(std::size_t i) const { return topology_.domain_of(GpuId{by_gpu_[i].first}); }

  const Topology& topology_;
  std::vector<GpuPosition> by_gpu_;
};

/// The rings of one node, in positions of the group.
std::vector<MemberPlaces> rings_of_node(const Topology& topology, const MemberIndex& members_index,
                                        std::span<const std::uint32_t> members, const MemberPlaces& node) {
  if (node.size() == 1) return {node};
  std::vector<GpuId> gpus;
  for (const std::uint32_t position : node) gpus.push_back(GpuId{members[position]});
  std::vector<MemberPlaces> rings;
  for (const std::vector<GpuId>& ring : topology.node_rings(gpus)) {
    MemberPlaces& positions = rings.emplace_back();
    for (const GpuId gpu : ring) positions.push_back(members_index.position(gpu));
  }
  return rings;
}

/// Ring k of the group is ring k of every node, one node after the other.
std::vector<MemberPlaces> join(const std::vector<std::vector<MemberPlaces>>& rings_of_nodes) {
  if (rings_of_nodes.size() == 1) return rings_of_nodes.front();
  std::size_t count = 1;
  for (const auto& rings : rings_of_nodes) count = std::max(count, rings.size());
  std::vector<MemberPlaces> joined(count);
  for (std::size_t k = 0; k < count; ++k) {
    for (const auto& rings : rings_of_nodes) {
      const MemberPlaces& part = rings[k % rings.size()];
      joined[k].insert(joined[k].end(), part.begin(), part.end());
    }
  }
  return joined;
}

/// On one node it does not matter where a ring starts. Keeps one ring of each circle, if all circles
/// occur equally often.
void merge_circles(std::vector<MemberPlaces>& rings) {
  for (MemberPlaces& ring : rings) std::rotate(ring.begin(), std::ranges::min_element(ring), ring.end());
  std::ranges::sort(rings);
  std::vector<MemberPlaces> circles;
  std::ranges::unique_copy(rings, std::back_inserter(circles));
  const auto times = static_cast<std::ptrdiff_t>(rings.size() / circles.size());
  const auto even = [&](const MemberPlaces& circle) { return std::ranges::count(rings, circle) == times; };
  if (std::ranges::all_of(circles, even)) rings = std::move(circles);
}

void merge_equal_rounds(Rounds& rounds) {
  std::vector<Round> merged;
  for (Round& round : rounds.rounds) {
    const bool again =
        !merged.empty() && merged.back().hops == round.hops && merged.back().messages == round.messages;
    if (again) {
      merged.back().repeat += round.repeat;
    } else {
      merged.push_back(std::move(round));
    }
  }
  rounds.rounds = std::move(merged);
}

/// Nodes and rings, each list with its length, so that no two shapes read the same.
std::vector<std::uint32_t> key_of(const GroupShape& shape) {
  std::vector<std::uint32_t> key{static_cast<std::uint32_t>(shape.nodes.size())};
  key.reserve(1 + shape.nodes.size() + shape.members * (1 + shape.rings.size()));
  for (const MemberPlaces& node : shape.nodes) {
    key.push_back(static_cast<std::uint32_t>(node.size()));
    key.insert(key.end(), node.begin(), node.end());
  }
  for (const MemberPlaces& ring : shape.rings) key.insert(key.end(), ring.begin(), ring.end());
  return key;
}

/// The common data-parallel group: its shape is known without looking any further.
bool on_ascending_nodes(const Topology& topology, std::span<const std::uint32_t> members) {
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (topology.domain_of(GpuId{members[i]}) <= topology.domain_of(GpuId{members[i - 1]})) return false;
  }
  return true;
}

}  // namespace

GroupShape group_shape(const Topology& topology, std::span<const std::uint32_t> members) {
  const MemberIndex members_index(topology, members);
  GroupShape shape;
  shape.members = static_cast<std::uint32_t>(members.size());
  shape.nodes = members_index.nodes();
  std::vector<std::vector<MemberPlaces>> rings;
  for (const MemberPlaces& node : shape.nodes) {
    rings.push_back(rings_of_node(topology, members_index, members, node));
  }
  shape.rings = join(rings);
  shape.switch_reduces = topology.reduction_bytes_per_s() > 0;
  shape.staged = topology.stages_messages();
  if (shape.nodes.size() == 1) merge_circles(shape.rings);
  return shape;
}

const Rounds& ShapeCache::Entry::rounds(const CollectiveAlgorithm& algorithm, Collective collective) {
  for (const auto& known : known_) {
    if (known->algorithm == &algorithm && known->collective == collective) return known->rounds;
  }
  Rounds rounds = algorithm.rounds(collective, shape_);
  merge_equal_rounds(rounds);
  known_.push_back(std::make_unique<Known>(Known{&algorithm, collective, 0, std::move(rounds)}));
  return known_.back()->rounds;
}

const Rounds& ShapeCache::Entry::rounds_through(std::uint32_t servers) {
  for (const auto& known : known_) {
    if (known->algorithm == nullptr && known->servers == servers) return known->rounds;
  }
  known_.push_back(std::make_unique<Known>(
      Known{nullptr, Collective::all_reduce, servers, server_rounds(shape_, servers)}));
  return known_.back()->rounds;
}

/// If nodes are alike, groups that are shifted by whole nodes are alike too.
ShapeCache::Entry& ShapeCache::find(std::span<const std::uint32_t> members) {
  if (on_ascending_nodes(topology_, members)) {
    const auto count = static_cast<std::uint32_t>(members.size());
    if (const auto known = one_per_node_.find(count); known != one_per_node_.end()) return known->second;
    return one_per_node_.try_emplace(count, one_per_node_shape(count)).first->second;
  }
  members_key_.assign(members.begin(), members.end());
  if (topology_.links_per_domain() > 0) {
    const std::uint32_t here = members.front() / topology_.gpus_per_domain() * topology_.gpus_per_domain();
    for (std::uint32_t& member : members_key_) member -= here;
  }
  Entry*& entry = by_members_[members_key_];
  if (entry == nullptr) entry = &find_new(members);
  return *entry;
}

ShapeCache::Entry& ShapeCache::find_new(std::span<const std::uint32_t> members) {
  GroupShape shape = group_shape(topology_, members);
  return by_shape_.try_emplace(key_of(shape), std::move(shape)).first->second;
}

/// FNV-1a over words.
std::size_t ShapeCache::Hash::operator()(const std::vector<std::uint32_t>& key) const {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::uint32_t word : key) hash = (hash ^ word) * 0x100000001b3U;
  return hash;
}

}  // namespace orrery
