#include "studies/jobs/node_pool.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

NodePool::NodePool(std::int64_t nodes, std::int64_t gpus_per_node, std::int64_t nodes_per_leaf)
    : per_node_(static_cast<std::size_t>(gpus_per_node)),
      per_leaf_(static_cast<std::size_t>(nodes_per_leaf)),
      free_(static_cast<std::size_t>(nodes * gpus_per_node), true),
      free_count_(static_cast<std::size_t>(nodes), per_node_),
      free_gpus_(nodes * gpus_per_node),
      idle_nodes_(static_cast<std::size_t>(nodes)) {}

void NodePool::set(const std::vector<GpuId>& gpus, bool free) {
  for (const GpuId gpu : gpus) {
    std::size_t& count = free_count_[index(gpu) / per_node_];
    idle_nodes_ -= count == per_node_ ? 1 : 0;
    free_[index(gpu)] = free;
    count += free ? 1 : std::size_t(-1);
    free_gpus_ += free ? 1 : -1;
    idle_nodes_ += count == per_node_ ? 1 : 0;
  }
}

bool NodePool::has(const std::vector<GpuId>& gpus) const {
  return std::ranges::all_of(gpus, [this](GpuId gpu) { return free_[index(gpu)]; });
}

std::optional<std::vector<GpuId>> NodePool::find(std::int64_t gpus, JobPlacement placement) const {
  if (gpus > free_gpus_) return std::nullopt;
  const std::size_t whole = static_cast<std::size_t>(gpus) / per_node_;
  const std::size_t rest = static_cast<std::size_t>(gpus) % per_node_;
  if (whole > idle_nodes_) return std::nullopt;
  // Below the fewest leaves, the rest counts as a node, so that it is not the only one below its leaf.
  const bool rest_is_node = placement == JobPlacement::rail_aware && whole > 0 && rest > 0;
  auto nodes = whole_nodes(whole + (rest_is_node ? 1 : 0), placement);
  if (!nodes) return std::nullopt;
  std::ranges::sort(*nodes);
  std::vector<GpuId> out;
  for (std::size_t n = 0; n < whole; ++n) append((*nodes)[n], per_node_, out);
  if (rest == 0) return out;
  if (rest_is_node) {
    append(nodes->back(), rest, out);
    return out;
  }
  const auto part = part_of_node(rest, placement, *nodes);
  if (!part) return std::nullopt;
  append(*part, rest, out);
  return out;
}

void NodePool::append(std::size_t node, std::size_t gpus, std::vector<GpuId>& out) const {
  for (std::size_t gpu = node * per_node_; gpus > 0; ++gpu) {
    if (!free_[gpu]) continue;
    out.push_back(GpuId{static_cast<std::uint32_t>(gpu)});
    --gpus;
  }
}

std::vector<NodePool::Leaf> NodePool::leaves() const {
  std::vector<Leaf> out;
  for (std::size_t node = 0; node < free_count_.size(); ++node) {
    if (node % per_leaf_ == 0) out.push_back({out.size(), {}});
    if (free_count_[node] == per_node_) out.back().idle.push_back(node);
  }
  return out;
}

std::optional<std::vector<std::size_t>> NodePool::whole_nodes(std::size_t count,
                                                              JobPlacement placement) const {
  std::vector<std::size_t> out;
  if (count == 0) return out;
  if (count > idle_nodes_) return std::nullopt;
  if (placement == JobPlacement::rail_aware) return below_fewest_leaves(count);
  std::vector<Leaf> all = leaves();
  std::ranges::stable_sort(all, [](const Leaf& a, const Leaf& b) { return a.idle.size() > b.idle.size(); });
  if (placement == JobPlacement::spread) {
    for (std::size_t turn = 0; out.size() < count; ++turn)
      for (const Leaf& leaf : all)
        if (turn < leaf.idle.size() && out.size() < count) out.push_back(leaf.idle[turn]);
    return out;
  }
  const auto fits = [&](const Leaf& leaf) { return leaf.idle.size() >= count; };
  if (placement == JobPlacement::best_fit && fits(all.front()))
    std::rotate(all.begin(), std::ranges::partition_point(all, fits) - 1, all.end());
  for (const Leaf& leaf : all)
    for (std::size_t n = 0; n < leaf.idle.size() && out.size() < count; ++n) out.push_back(leaf.idle[n]);
  return out;
}

/// Whole leaves, and what is left of the nodes below the one that they fill best.
std::optional<std::vector<std::size_t>> NodePool::below_fewest_leaves(std::size_t count) const {
  std::vector<std::size_t> out;
  std::size_t left = count;
  std::vector<Leaf> all = leaves();
  for (Leaf& leaf : all) {
    if (left < per_leaf_ || leaf.idle.size() < per_leaf_) continue;
    out.insert(out.end(), leaf.idle.begin(), leaf.idle.end());
    leaf.idle.clear();
    left -= per_leaf_;
  }
  if (left == 0) return out;
  const Leaf* tightest = nullptr;
  for (const Leaf& leaf : all)
    if (leaf.idle.size() >= left && (tightest == nullptr || leaf.idle.size() < tightest->idle.size()))
      tightest = &leaf;
  if (tightest == nullptr) return std::nullopt;
  out.insert(out.end(), tightest->idle.begin(), tightest->idle.begin() + static_cast<std::ptrdiff_t>(left));
  return out;
}

/// Below the leaf of the whole nodes, if it has room.
std::optional<std::size_t> NodePool::part_of_node(std::size_t gpus, JobPlacement placement,
                                                  const std::vector<std::size_t>& but) const {
  const auto rank = [&](std::size_t node) {
    const bool elsewhere = !but.empty() && node / per_leaf_ != but.back() / per_leaf_;
    const auto free = static_cast<std::int64_t>(free_count_[node]);
    const std::int64_t order = placement == JobPlacement::packed   ? 0
                               : placement == JobPlacement::spread ? -free
                                                                   : free;
    return std::pair(elsewhere, order);
  };
  std::optional<std::size_t> best;
  for (std::size_t node = 0; node < free_count_.size(); ++node) {
    if (free_count_[node] < gpus || std::ranges::binary_search(but, node)) continue;
    if (!best || rank(node) < rank(*best)) best = node;
  }
  return best;
}

}  // namespace orrery
