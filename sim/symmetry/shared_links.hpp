// Finds links on which transfers may slow each other down, and the loads on them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/topology.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/channels.hpp"

namespace orrery {

struct SharedLinks {
  struct Use {
    std::uint32_t call = 0;
    std::uint32_t leg = 0;   ///< number within its price
    std::uint32_t link = 0;  ///< into `links`
    std::uint64_t weight = 0;
  };
  std::vector<LinkId> links;         ///< in ascending order
  std::vector<Use> uses;             ///< group after group
  std::vector<std::uint32_t> begin;  ///< per group + 1: its range in uses; empty if there are no links

  [[nodiscard]] std::span<const Use> of(std::uint32_t group) const {
    if (begin.empty()) return {};
    return {uses.data() + begin[group], uses.data() + begin[group + 1]};
  }
};

/// Returns the load that all transfers put on `links`, which are in ascending order.
[[nodiscard]] SharedLinks share_links(const Channels& channels, const PriceList& prices,
                                      const Topology& topology, std::vector<LinkId> links);

/// Returns the load on all links.
[[nodiscard]] SharedLinks share_all_links(const Channels& channels, const PriceList& prices,
                                          const Topology& topology);

}  // namespace orrery
