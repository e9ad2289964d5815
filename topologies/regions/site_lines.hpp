// Describes the lines between the sites of a cluster of clusters: their bandwidth, and the ones that a
// message takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/cluster.hpp"
#include "orrery/topology.hpp"

namespace orrery {

class SiteLines {
 public:
  /// @throws InputError below /cluster/regions for names that are unknown or repeated, lines that carry
  /// nothing, and sites that do not reach each other.
  explicit SiteLines(const Regions& regions);

  /// Two for each line of the specification, the written direction first; their ends are numbers of sites.
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  /// Appends the numbers of the links on the way of least latency, of equal ones of fewest links.
  void route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& out) const;

 private:
  void add_lines(const Regions& regions);
  void check_connected(const Regions& regions) const;

  std::uint32_t sites_ = 0;
  std::vector<Link> links_;
  std::vector<std::uint32_t> next_link_;  ///< first link from site v towards site t, at t * sites + v
};

/// Returns the bytes/s that TCP gets through a line of `gbps`: the share of the packets that arrives, and no
/// more than its connections reach against the loss (Mathis et al. 1997; docs/theory/collectives.md, "Lines
/// between sites").
[[nodiscard]] double usable_bytes_per_s(double gbps, const SiteLink& line);

}  // namespace orrery
