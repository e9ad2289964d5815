// Double binary tree as in NCCL (Sanders, Speck, Traeff 2009): two trees over the nodes, each of half
// of the data, in which every node is a leaf of at least one; a chain inside each node. Data goes up
// to the root and down again in one pipeline of small chunks.
#include <algorithm>

#include "workloads/collectives/algorithms.hpp"

namespace orrery {
namespace {

std::string_view tree_obstacle(Collective collective, const GroupShape&) {
  return collective == Collective::all_reduce ? "" : "it does all-reduce only";
}

/// Parent of a node other than 0 in the tree ordered by lowest set bit (ncclGetBtree): clear that
/// bit and set the next; where this leaves the range, only clear it.
std::uint32_t parent_of(std::uint32_t node, std::uint32_t nodes) {
  const std::uint32_t low_bit = node & (~node + 1);
  const std::uint32_t parent = (node ^ low_bit) | (low_bit << 1);
  return parent < nodes ? parent : node ^ low_bit;
}

std::uint32_t depth_of(std::uint32_t node, std::uint32_t nodes) {
  std::uint32_t depth = 0;
  for (; node != 0; node = parent_of(node, nodes)) ++depth;
  return depth;
}

/// Which node stands at `place` of the second tree (ncclGetDtree): the mirror image of the first, or,
/// for an odd number of nodes, the first shifted by one.
std::uint32_t second_tree_node(std::uint32_t place, std::uint32_t nodes) {
  return nodes % 2 == 0 ? nodes - 1 - place : (place + 1) % nodes;
}

/// The pipeline: up the chains, up the tree, down the tree, down the chains.
struct TreeStages {
  std::uint32_t chain = 0;  ///< hops of the longest chain in a node
  std::uint32_t depth = 0;  ///< of the tree
  [[nodiscard]] std::uint32_t count() const { return 2 * (chain + depth); }
};

TreeStages stages_of(const GroupShape& shape) {
  TreeStages stages;
  for (const auto& node : shape.nodes) {
    stages.chain = std::max(stages.chain, static_cast<std::uint32_t>(node.size() - 1));
  }
  stages.depth = binary_tree_depth(static_cast<std::uint32_t>(shape.nodes.size()));
  return stages;
}

/// Up and down between a child and its parent.
void append_edge(Round& round, std::uint32_t child, std::uint32_t parent, std::uint32_t share,
                 std::uint32_t up_stage, std::uint32_t down_stage) {
  round.messages.push_back({child, parent, share, up_stage});
  round.messages.push_back({parent, child, share, down_stage});
}

void append_tree(Round& round, const std::vector<std::span<const std::uint32_t>>& path, bool second,
                 TreeStages stages) {
  std::vector<std::uint32_t> heads;
  for (const auto& chain : path) {
    heads.push_back(chain.front());
    for (std::uint32_t i = 1; i < chain.size(); ++i) {
      const std::uint32_t up = stages.chain - i;
      append_edge(round, chain[i], chain[i - 1], 1, up, stages.count() - 1 - up);
    }
  }
  append_binary_tree(round, heads, second, 1, stages.chain, stages.count() - 1 - stages.chain);
}

Rounds tree_rounds(Collective, const GroupShape& shape) {
  const TreeStages stages = stages_of(shape);
  Round round;
  for (const auto& path : node_paths(shape)) {
    append_tree(round, path, false, stages);
    append_tree(round, path, true, stages);
  }
  round.hops = stages.count();
  return {{round}, static_cast<std::int64_t>(2 * shape.rings.size()), false, true};
}

/// NCCL counts on less than half of a ring's pace for it inside a node. With messages staged in the host's
/// memory all-reduces among several GPUs of a node move at the pace of a ring (docs/theory/collectives.md,
/// "Collectives").
bool tree_automatic(Collective, const GroupShape& shape) {
  return shape.nodes.size() > 1 && !(shape.staged && shape.members > shape.nodes.size());
}

}  // namespace

std::uint32_t binary_tree_depth(std::uint32_t nodes) {
  std::uint32_t depth = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) depth = std::max(depth, depth_of(node, nodes));
  return depth;
}

void append_binary_tree(Round& round, std::span<const std::uint32_t> heads, bool second, std::uint32_t share,
                        std::uint32_t first, std::uint32_t last) {
  const auto nodes = static_cast<std::uint32_t>(heads.size());
  const std::uint32_t depth = binary_tree_depth(nodes);
  const auto head = [&](std::uint32_t place) {
    return heads[second ? second_tree_node(place, nodes) : place];
  };
  for (std::uint32_t place = 1; place < nodes; ++place) {
    const std::uint32_t above_leaves = depth - depth_of(place, nodes);
    append_edge(round, head(place), head(parent_of(place, nodes)), share, first + above_leaves,
                last - above_leaves);
  }
}

CollectiveAlgorithm tree_algorithm() {
  return {{"tree", "two binary trees over the nodes, half of the data each, and a chain inside each node"},
          tree_obstacle,
          tree_rounds,
          tree_automatic};
}

}  // namespace orrery
