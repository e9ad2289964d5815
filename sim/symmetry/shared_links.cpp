#include "sim/symmetry/shared_links.hpp"

#include <utility>

namespace orrery {

SharedLinks share_links(const Channels& channels, const PriceList& prices, const Topology& topology,
                        std::vector<LinkId> links) {
  SharedLinks shared;
  shared.links = std::move(links);
  if (shared.links.empty()) return shared;
  std::vector<std::uint32_t> place(topology.links().size(), kNone);  // among those shared
  for (std::uint32_t i = 0; i < shared.links.size(); ++i) place[index(shared.links[i])] = i;
  const auto groups = static_cast<std::uint32_t>(channels.channel_group.size());
  shared.begin.reserve(groups + 1);
  for (std::uint32_t group = 0; group < groups; ++group) {
    shared.begin.push_back(static_cast<std::uint32_t>(shared.uses.size()));
    const Channel& channel = channels.channels[channels.channel_group[group]];
    for (std::uint32_t c = channel.first_call; c < channel.last_call; ++c) {
      const auto add = [&](std::uint32_t leg, const Leg&, LinkId link, std::uint64_t weight) {
        if (place[index(link)] != kNone) shared.uses.push_back({c, leg, place[index(link)], weight});
      };
      prices.calls[c].for_each_use(channels.group_place[group], add);
    }
  }
  shared.begin.push_back(static_cast<std::uint32_t>(shared.uses.size()));
  return shared;
}

SharedLinks share_all_links(const Channels& channels, const PriceList& prices, const Topology& topology) {
  std::vector<LinkId> links(topology.links().size());
  for (std::uint32_t i = 0; i < links.size(); ++i) links[i] = LinkId{i};
  return share_links(channels, prices, topology, std::move(links));
}

}  // namespace orrery
