#include "topologies/graphs/shortest_ways.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <compare>
#include <limits>

namespace orrery {
namespace {

/// Latency first, then links. A link counts as one even without latency, so every step is a step.
struct Distance {
  Picoseconds latency = 0;
  std::uint32_t links = 0;
  auto operator<=>(const Distance&) const = default;
};

constexpr Distance kUnreached{std::numeric_limits<Picoseconds>::max(), 0};

Distance add(Distance a, Distance b) {
  if (a == kUnreached || b == kUnreached) return kUnreached;
  return {a.latency + b.latency, a.links + b.links};
}

using Reversed = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                       boost::property<boost::edge_weight_t, Distance>>;

Reversed reverse(std::span<const Link> links, std::uint32_t vertices) {
  Reversed graph(vertices);
  for (const Link& link : links) {
    boost::add_edge(index(link.to), index(link.from), Distance{link.latency_ps, 1}, graph);
  }
  return graph;
}

void find_distances(const Reversed& graph, std::uint32_t target, std::vector<Distance>& distances) {
  boost::dijkstra_shortest_paths(
      graph, target,
      boost::distance_map(
          boost::make_iterator_property_map(distances.begin(), boost::get(boost::vertex_index, graph)))
          .distance_compare(std::less<Distance>())
          .distance_combine(&add)
          .distance_inf(kUnreached)
          .distance_zero(Distance{}));
}

}  // namespace

std::vector<std::uint32_t> next_links(std::span<const Link> links, std::uint32_t vertices,
                                      std::uint32_t targets) {
  std::vector<std::uint32_t> out(std::size_t{targets} * vertices, kNoLink);
  const Reversed graph = reverse(links, vertices);
  std::vector<Distance> distances(vertices);
  for (std::uint32_t target = 0; target < targets; ++target) {
    find_distances(graph, target, distances);
    std::uint32_t* const next = out.data() + std::size_t{target} * vertices;
    for (std::uint32_t i = 0; i < links.size(); ++i) {
      const std::uint32_t from = index(links[i].from);
      const Distance rest = distances[index(links[i].to)];
      if (from == target || next[from] != kNoLink || rest == kUnreached) continue;
      if (add(rest, {links[i].latency_ps, 1}) == distances[from]) next[from] = i;
    }
  }
  return out;
}

}  // namespace orrery
