// Implements NVLink SHARP in the nodes and a double binary tree between them (NCCL's NVLSTree): member j of a
// node has its switch add up the j-th part of the data, sends the sum up the trees of the j-th members of all
// nodes, and has the switch copy the part that comes down. Through each port in a node go (g+1)/g M each way,
// as with one node; an inner node of a tree sends and receives 3/2 of a part through member j's NIC, a leaf
// 1/2, and every node is inner in one of the two trees at most: so 2 M/g, M/g between two nodes.
#include <algorithm>
#include <string_view>

#include "workloads/collectives/algorithms.hpp"

namespace orrery {
namespace {

std::string_view nvls_tree_obstacle(Collective collective, const GroupShape& shape) {
  if (collective != Collective::all_reduce) return "it does all-reduce only";
  const std::size_t local = shape.nodes.front().size();
  const auto as_first = [&](const auto& node) { return node.size() == local; };
  if (!std::ranges::all_of(shape.nodes, as_first)) return "it needs equally many members on every node";
  if (local < 2) return "it needs several members on every node";
  if (!shape.switch_reduces) return "it needs nodes whose switches reduce (cluster.node.nvls_efficiency)";
  return shape.nodes.size() > 1 ? "" : "it is for several nodes";
}

/// The j-th member of each node.
std::vector<std::uint32_t> heads(const GroupShape& shape, std::size_t j) {
  std::vector<std::uint32_t> order;
  for (const auto& node : shape.nodes) order.push_back(node[j]);
  return order;
}

/// Stages: to a sum in the switch, up the trees, down them, back from the switch. Shares are halves of a
/// part.
Rounds nvls_tree_rounds(Collective, const GroupShape& shape) {
  const auto local = static_cast<std::uint32_t>(shape.nodes.front().size());
  const std::uint32_t depth = binary_tree_depth(static_cast<std::uint32_t>(shape.nodes.size()));
  const std::uint32_t last = 2 * depth + 1;
  Round round;
  round.hops = last + 1;
  for (const auto& node : shape.nodes) {
    for (std::uint32_t i = 0; i < local; ++i) {
      round.messages.push_back({node[i], node[(i + 1) % local], 2 * local, 0});
      round.messages.push_back({node[i], node[(i + 1) % local], 2, last});
    }
  }
  for (std::size_t j = 0; j < local; ++j) {
    for (const bool second : {false, true})
      append_binary_tree(round, heads(shape, j), second, 1, 1, last - 1);
  }
  return {{round}, 2 * local, true};
}

bool nvls_tree_automatic(Collective collective, const GroupShape&) {
  return collective == Collective::all_reduce;
}

}  // namespace

CollectiveAlgorithm nvls_tree_algorithm() {
  return {{"nvls-tree", "the switches of nodes reduce and copy, and two binary trees join the nodes"},
          nvls_tree_obstacle,
          nvls_tree_rounds,
          nvls_tree_automatic};
}

}  // namespace orrery
