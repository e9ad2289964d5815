#include "sim/cost/channel_pricer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace orrery {
namespace {

/// Returns the bytes that a leg puts on a link, capped near 2^63.
std::uint64_t bytes_on(const Leg& leg, const LinkUse& use) {
  constexpr double kMost = 9e18;
  const double rate =
      static_cast<double>(leg.rate) * static_cast<double>(use.weight) / static_cast<double>(kWeightOne);
  return static_cast<std::uint64_t>(std::min(rate * to_seconds(leg.alone_ps) + 0.5, kMost));
}

/// Links idle before the data move: until the last rank has come, and where software does not keep them
/// busy.
void slow_down(TransferPrice& price, Picoseconds wait, double efficiency) {
  if (price.legs.empty()) return;
  price.legs.front().latency_ps += wait;
  if (efficiency >= 1) return;
  Picoseconds data = 0;
  for (const Leg& leg : price.legs) data += leg.alone_ps;
  const double more = static_cast<double>(data) * (1 / efficiency - 1);
  price.legs.front().latency_ps += static_cast<Picoseconds>(more + 0.5);
}

/// Multiplies a price by `times` for equal messages in a row. A price beyond the end of simulated time is set
/// to that end, and the engine refuses it.
void repeat(TransferPrice& price, std::uint32_t times) {
  constexpr Picoseconds kEnd = Picoseconds{1} << 62;
  if (Int128{price.alone_ps()} * times > kEnd) {
    price.legs.front().latency_ps = kEnd;
    return;
  }
  for (Leg& leg : price.legs) {
    leg.latency_ps *= times;
    leg.alone_ps *= times;
  }
}

/// Returns true if a group over several domains has more than one, but not all, of the GPUs of a node.
bool splits_nodes(const Topology& topology, std::span<const std::uint32_t> members) {
  const auto node_of = [&](std::uint32_t rank) { return topology.node_of(GpuId{rank}); };
  const auto domain_of = [&](std::uint32_t rank) { return topology.domain_of(GpuId{rank}); };
  const std::int64_t beside = std::ranges::count(members, node_of(members.front()), node_of);
  if (beside <= 1 || beside >= topology.gpus_per_node()) return false;
  return std::ranges::count(members, domain_of(members.front()), domain_of) < std::ssize(members);
}

ContentHash content_of_routes(const RoutedCollective& collective) {
  ContentHash content;
  for (const RoutedRounds& way : collective) {
    content.append(static_cast<std::uint64_t>(way.share_unit));
    content.append(static_cast<std::uint64_t>(way.overhead.base_ps));
    content.append(static_cast<std::uint64_t>(way.overhead.ramp_ps));
    content.append(static_cast<std::uint64_t>(way.overhead.slowdown_ppm));
    content.append(way.rounds.size());
    for (const RoutedRound& round : way.rounds) {
      content.append(static_cast<std::uint64_t>(round.latency_ps));
      content.append(static_cast<std::uint64_t>(round.slowest.share));
      content.append(static_cast<std::uint64_t>(round.slowest.bytes_per_s));
      content.append(static_cast<std::uint64_t>(round.repeat));
    }
  }
  return content;
}

}  // namespace

std::size_t ChannelRoutes::bytes() const {
  std::size_t sum = sizeof *this + of_place.bytes();
  for (const RoutedGroup& group : groups) {
    sum += sizeof group;
    for (const RoutedRounds& way : group.collective)
      sum += sizeof way + way.rounds.size() * sizeof(RoutedRound);
  }
  return sum;
}

std::size_t ChannelPrice::bytes() const {
  const std::size_t shared = (links->begin.size() + links->links.size()) * sizeof(std::uint32_t);
  return sizeof *this + of_place.bytes() + costs.size() * sizeof(Cost) + legs.size() * sizeof(Leg) +
         uses.size() * (sizeof(LinkUse) + sizeof(std::uint64_t)) + shared;
}

std::vector<std::uint32_t> number_link_kinds(const Topology& topology) {
  const std::vector<Link>& links = topology.links();
  const auto alike = [](const Link& a, const Link& b) {
    return a.bytes_per_s == b.bytes_per_s && a.latency_ps == b.latency_ps;
  };
  ContentTable table;
  std::vector<std::uint32_t> kinds;
  kinds.reserve(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const bool alternates = i >= 2 && alike(links[i], links[i - 2]);  // mostly out and in
    kinds.push_back(alternates ? kinds[i - 2]
                               : table.number(content_of(links[i].bytes_per_s, links[i].latency_ps)));
  }
  return kinds;
}

Picoseconds RoutedPricer::duration_ps(const RoutedGroup& group, const Message& message) {
  best_.legs.clear();
  for (const RoutedRounds& way : group.collective) {
    candidate_.legs.clear();
    way.append(message.bytes, candidate_.legs);
    const bool first = &way == group.collective.data();
    if (first || candidate_.alone_ps() < best_.alone_ps()) std::swap(best_.legs, candidate_.legs);
  }
  adjust(message, group.splits_nodes, best_);
  return best_.alone_ps();
}

void RoutedPricer::adjust(const Message& message, bool splits_nodes, TransferPrice& price) const {
  const bool slower = splits_nodes && message.dimension == Dimension::data;
  slow_down(price, message.wait_ps, message.efficiency * (slower ? split_node_efficiency_ : 1));
  if (message.times > 1) repeat(price, message.times);
}

ChannelPricer::ChannelPricer(const Topology& topology, std::span<const std::uint32_t> link_kinds,
                             const std::array<std::string, kCollectiveCount>& algorithms,
                             double split_node_efficiency)
    : topology_(topology),
      link_kinds_(link_kinds),
      pricer_(topology, algorithms),
      routed_(split_node_efficiency) {}

ChannelRoutes ChannelPricer::route(const Workload& workload, const Channel& channel, const Message& message) {
  ChannelRoutes routes;
  std::vector<std::uint32_t> of_place;
  of_place.reserve(channel.groups.size());
  near_table_ = {};
  route_table_ = {};
  route_of_near_.clear();
  for (const std::uint32_t group : channel.groups)
    of_place.push_back(route_group(message, workload.members(group), routes.groups));
  routes.of_place = std::move(of_place);
  return routes;
}

ChannelPrice ChannelPricer::price(const Workload& workload, const Channel& channel, const Message& message,
                                  const ChannelPrice* like) {
  begin();
  ChannelLinks links;
  std::vector<std::uint32_t> of_place;
  of_place.reserve(channel.groups.size());
  links.begin.reserve(channel.groups.size() + 1);
  for (const std::uint32_t group : channel.groups) {
    of_place.push_back(price_group(message, workload.members(group)));
    links.begin.push_back(static_cast<std::uint32_t>(links.links.size()));
    links.links.insert(links.links.end(), links_.begin(), links_.end());
  }
  links.begin.push_back(static_cast<std::uint32_t>(links.links.size()));
  made_.of_place = std::move(of_place);
  made_.links = like != nullptr && *like->links == links
                    ? like->links
                    : std::make_shared<const ChannelLinks>(std::move(links));
  return std::move(made_);
}

void ChannelPricer::begin() {
  made_ = {};
  pair_table_ = {};
  domain_table_ = {};
  price_table_ = {};
  pairs_.clear();
  in_domain_.clear();
  has_latest_ = false;
}

/// Its price; its links are in links_ then.
std::uint32_t ChannelPricer::price_group(const Message& message, std::span<const std::uint32_t> members) {
  if (members.size() == 2 && message.collective == Collective::send_recv) return price_pair(message, members);
  if (topology_.links_per_domain() > 0 && in_one_domain(members)) return price_in_domain(message, members);
  return price_anew(message, members);
}

std::uint32_t ChannelPricer::domain(std::uint32_t member) const {
  return index(topology_.domain_of(GpuId{member}));
}

bool ChannelPricer::in_one_domain(std::span<const std::uint32_t> members) const {
  const std::uint32_t first = domain(members.front()) * topology_.gpus_per_domain();
  return std::ranges::all_of(
      members, [&](std::uint32_t member) { return member - first < topology_.gpus_per_domain(); });
}

std::uint32_t ChannelPricer::price_pair(const Message& message, std::span<const std::uint32_t> members) {
  links_.clear();
  topology_.route(GpuId{members[0]}, GpuId{members[1]}, links_);
  const bool near = domain(members[0]) == domain(members[1]);
  if (!like_latest_pair(near)) find_pair(near, message, members);
  return latest_pair_;
}

/// Neighbours are mostly alike.
bool ChannelPricer::like_latest_pair(bool near) const {
  return has_latest_ && near == latest_near_ &&
         std::ranges::equal(links_, latest_kinds_, {}, [&](LinkId link) { return link_kinds_[index(link)]; });
}

void ChannelPricer::find_pair(bool near, const Message& message, std::span<const std::uint32_t> members) {
  has_latest_ = true;
  latest_near_ = near;
  latest_kinds_.clear();
  for (const LinkId link : links_) latest_kinds_.push_back(link_kinds_[index(link)]);
  ContentHash key;
  key.append(near ? 1 : 0);
  for (const std::uint32_t kind : latest_kinds_) key.append(kind);
  const std::uint32_t number = pair_table_.number(key);
  if (number == pairs_.size()) {
    price_message(message, members);
    pairs_.push_back(add_price());
  }
  latest_pair_ = pairs_[number];
}

std::uint32_t ChannelPricer::price_in_domain(const Message& message, std::span<const std::uint32_t> members) {
  const std::uint32_t here = domain(members.front());
  ContentHash key;
  for (const std::uint32_t member : members) key.append(member - here * topology_.gpus_per_domain());
  const std::uint32_t number = domain_table_.number(key);
  const std::uint32_t first_link = here * topology_.links_per_domain();
  if (number == in_domain_.size()) {
    Known& known = in_domain_.emplace_back(Known{price_anew(message, members), {}});
    for (const LinkId link : links_) known.links.push_back(index(link) - first_link);
    return known.price;
  }
  links_.clear();
  for (const std::uint32_t link : in_domain_[number].links) links_.push_back(LinkId{first_link + link});
  return in_domain_[number].price;
}

std::uint32_t ChannelPricer::price_anew(const Message& message, std::span<const std::uint32_t> members) {
  price_message(message, members);
  links_.clear();
  for (const LinkUse& use : one_.uses) links_.push_back(use.link);
  if (one_.legs.size() > 1) {
    std::ranges::sort(links_);
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
  }
  return add_price();
}

void ChannelPricer::price_message(const Message& message, std::span<const std::uint32_t> members) {
  pricer_.price(message, members, one_);
  routed_.adjust(message, splits_nodes(topology_, members), one_);
}

/// Groups of the same GPUs of alike domains, and pairs whose ways have equal links, are known before they are
/// routed.
std::uint32_t ChannelPricer::route_group(const Message& message, std::span<const std::uint32_t> members,
                                         std::vector<RoutedGroup>& groups) {
  ContentHash key;
  const bool near = in_one_domain(members);
  key.append(near ? 1 : 0);
  if (near && topology_.links_per_domain() > 0) {
    const std::uint32_t first = domain(members.front()) * topology_.gpus_per_domain();
    for (const std::uint32_t member : members) key.append(member - first);
  } else if (members.size() == 2 && message.collective == Collective::send_recv) {
    append_way(members, key);
  } else if (members.size() == 2 && !near) {
    append_ways(members, key);
  } else {
    return route_anew(message, members, groups);
  }
  const std::uint32_t number = near_table_.number(key);
  if (number == route_of_near_.size()) route_of_near_.push_back(route_anew(message, members, groups));
  return route_of_near_[number];
}

void ChannelPricer::append_way(std::span<const std::uint32_t> pair, ContentHash& key) {
  links_.clear();
  topology_.route(GpuId{pair[0]}, GpuId{pair[1]}, links_);
  for (const LinkId link : links_) key.append(link_kinds_[index(link)]);
}

/// Appends the routes of both directions: their links, and the links they share.
void ChannelPricer::append_ways(std::span<const std::uint32_t> pair, ContentHash& key) {
  links_.clear();
  topology_.route(GpuId{pair[0]}, GpuId{pair[1]}, links_);
  key.append(links_.size());
  topology_.route(GpuId{pair[1]}, GpuId{pair[0]}, links_);
  for (const LinkId link : links_)
    key.append(std::uint64_t{link_kinds_[index(link)]} << 32 | place_of(link, 0));
}

std::uint32_t ChannelPricer::route_anew(const Message& message, std::span<const std::uint32_t> members,
                                        std::vector<RoutedGroup>& groups) {
  RoutedGroup group{pricer_.route(message, members), splits_nodes(topology_, members)};
  ContentHash content = content_of_routes(group.collective);
  content.append(group.splits_nodes ? 1 : 0);
  const std::uint32_t number = route_table_.number(content);
  if (number == groups.size()) groups.push_back(std::move(group));
  return number;
}

/// The price at hand, with its links as places in links_, if it is not there yet.
std::uint32_t ChannelPricer::add_price() {
  std::uint32_t place = 0;
  for (LinkUse& use : one_.uses) {
    place = place_of(use.link, place);
    use.link = LinkId{place};
  }
  ContentHash content;
  for (const Leg& leg : one_.legs) {
    content.append(static_cast<std::uint64_t>(leg.latency_ps));
    content.append(static_cast<std::uint64_t>(leg.alone_ps));
    content.append(static_cast<std::uint64_t>(leg.rate));
    content.append(leg.use_end - leg.use_begin);
  }
  append_uses(content);
  const std::uint32_t number = price_table_.number(content);
  if (number < made_.costs.size()) return number;
  const auto first_use = static_cast<std::uint32_t>(made_.uses.size());
  Cost cost{one_.alone_ps(), static_cast<std::uint32_t>(made_.legs.size()), 0};
  for (Leg leg : one_.legs) {
    for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u)
      made_.use_bytes.push_back(bytes_on(leg, one_.uses[u]));
    leg.use_begin += first_use;
    leg.use_end += first_use;
    made_.legs.push_back(leg);
  }
  made_.uses.insert(made_.uses.end(), one_.uses.begin(), one_.uses.end());
  cost.leg_end = static_cast<std::uint32_t>(made_.legs.size());
  made_.costs.push_back(cost);
  return number;
}

/// Uses of neighbouring links with one weight are taken together.
void ChannelPricer::append_uses(ContentHash& content) const {
  const auto& uses = one_.uses;
  for (std::size_t i = 0; i < uses.size();) {
    const std::size_t first = i;
    do ++i;
    while (i < uses.size() && uses[i].weight == uses[first].weight &&
           index(uses[i].link) == index(uses[i - 1].link) + 1);
    content.append(index(uses[first].link));
    content.append(uses[first].weight);
    content.append(i - first);
  }
}

/// Where the link is in links_, looked for from `place` on.
std::uint32_t ChannelPricer::place_of(LinkId link, std::uint32_t place) const {
  while (links_[place] != link) place = place + 1 < links_.size() ? place + 1 : 0;
  return place;
}

}  // namespace orrery
