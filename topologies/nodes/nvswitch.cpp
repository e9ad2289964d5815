// All GPUs of a node, or of a domain of several nodes, behind one crossbar (DGX-2, DGX A100, DGX H100,
// NVL72): the several NVSwitches of a node carry equal shares of each GPU's traffic, so one of their summed
// bandwidth stands for them.
#include "topologies/nodes/builders.hpp"

namespace orrery {
namespace {

class NvSwitch final : public NodeWiringModel {
 public:
  explicit NvSwitch(const NodeSite& site) : NodeWiringModel(site, std::int64_t{2} * site.gpus, 1) {
    const std::uint32_t crossbar = site.gpus;
    const std::int64_t rate = site.rate();
    const Picoseconds latency = site.latency();
    for (std::uint32_t gpu = 0; gpu < site.gpus; ++gpu) {
      add_link(gpu, crossbar, rate, latency, LinkKind::nvlink);
      add_link(crossbar, gpu, rate, 0, LinkKind::nvlink);
    }
    if (site.spec.nvls_efficiency > 0) {
      reduce_in_switch(link_rate(site.spec.link_gb_per_s * 1e9, site.spec.nvls_efficiency, "/cluster/node",
                                 "link_gb_per_s"),
                       link_latency(site.spec.nvls_latency_us, "/cluster/node/nvls_latency_us"));
    }
  }

  void route(std::uint32_t from, std::uint32_t to, std::uint32_t first_link,
             std::vector<LinkId>& out) const override {
    append(out, first_link, 2 * from);
    append(out, first_link, 2 * to + 1);
  }

  [[nodiscard]] std::string switch_name(std::uint32_t) const override { return "nvswitch"; }
};

}  // namespace

std::unique_ptr<NodeWiringModel> build_nvswitch_node(const NodeSite& site) {
  return std::make_unique<NvSwitch>(site);
}

}  // namespace orrery
