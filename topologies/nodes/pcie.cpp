// Pairs of GPUs under a PCIe switch, the switches under one root complex. All links are equal, so the
// pair shares the way to the root. Each switch or root crossed takes the latency once.
#include <algorithm>

#include "topologies/nodes/builders.hpp"

namespace orrery {
namespace {

class Pcie final : public NodeWiringModel {
 public:
  explicit Pcie(const NodeSite& site)
      : NodeWiringModel(site, std::int64_t{3} * site.gpus + 1, switch_count(site.gpus)), gpus_(site.gpus) {
    const std::uint32_t pairs = (gpus_ + 1) / 2;
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) add_cable(site, gpu, gpus_ + gpu / 2, 0);
    if (pairs == 1) return;
    const std::uint32_t root = gpus_ + pairs;
    for (std::uint32_t pair = 0; pair < pairs; ++pair) add_cable(site, gpus_ + pair, root, site.latency());
  }

  void route(std::uint32_t from, std::uint32_t to, std::uint32_t first_link,
             std::vector<LinkId>& out) const override {
    append(out, first_link, 2 * from);
    if (from / 2 != to / 2) {
      append(out, first_link, 2 * (gpus_ + from / 2));
      append(out, first_link, 2 * (gpus_ + to / 2) + 1);
    }
    append(out, first_link, 2 * to + 1);
  }

  /// In order of index, so that a tour enters and leaves each PCIe switch once.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> tours(
      const std::vector<std::uint32_t>& members) const override {
    std::vector<std::uint32_t> tour = members;
    std::sort(tour.begin(), tour.end());
    return {tour};
  }

  [[nodiscard]] std::string switch_name(std::uint32_t number) const override {
    return number == (gpus_ + 1) / 2 ? "root" : "pcie" + std::to_string(number);
  }

 private:
  static std::uint32_t switch_count(std::uint32_t gpus) { return gpus <= 2 ? 1 : (gpus + 1) / 2 + 1; }

  void add_cable(const NodeSite& site, std::uint32_t lower, std::uint32_t upper, Picoseconds down_latency) {
    add_link(lower, upper, site.rate(), site.latency(), LinkKind::pcie);
    add_link(upper, lower, site.rate(), down_latency, LinkKind::pcie);
  }

  std::uint32_t gpus_;
};

}  // namespace

std::unique_ptr<NodeWiringModel> build_pcie_node(const NodeSite& site) {
  return std::make_unique<Pcie>(site);
}

}  // namespace orrery
