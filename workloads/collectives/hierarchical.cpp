// Hierarchical: rings inside the nodes and, for every local position at once, rings across them
// (two-level BlueConnect; Cho et al. 2019). For N nodes of g members, an all-reduce is a
// reduce-scatter of M inside, an all-reduce of M/g across, and an all-gather of M inside. In one node
// the part across falls away.
#include <algorithm>

#include "workloads/collectives/algorithms.hpp"

namespace orrery {
namespace {

std::string_view hierarchical_obstacle(Collective collective, const GroupShape& shape) {
  if (collective == Collective::send_recv) return "it does no send-recv";
  const std::size_t local = shape.nodes.front().size();
  const auto as_first = [&](const auto& node) { return node.size() == local; };
  if (!std::ranges::all_of(shape.nodes, as_first)) return "it needs equally many members on every node";
  if (collective != Collective::all_to_all) return "";
  const std::uint64_t peers = local - 1 + shape.nodes.size() - 1;
  return peers * shape.members <= kMaxExchangeMessages ? "" : "its limit is 4,194,304 messages";
}

/// The rounds the two-level forms are made of. Shares are parts of `unit`.
class Levels {
 public:
  explicit Levels(const GroupShape& shape)
      : shape_(shape),
        nodes_(static_cast<std::uint32_t>(shape.nodes.size())),
        local_(static_cast<std::uint32_t>(shape.nodes.front().size())),
        channels_(static_cast<std::uint32_t>(shape.rings.size())) {}

  /// n parts, each of which splits over the rings inside the nodes.
  [[nodiscard]] std::uint32_t unit() const { return shape_.members * channels_; }
  /// All-gather or reduce-scatter inside each node: g - 1 steps of 1/g.
  [[nodiscard]] Round inside() const;
  /// Rings across the nodes, `rings` times N - 1 steps of 1/n.
  [[nodiscard]] Round across(std::int64_t rings) const;
  /// The first member hands out 1/g to each other member of its node.
  [[nodiscard]] Round scatter() const;
  /// 1/g goes from the first node to all others, down a chain for each local position.
  [[nodiscard]] Round chain() const;
  /// Exchanges inside each node: each local peer gets the data for its local position on any node.
  [[nodiscard]] Round exchange_inside() const;
  /// Exchanges across the nodes: each node gets the data that all local peers have for it.
  [[nodiscard]] Round exchange_across() const;

 private:
  /// The members at one local position, over all nodes.
  [[nodiscard]] std::vector<std::uint32_t> rail(std::uint32_t local) const;

  const GroupShape& shape_;
  std::uint32_t nodes_;
  std::uint32_t local_;
  std::uint32_t channels_;
};

std::vector<std::uint32_t> Levels::rail(std::uint32_t local) const {
  std::vector<std::uint32_t> order;
  for (const auto& node : shape_.nodes) order.push_back(node[local]);
  return order;
}

Round Levels::inside() const {
  Round round;
  round.repeat = local_ - 1;
  for (const auto& path : node_paths(shape_)) {
    for (const auto& order : path) append_ring(round, order, nodes_);
  }
  return round;
}

Round Levels::across(std::int64_t rings) const {
  Round round;
  round.repeat = rings * (nodes_ - 1);
  for (std::uint32_t local = 0; local < local_; ++local) append_ring(round, rail(local), channels_);
  return round;
}

Round Levels::scatter() const {
  Round round;
  for (std::uint32_t local = 1; local < local_; ++local) {
    round.messages.push_back({0, shape_.nodes.front()[local], nodes_ * channels_, 0});
  }
  return round;
}

Round Levels::chain() const {
  Round round;
  round.hops = nodes_ - 1;
  for (std::uint32_t local = 0; local < local_; ++local) {
    append_chain(round, rail(local), nodes_ * channels_);
  }
  return round;
}

Round Levels::exchange_inside() const {
  Round round;
  for (const auto& node : shape_.nodes) append_exchange(round, node, nodes_ * channels_);
  return round;
}

Round Levels::exchange_across() const {
  Round round;
  for (std::uint32_t local = 0; local < local_; ++local) {
    append_exchange(round, rail(local), local_ * channels_);
  }
  return round;
}

std::vector<Round> rounds_of(Collective collective, const Levels& levels) {
  switch (collective) {
    case Collective::all_reduce:
      return {levels.inside(), levels.across(2), levels.inside()};
    case Collective::all_gather:
      return {levels.across(1), levels.inside()};
    case Collective::reduce_scatter:
      return {levels.inside(), levels.across(1)};
    case Collective::broadcast:
      return {levels.scatter(), levels.chain(), levels.inside()};
    default:
      return {levels.exchange_inside(), levels.exchange_across()};
  }
}

Rounds hierarchical_rounds(Collective collective, const GroupShape& shape) {
  const Levels levels(shape);
  Rounds out{rounds_of(collective, levels), levels.unit()};
  std::erase_if(out.rounds, [](const Round& round) { return round.messages.empty(); });
  return out;
}

bool hierarchical_automatic(Collective, const GroupShape&) { return false; }

}  // namespace

CollectiveAlgorithm hierarchical_algorithm() {
  return {{"hierarchical", "rings inside the nodes, and across them for every local position at once"},
          hierarchical_obstacle,
          hierarchical_rounds,
          hierarchical_automatic};
}

}  // namespace orrery
