// The NVLinks of a DGX-1V (p3.16xlarge): two fully joined quads of GPUs, and a link or two from each
// GPU to its partner in the other quad. Link counts per pair as printed by `nvidia-smi topo -m`.
#include <algorithm>
#include <array>

#include "orrery/error.hpp"
#include "topologies/nodes/builders.hpp"
#include "topologies/nodes/tour_packing.hpp"

namespace orrery {
namespace {

constexpr std::uint32_t kGpus = kMaxTourMembers;

/// NVLinks between two GPUs; every GPU has six.
constexpr LinkCounts kLinks{{{0, 1, 1, 2, 2, 0, 0, 0},
                             {1, 0, 2, 1, 0, 2, 0, 0},
                             {1, 2, 0, 2, 0, 0, 1, 0},
                             {2, 1, 2, 0, 0, 0, 0, 1},
                             {2, 0, 0, 0, 0, 1, 1, 2},
                             {0, 2, 0, 0, 1, 0, 2, 1},
                             {0, 0, 1, 0, 1, 2, 0, 2},
                             {0, 0, 0, 1, 2, 1, 2, 0}}};

class HybridCubeMesh final : public NodeWiringModel {
 public:
  explicit HybridCubeMesh(const NodeSite& site) : NodeWiringModel(site, kGpus * kGpus, 0), gpus_(site.gpus) {
    for (std::uint32_t from = 0; from < gpus_; ++from) {
      for (std::uint32_t to = 0; to < gpus_; ++to) {
        const int links = kLinks[from][to];
        if (links == 0) continue;
        link_[from][to] = static_cast<std::uint32_t>(this->links().size());
        add_link(from, to, site.rate(links), site.latency(), LinkKind::nvlink);
      }
    }
    find_ways();
  }

  void route(std::uint32_t from, std::uint32_t to, std::uint32_t first_link,
             std::vector<LinkId>& out) const override {
    const std::uint32_t over = via_[from][to];
    append(out, first_link, link_[from][over]);
    if (over != to) append(out, first_link, link_[over][to]);
  }

  /// Returns as many tours over single NVLinks as fit side by side (six for all eight GPUs, which then fill
  /// all 24 links both ways).
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> tours(
      const std::vector<std::uint32_t>& members) const override {
    return pack_tours(members, kLinks, via_);
  }

  [[nodiscard]] std::string switch_name(std::uint32_t) const override { return {}; }

 private:
  /// The neighbour to go through: the widest way of two links, of equal ones the lowest neighbour.
  /// The first k GPUs are never further apart than that.
  void find_ways() {
    for (std::uint32_t from = 0; from < gpus_; ++from) {
      for (std::uint32_t to = 0; to < gpus_; ++to) {
        via_[from][to] = kLinks[from][to] > 0 ? to : widest_neighbour(from, to);
      }
    }
  }

  [[nodiscard]] std::uint32_t widest_neighbour(std::uint32_t from, std::uint32_t to) const {
    std::uint32_t best = 0;
    int best_width = 0;
    for (std::uint32_t over = 0; over < gpus_; ++over) {
      const int width = std::min(kLinks[from][over], kLinks[over][to]);
      if (width > best_width) {
        best = over;
        best_width = width;
      }
    }
    return best;
  }

  std::uint32_t gpus_;
  std::array<std::array<std::uint32_t, kGpus>, kGpus> link_{};
  NextHops via_{};
};

}  // namespace

std::unique_ptr<NodeWiringModel> build_cube_mesh_node(const NodeSite& site) {
  if (site.gpus > kGpus) {
    throw InputError("/cluster/gpus_per_node",
                     "found " + std::to_string(site.gpus) + "; a hybrid-cube-mesh joins at most 8 GPUs");
  }
  return std::make_unique<HybridCubeMesh>(site);
}

}  // namespace orrery
