// Declares the algorithms of each file for the table in collectives.cpp, and the pieces that several of them
// share. Inside workloads/collectives/ only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "workloads/collectives/collectives.hpp"

namespace orrery {

[[nodiscard]] CollectiveAlgorithm ring_algorithm();
[[nodiscard]] CollectiveAlgorithm tree_algorithm();
[[nodiscard]] CollectiveAlgorithm halving_doubling_algorithm();
[[nodiscard]] CollectiveAlgorithm hierarchical_algorithm();
[[nodiscard]] CollectiveAlgorithm direct_algorithm();
[[nodiscard]] CollectiveAlgorithm nvls_algorithm();
[[nodiscard]] CollectiveAlgorithm nvls_tree_algorithm();

/// Messages an exchange of all with all may have: 2,048 members. Rings have no such limit.
inline constexpr std::uint64_t kMaxExchangeMessages = std::uint64_t{1} << 22;

/// For each ring of the shape, the part of it that lies in each node: paths[ring][node].
using NodePaths = std::vector<std::vector<std::span<const std::uint32_t>>>;
[[nodiscard]] NodePaths node_paths(const GroupShape& shape);

/// A message of `share` from each of `order` to the next and from the last to the first, one stage
/// each. A single position sends nothing.
void append_ring(Round& round, std::span<const std::uint32_t> order, std::uint32_t share);
/// A message of `share` from each of `order` to the next, one stage each.
void append_chain(Round& round, std::span<const std::uint32_t> order, std::uint32_t share);
/// Appends one of the two binary trees of NCCL over `heads`, one of each node: `share` up each of its edges
/// to the root, from stage `first` on, and down again up to the stage `last`.
void append_binary_tree(Round& round, std::span<const std::uint32_t> heads, bool second, std::uint32_t share,
                        std::uint32_t first, std::uint32_t last);
/// Edges from the farthest node to the root.
[[nodiscard]] std::uint32_t binary_tree_depth(std::uint32_t nodes);
/// A message of `share` from each of `order` to each other, all in one stage.
void append_exchange(Round& round, std::span<const std::uint32_t> order, std::uint32_t share);

}  // namespace orrery
