// Builds PCIe cards that cannot read each other's memory (T4, L4, A10, GeForce): the sender writes to host
// memory, the receiver reads it there (NCCL's SHM transport). Every GPU has a link of its own to the host;
// all messages of the node share the bandwidth of host memory.
#include <algorithm>

#include "topologies/nodes/builders.hpp"

namespace orrery {
namespace {

class PcieHost final : public NodeWiringModel {
 public:
  explicit PcieHost(const NodeSite& site)
      : NodeWiringModel(site, std::int64_t{2} * site.gpus + 1, 2), memory_link_(2 * site.gpus) {
    const std::uint32_t root = site.gpus;
    const std::uint32_t memory = site.gpus + 1;
    for (std::uint32_t gpu = 0; gpu < site.gpus; ++gpu) {
      add_link(gpu, root, site.rate(), site.latency(), LinkKind::pcie);
      add_link(memory, gpu, site.rate(), 0, LinkKind::pcie);
    }
    add_link(root, memory, host_rate(site), 0, LinkKind::pcie);
  }

  void route(std::uint32_t from, std::uint32_t to, std::uint32_t first_link,
             std::vector<LinkId>& out) const override {
    append(out, first_link, 2 * from);
    append(out, first_link, memory_link_);
    append(out, first_link, 2 * to + 1);
  }

  /// In order of index, once round.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> tours(
      const std::vector<std::uint32_t>& members) const override {
    std::vector<std::uint32_t> tour = members;
    std::sort(tour.begin(), tour.end());
    return {tour};
  }

  [[nodiscard]] std::string switch_name(std::uint32_t number) const override {
    return number == 0 ? "root" : "memory";
  }

 private:
  /// Where nothing is said of the host, it never holds its GPUs up.
  static std::int64_t host_rate(const NodeSite& site) {
    if (site.spec.host_gb_per_s == 0) return kMaxLinkBytesPerS;
    return link_rate(site.spec.host_gb_per_s * 1e9, 1, "/cluster/node", "host_gb_per_s");
  }

  std::uint32_t memory_link_;
};

}  // namespace

std::unique_ptr<NodeWiringModel> build_pcie_host_node(const NodeSite& site) {
  return std::make_unique<PcieHost>(site);
}

}  // namespace orrery
