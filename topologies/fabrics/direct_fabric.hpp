// Holds the parts that fabrics without switches share: port k of a node is joined to port k of its neighbours
// only, so that the ports make as many separate planes.
#pragma once

#include "topologies/fabrics/fabric_model.hpp"

namespace orrery {

class DirectFabric : public FabricModel {
 public:
  [[nodiscard]] std::int64_t switch_count() const override { return 0; }
  [[nodiscard]] PortChange port_change() const override { return PortChange::after; }

 protected:
  /// @throws InputError where GPUs of one node would have to meet in the fabric.
  explicit DirectFabric(const FabricSite& site);

  /// Links of cable c, plane k: number (c * planes + k) * 2 up, one more down.
  [[nodiscard]] LinkId cable_link(std::uint32_t cable, std::uint32_t plane, std::uint32_t direction) const {
    return LinkId{site().first_link + (cable * site().ports + plane) * 2 + direction};
  }
  /// Appends the links of one cable, in all planes.
  void add_cable(std::vector<Link>& links, std::uint32_t lower, std::uint32_t upper) const;
};

}  // namespace orrery
