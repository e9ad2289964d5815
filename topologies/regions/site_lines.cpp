#include "topologies/regions/site_lines.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "orrery/error.hpp"
#include "topologies/common/checks.hpp"
#include "topologies/graphs/shortest_ways.hpp"

namespace orrery {
namespace {

/// Ways are kept for all pairs of sites.
constexpr std::int64_t kMostSites = 2048;
/// Payload bytes of a TCP segment over Ethernet frames of 1500 bytes, with time stamps.
constexpr double kSegmentBytes = 1448;
/// Constant in the formula of Mathis et al. if every segment is acknowledged.
const double kMathis = std::sqrt(1.5);

std::uint32_t site_named(const Regions& regions, const std::string& name, const std::string& pointer) {
  for (std::size_t s = 0; s < regions.sites.size(); ++s)
    if (regions.sites[s].name == name) return static_cast<std::uint32_t>(s);
  throw InputError(pointer, "found \"" + name + "\"; allowed is the name of a site");
}

}  // namespace

double usable_bytes_per_s(double gbps, const SiteLink& line) {
  const double arriving = gbps * 1e9 / 8 * (1 - line.loss);
  const double round_trip_s = 2 * line.latency_ms * 1e-3;
  if (line.loss <= 0 || round_trip_s <= 0) return arriving;
  const double of_connection = kSegmentBytes / round_trip_s * kMathis / std::sqrt(line.loss);
  return std::min(arriving, static_cast<double>(line.connections) * of_connection);
}

SiteLines::SiteLines(const Regions& regions) : sites_(static_cast<std::uint32_t>(regions.sites.size())) {
  check_range("/cluster/regions/sites", std::ssize(regions.sites), 1, kMostSites);
  check_link_count(2 * std::ssize(regions.links), "/cluster/regions/links");
  add_lines(regions);
  next_link_ = next_links(links_, sites_, sites_);
  check_connected(regions);
}

void SiteLines::add_lines(const Regions& regions) {
  for (std::size_t l = 0; l < regions.links.size(); ++l) {
    const SiteLink& line = regions.links[l];
    const std::string here = "/cluster/regions/links/" + std::to_string(l);
    const VertexId from{site_named(regions, line.from, here + "/from")};
    const VertexId to{site_named(regions, line.to, here + "/to")};
    if (from == to)
      throw InputError(here + "/to", "found \"" + line.to + "\"; allowed is another site than from");
    const Picoseconds latency = link_latency(line.latency_ms * 1e3, here + "/latency_ms");
    const double back = line.down_gbps > 0 ? line.down_gbps : line.up_gbps;
    const auto rate = [&](double gbps, const char* key) {
      return link_rate(usable_bytes_per_s(gbps, line), 1, here, key);
    };
    links_.push_back({from, to, rate(line.up_gbps, "up_gbps"), latency, LinkKind::wan});
    links_.push_back({to, from, rate(back, "down_gbps"), latency, LinkKind::wan});
  }
}

/// Lines go both ways, so it is enough that every site reaches the first one.
void SiteLines::check_connected(const Regions& regions) const {
  for (std::size_t s = 1; s < sites_; ++s) {
    if (next_link_[s] != kNoLink) continue;
    throw InputError("/cluster/regions/links", "found no way from site \"" + regions.sites[s].name +
                                                   "\" to site \"" + regions.sites[0].name +
                                                   "\"; allowed are links that join all sites");
  }
}

void SiteLines::route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& out) const {
  for (std::uint32_t at = from; at != to; at = index(links_[out.back()].to))
    out.push_back(next_link_[std::size_t{to} * sites_ + at]);
}

}  // namespace orrery
