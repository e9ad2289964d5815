// Builds a fabric of sites: each has a fabric of its own, of the cluster's kind, with one node more, the
// router. A message to another site goes to the router, over the lines between sites, and on from the router
// there.
#pragma once

#include <memory>
#include <vector>

#include "topologies/common/topologies.hpp"
#include "topologies/fabrics/fabric_model.hpp"
#include "topologies/regions/site_lines.hpp"

namespace orrery {

class RegionalFabric final : public FabricModel {
 public:
  /// `site` is that of all nodes; `regions` outlives the fabric.
  /// @throws InputError below /cluster/regions when the parts do not fit together.
  RegionalFabric(const FabricEntry& kind, const FabricSite& site, const Regions& regions);

  [[nodiscard]] std::int64_t link_count() const override { return links_; }
  [[nodiscard]] std::int64_t switch_count() const override { return switches_; }
  void add_links(std::vector<Link>& links) const override;
  void route(Port from, Port to, std::vector<LinkId>& out) const override;
  [[nodiscard]] PortChange port_change() const override { return change_; }
  /// "SITE/router", and "SITE/..." with the names of the site's fabric.
  [[nodiscard]] std::string switch_name(std::uint32_t number) const override;

 private:
  struct Part {
    std::unique_ptr<FabricModel> fabric;  ///< numbered from 0; null where the site has no nodes
    std::uint32_t nodes = 0;
    std::uint32_t first_node = 0;
    std::uint32_t first_switch = 0;  ///< the router; those of the fabric follow
    std::uint32_t first_link = 0;
  };

  void add_part(const FabricEntry& kind, std::int64_t nodes, bool alone);
  [[nodiscard]] VertexId global(const Part& part, VertexId local) const;
  [[nodiscard]] bool is_switch(const Part& part, VertexId local) const;
  [[nodiscard]] bool is_router(const Part& part, VertexId local) const;
  void route_in(const Part& part, Port from, Port to, std::vector<LinkId>& out) const;

  const Regions& regions_;
  SiteLines lines_;
  PortChange change_ = PortChange::in_fabric;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> part_of_node_;
  std::int64_t links_ = 0;
  std::int64_t switches_ = 0;
  std::uint32_t first_line_ = 0;
};

}  // namespace orrery
