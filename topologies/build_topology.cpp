#include "topologies/cluster_topology.hpp"
#include "topologies/common/topologies.hpp"
#include "topologies/graphs/graph_topology.hpp"

namespace orrery {

std::unique_ptr<Topology> build_topology(const Cluster& cluster) {
  if (cluster.graph) return std::make_unique<GraphTopology>(*cluster.graph, cluster);
  return std::make_unique<ClusterTopology>(cluster);
}

}  // namespace orrery
