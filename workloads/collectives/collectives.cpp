#include "workloads/collectives/collectives.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "workloads/collectives/algorithms.hpp"

namespace orrery {

std::span<const CollectiveAlgorithm> collective_algorithms() {
  static const std::array algorithms{
      ring_algorithm(),   tree_algorithm(), halving_doubling_algorithm(), hierarchical_algorithm(),
      direct_algorithm(), nvls_algorithm(), nvls_tree_algorithm(),
  };
  return algorithms;
}

const CollectiveAlgorithm* find_collective_algorithm(std::string_view name) {
  const auto all = collective_algorithms();
  const auto found = std::ranges::find(all, name, &CollectiveAlgorithm::name);
  return found == all.end() ? nullptr : &*found;
}

GroupShape one_node_shape(std::uint32_t members) {
  std::vector<std::uint32_t> order(members);
  std::iota(order.begin(), order.end(), 0U);
  return {members, {order}, {order}};
}

GroupShape one_per_node_shape(std::uint32_t members) {
  GroupShape shape = one_node_shape(members);
  shape.nodes.clear();
  for (std::uint32_t position = 0; position < members; ++position) shape.nodes.push_back({position});
  return shape;
}

NodePaths node_paths(const GroupShape& shape) {
  NodePaths paths;
  for (const std::vector<std::uint32_t>& ring : shape.rings) {
    std::span<const std::uint32_t> rest = ring;
    auto& path = paths.emplace_back();
    for (const std::vector<std::uint32_t>& node : shape.nodes) {
      path.push_back(rest.first(node.size()));
      rest = rest.subspan(node.size());
    }
  }
  return paths;
}

void append_ring(Round& round, std::span<const std::uint32_t> order, std::uint32_t share) {
  if (order.size() < 2) return;
  append_chain(round, order, share);
  const auto last = static_cast<std::uint32_t>(order.size() - 1);
  round.messages.push_back({order.back(), order.front(), share, last});
}

void append_chain(Round& round, std::span<const std::uint32_t> order, std::uint32_t share) {
  for (std::uint32_t i = 0; i + 1 < order.size(); ++i) {
    round.messages.push_back({order[i], order[i + 1], share, i});
  }
}

void append_exchange(Round& round, std::span<const std::uint32_t> order, std::uint32_t share) {
  const std::size_t count = order.size();
  for (std::size_t step = 1; step < count; ++step) {
    for (std::size_t i = 0; i < count; ++i) {
      round.messages.push_back({order[i], order[(i + step) % count], share, 0});
    }
  }
}

}  // namespace orrery
