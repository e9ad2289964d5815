// Every GPU joined to every other one of its node by a link of its own (MI300X).
#include "topologies/nodes/builders.hpp"

namespace orrery {
namespace {

/// Returns the number of the link among those that start at `from`.
std::uint32_t skip_self(std::uint32_t from, std::uint32_t to) { return to < from ? to : to - 1; }

class NodeFullMesh final : public NodeWiringModel {
 public:
  explicit NodeFullMesh(const NodeSite& site)
      : NodeWiringModel(site, std::int64_t{site.gpus} * (site.gpus - 1), 0), gpus_(site.gpus) {
    const std::int64_t rate = site.rate();
    const Picoseconds latency = site.latency();
    for (std::uint32_t from = 0; from < gpus_; ++from) {
      for (std::uint32_t to = 0; to < gpus_; ++to) {
        if (from != to) add_link(from, to, rate, latency, LinkKind::nvlink);
      }
    }
  }

  void route(std::uint32_t from, std::uint32_t to, std::uint32_t first_link,
             std::vector<LinkId>& out) const override {
    append(out, first_link, from * (gpus_ - 1) + skip_self(from, to));
  }

  /// Walecki's decomposition of the complete graph: (n-1)/2 tours without a common edge (all edges for
  /// odd n, all but a perfect matching for even n), each taken both ways. The last member is the hub,
  /// the others zigzag about a centre that moves by one from tour to tour.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> tours(
      const std::vector<std::uint32_t>& members) const override {
    if (members.size() < 3) return {members};
    std::vector<std::vector<std::uint32_t>> out;
    const std::size_t rim = members.size() - 1;
    for (std::size_t centre = 0; centre < rim / 2; ++centre) {
      std::vector<std::uint32_t> tour{members[rim]};
      for (std::size_t step = 0; step < rim; ++step) {
        const std::size_t offset = (step + 1) / 2;
        tour.push_back(members[(centre + (step % 2 == 1 ? offset : rim - offset)) % rim]);
      }
      out.push_back(tour);
      out.emplace_back(tour.rbegin(), tour.rend());
    }
    return out;
  }

  [[nodiscard]] std::string switch_name(std::uint32_t) const override { return {}; }

 private:
  std::uint32_t gpus_;
};

}  // namespace

std::unique_ptr<NodeWiringModel> build_full_mesh_node(const NodeSite& site) {
  return std::make_unique<NodeFullMesh>(site);
}

}  // namespace orrery
