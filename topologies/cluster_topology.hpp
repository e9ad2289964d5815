// Builds the network of a cluster of equal nodes from node wiring and fabric. Chooses the port of each GPU
// and where a message leaves and enters its nodes; the parts know the links. A wiring joins the GPUs of a
// node, or those of all nodes of an NVLink domain; the fabric joins nodes, each by its own NICs.
#pragma once

#include <memory>
#include <optional>

#include "topologies/common/topologies.hpp"
#include "topologies/fabrics/fabric_model.hpp"
#include "topologies/nodes/node_wiring.hpp"

namespace orrery {

class ClusterTopology final : public Topology {
 public:
  /// @throws InputError with a pointer below /cluster when the parts do not fit together.
  explicit ClusterTopology(const Cluster& cluster);

  void route(GpuId from, GpuId to, std::vector<LinkId>& out) const override;

  /// The tours of the node wiring, each repeated and cut open at other places, so that as far as
  /// possible every member starts equally many rings and ends equally many. Where the rings of several
  /// nodes are joined end to start, the traffic between nodes so spreads over all GPUs and their NICs.
  /// On a node with one tour, such as nvswitch, g members make g rings and ring c starts at member c.
  [[nodiscard]] std::vector<std::vector<GpuId>> node_rings(const std::vector<GpuId>& members) const override;

  /// "gpu5", "node2/nvswitch" ("domain0/nvswitch" where domains have several nodes), "node2/nic1", "leaf4".
  [[nodiscard]] std::string vertex_name(VertexId vertex) const override;

 private:
  void build_domains(const Cluster& cluster);
  void build_wiring(const Cluster& cluster);
  void build_fabric(const Cluster& cluster);
  [[nodiscard]] std::unique_ptr<FabricModel> fabric_of(const FabricEntry& entry,
                                                       const Cluster& cluster) const;
  [[nodiscard]] FabricSite fabric_site(const Cluster& cluster) const;
  [[nodiscard]] bool wiring_is_slower(const Cluster& cluster) const;
  void number_nics(bool apart);
  void set_overheads(const Cluster& cluster);
  void set_ways_out(const Cluster& cluster);
  void count_vertices();
  void add_links();
  void add_wiring_links(std::uint32_t domain);
  [[nodiscard]] const NodeWiringModel& wiring_of(std::uint32_t domain) const;
  [[nodiscard]] std::int64_t wiring_links() const;
  void route_between(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& out) const;
  void route_within(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& out) const;

  std::optional<Regions> regions_;                ///< read by the fabric
  std::unique_ptr<NodeWiringModel> wiring_;       ///< of a domain; null where its GPUs are not joined
  std::unique_ptr<NodeWiringModel> last_wiring_;  ///< of the last domain, where that has fewer nodes
  std::unique_ptr<FabricModel> fabric_;           ///< null where no message leaves its domain
  std::uint32_t nodes_ = 1;
  std::uint32_t domains_ = 1;
  /// Links of the wiring are slower than the NICs: GPUs use the NICs of others directly.
  bool slow_wiring_ = false;
  std::uint32_t first_nic_ = 0;         ///< vertex
  bool nics_apart_ = false;             ///< NICs are vertices, not their GPUs
  std::uint32_t first_switch_ = 0;      ///< vertex of the fabric
  std::uint32_t ports_ = 1;             ///< per node
  std::vector<std::uint32_t> port_of_;  ///< by index of a GPU within its node
};

}  // namespace orrery
