// GPUs in a ring, each joined to two neighbours.
#include <algorithm>

#include "topologies/common/ring_walk.hpp"
#include "topologies/nodes/builders.hpp"

namespace orrery {
namespace {

class NodeRing final : public NodeWiringModel {
 public:
  explicit NodeRing(const NodeSite& site)
      : NodeWiringModel(site, std::int64_t{2} * site.gpus, 0),
        gpus_(site.gpus),
        closed_(closes(site.gpus, true)) {
    const std::int64_t rate = site.rate();
    const Picoseconds latency = site.latency();
    for (std::uint32_t cable = 0; cable < cable_count(gpus_, closed_); ++cable) {
      const std::uint32_t next = (cable + 1) % gpus_;
      add_link(cable, next, rate, latency, LinkKind::nvlink);
      add_link(next, cable, rate, latency, LinkKind::nvlink);
    }
  }

  void route(std::uint32_t from, std::uint32_t to, std::uint32_t first_link,
             std::vector<LinkId>& out) const override {
    walk(from, to, gpus_, closed_, [&](std::uint32_t cable, std::uint32_t direction) {
      append(out, first_link, 2 * cable + direction);
    });
  }

  /// Once round each way.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> tours(
      const std::vector<std::uint32_t>& members) const override {
    std::vector<std::uint32_t> forward = members;
    std::sort(forward.begin(), forward.end());
    if (forward.size() < 3) return {forward};
    return {forward, {forward.rbegin(), forward.rend()}};
  }

  [[nodiscard]] std::string switch_name(std::uint32_t) const override { return {}; }

 private:
  std::uint32_t gpus_;
  bool closed_;
};

}  // namespace

std::unique_ptr<NodeWiringModel> build_ring_node(const NodeSite& site) {
  return std::make_unique<NodeRing>(site);
}

}  // namespace orrery
