// Builds an explicit graph of GPUs and switches. Messages take the way of least latency, of equal ones that
// of fewest links, then of the first link in the order of the specification at each vertex.
#pragma once

#include <string>
#include <vector>

#include "orrery/cluster.hpp"
#include "orrery/topology.hpp"

namespace orrery {

class GraphTopology final : public Topology {
 public:
  /// GPUs are numbered by their names, switches follow in their order. A link that is bidirectional
  /// becomes two, the written direction first.
  /// @throws InputError below /cluster/graph for names that are unknown, repeated or no GPU of the
  /// cluster, for links that carry nothing, GPUs that do not reach each other, and large graphs.
  GraphTopology(const Graph& graph, const Cluster& cluster);

  void route(GpuId from, GpuId to, std::vector<LinkId>& out) const override;
  [[nodiscard]] std::string vertex_name(VertexId vertex) const override { return names_[index(vertex)]; }

 private:
  void name_vertices(const Graph& graph);
  void add_links(const Graph& graph);
  void check_connected() const;

  std::vector<std::string> names_;
  /// The first link from vertex v towards GPU g, at g * vertices + v.
  std::vector<std::uint32_t> next_link_;
};

}  // namespace orrery
