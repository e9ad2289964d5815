#include "sim/cost/collective_cost.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "orrery/error.hpp"
#include "sim/cost/collective_legs.hpp"
#include "sim/cost/collective_shapes.hpp"

namespace orrery {
namespace {

std::string pointer_to(Collective collective) {
  return "/plan/collectives/" + std::string(kCollectiveNames[static_cast<std::size_t>(collective)]);
}

/// The algorithm of that name; nullptr for "auto".
const CollectiveAlgorithm* chosen(Collective collective, const std::string& name) {
  if (name == "auto") return nullptr;
  if (const CollectiveAlgorithm* found = find_collective_algorithm(name)) return found;
  std::string allowed = "auto";
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    allowed += ", " + std::string(algorithm.name);
  }
  throw InputError(pointer_to(collective), "unknown algorithm \"" + name + "\"; one of " + allowed);
}

[[noreturn]] void refuse(Collective collective, std::string_view name, const GroupShape& shape,
                         std::string_view obstacle) {
  throw InputError(pointer_to(collective),
                   "\"" + std::string(name) + "\" is impossible for a group of " +
                       std::to_string(shape.members) + " on " + std::to_string(shape.nodes.size()) +
                       (shape.nodes.size() == 1 ? " node: " : " nodes: ") + std::string(obstacle));
}

}  // namespace

class CollectivePricer::Impl {
 public:
  Impl(const Topology& topology, const std::array<std::string, kCollectiveCount>& names)
      : builder_(topology), shapes_(topology) {
    for (std::size_t i = 0; i < kCollectiveCount; ++i) {
      algorithms_[i] = chosen(static_cast<Collective>(i), names[i]);
    }
  }

  void price(const Message& message, std::span<const std::uint32_t> members, TransferPrice& out) {
    clear(out);
    find_ways(message, members);
    for (const Way& way : ways_) {
      clear(candidate_);
      builder_.append(*way.rounds, message.bytes, candidate_.legs, candidate_.uses);
      candidate_.algorithm = way.algorithm;
      if (&way == ways_.data() || candidate_.alone_ps() < out.alone_ps()) std::swap(out, candidate_);
    }
  }

  RoutedCollective route(const Message& message, std::span<const std::uint32_t> members) {
    find_ways(message, members);
    RoutedCollective routed;
    if (ways_.empty()) return routed;
    std::vector<LegBuilder::RoutedMessages>& known = known_[members_];
    for (const Way& way : ways_) routed.push_back(builder_.route(*way.rounds, known));
    return routed;
  }

  void price(const RoutedCollective& routed, Bytes bytes, TransferPrice& out) {
    clear(out);
    for (const RoutedRounds& way : routed) {
      clear(candidate_);
      way.append(bytes, candidate_.legs);
      if (&way == routed.data() || candidate_.alone_ps() < out.alone_ps()) std::swap(out, candidate_);
    }
  }

 private:
  /// Rounds that do it, and the algorithm they are of.
  struct Way {
    const Rounds* rounds = nullptr;
    std::string_view algorithm;
  };

  static void clear(TransferPrice& price) {
    price.legs.clear();
    price.uses.clear();
    price.algorithm = {};
  }

  void set_group(std::span<const std::uint32_t> members) {
    members_.assign(members.begin(), members.end());
    builder_.set_group(members_);
    shape_ = nullptr;
  }

  ShapeCache::Entry& shape_of_group(const Message& message) {
    if (message.collective == Collective::send_recv && members_.size() == 2) return shapes_.pair();
    if (shape_ == nullptr) shape_ = &shapes_.find(members_);
    return *shape_;
  }

  /// Writes the algorithms that are considered into ways_.
  void find_ways(const Message& message, std::span<const std::uint32_t> members) {
    ways_.clear();
    if (members.size() < 2) return;
    if (!std::ranges::equal(members, members_)) set_group(members);
    ShapeCache::Entry& entry = shape_of_group(message);
    const CollectiveAlgorithm* algorithm = algorithms_[static_cast<std::size_t>(message.collective)];
    if (message.servers > 0) {
      find_served(entry, message);
    } else if (algorithm == nullptr) {
      find_automatic(entry, message.collective);
    } else {
      const std::string_view obstacle = algorithm->obstacle(message.collective, entry.shape());
      if (!obstacle.empty()) refuse(message.collective, algorithm->name, entry.shape(), obstacle);
      ways_.push_back({&entry.rounds(*algorithm, message.collective), algorithm->name});
    }
  }

  void find_served(ShapeCache::Entry& entry, const Message& message) {
    const std::string_view obstacle = server_obstacle(entry.shape(), message.servers);
    if (!obstacle.empty()) {
      throw InputError("/data_parallel_sync/servers", "found " + std::to_string(message.servers) + " for " +
                                                          std::to_string(entry.shape().members) +
                                                          " workers: " + std::string(obstacle));
    }
    ways_.push_back({&entry.rounds_through(message.servers), "parameter-server"});
  }

  void find_automatic(ShapeCache::Entry& entry, Collective collective) {
    std::string_view last_obstacle = "no algorithm does it";
    for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
      const std::string_view obstacle = algorithm.obstacle(collective, entry.shape());
      const bool considered = algorithm.automatic(collective, entry.shape());
      if (considered && !obstacle.empty()) last_obstacle = obstacle;
      if (!considered || !obstacle.empty()) continue;
      ways_.push_back({&entry.rounds(algorithm, collective), algorithm.name});
    }
    if (ways_.empty()) refuse(collective, "auto", entry.shape(), last_obstacle);
  }

  std::array<const CollectiveAlgorithm*, kCollectiveCount> algorithms_{};
  LegBuilder builder_;
  ShapeCache shapes_;
  std::vector<std::uint32_t> members_;  ///< the group at hand: messages often come group by group
  ShapeCache::Entry* shape_ = nullptr;  ///< its shape; null: not asked for yet
  std::vector<Way> ways_;               ///< of the message at hand
  std::map<std::vector<std::uint32_t>, std::vector<LegBuilder::RoutedMessages>>
      known_;                ///< route(), by members
  TransferPrice candidate_;  ///< scratch of price
};

CollectivePricer::CollectivePricer(const Topology& topology,
                                   const std::array<std::string, kCollectiveCount>& algorithms)
    : impl_(std::make_unique<Impl>(topology, algorithms)) {}
CollectivePricer::~CollectivePricer() = default;
CollectivePricer::CollectivePricer(CollectivePricer&&) noexcept = default;

void CollectivePricer::price(const Message& message, std::span<const std::uint32_t> members,
                             TransferPrice& out) {
  impl_->price(message, members, out);
}

RoutedCollective CollectivePricer::route(const Message& message, std::span<const std::uint32_t> members) {
  return impl_->route(message, members);
}

void CollectivePricer::price(const RoutedCollective& routed, Bytes bytes, TransferPrice& out) {
  impl_->price(routed, bytes, out);
}

}  // namespace orrery
