#include "sim/cost/transfer_pricer.hpp"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

/// What a leg puts on a link, up to 2^63 bytes.
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

/// The same message so often in a row. What would end after simulated time is put there, for the engine to
/// refuse.
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

/// Whether a group over several nodes has more than one, but not all, of the GPUs of a node.
bool splits_nodes(const Topology& topology, std::span<const std::uint32_t> members) {
  const auto node_of = [&](std::uint32_t rank) { return topology.node_of(GpuId{rank}); };
  const NodeId first = node_of(members.front());
  const std::int64_t beside = std::ranges::count(members, first, node_of);
  return beside > 1 && beside < topology.gpus_per_node() && beside < std::ssize(members);
}

Signature sign(const LaidCollective& collective) {
  Signature signature;
  for (const LaidRounds& way : collective) {
    signature.append(static_cast<std::uint64_t>(way.share_unit));
    signature.append(static_cast<std::uint64_t>(way.overhead.base_ps));
    signature.append(static_cast<std::uint64_t>(way.overhead.ramp_ps));
    signature.append(static_cast<std::uint64_t>(way.overhead.slowdown_ppm));
    signature.append(way.rounds.size());
    for (const LaidRound& round : way.rounds) {
      signature.append(static_cast<std::uint64_t>(round.latency_ps));
      signature.append(static_cast<std::uint64_t>(round.slowest.share));
      signature.append(static_cast<std::uint64_t>(round.slowest.bytes_per_s));
      signature.append(static_cast<std::uint64_t>(round.repeat));
    }
  }
  return signature;
}

}  // namespace

TransferPricer::TransferPricer(const Topology& topology,
                               const std::array<std::string, kCollectiveCount>& algorithms,
                               double split_node_efficiency, PriceList& list)
    : topology_(topology),
      pricer_(topology, algorithms),
      split_node_efficiency_(split_node_efficiency),
      list_(list) {
  number_makes();
}

Transfer TransferPricer::price(std::uint32_t message, const Message& what,
                               std::span<const std::uint32_t> members) {
  if (members.size() == 2 && what.collective == Collective::send_recv)
    return price_pair(message, what, members);
  if (topology_.links_per_node() > 0 && on_one_node(members)) return price_in_node(message, what, members);
  return price_anew(what, members);
}

std::uint32_t TransferPricer::node(std::uint32_t member) const {
  return index(topology_.node_of(GpuId{member}));
}

bool TransferPricer::on_one_node(std::span<const std::uint32_t> members) const {
  const std::uint32_t first = node(members.front()) * topology_.gpus_per_node();
  return std::ranges::all_of(
      members, [&](std::uint32_t member) { return member - first < topology_.gpus_per_node(); });
}

/// Links mostly alternate, out and in.
void TransferPricer::number_makes() {
  const std::vector<Link>& links = topology_.links();
  const auto alike = [](const Link& a, const Link& b) {
    return a.bytes_per_s == b.bytes_per_s && a.latency_ps == b.latency_ps;
  };
  SignatureTable table;
  makes_.reserve(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i >= 2 && alike(links[i], links[i - 2])) {
      makes_.push_back(makes_[i - 2]);
      continue;
    }
    Signature make;
    make.append(static_cast<std::uint64_t>(links[i].bytes_per_s));
    make.append(static_cast<std::uint64_t>(links[i].latency_ps));
    makes_.push_back(table.number(make));
  }
}

Transfer TransferPricer::price_pair(std::uint32_t message, const Message& what,
                                    std::span<const std::uint32_t> members) {
  links_.clear();
  topology_.route(GpuId{members[0]}, GpuId{members[1]}, links_);
  const bool near = node(members[0]) == node(members[1]);
  if (!like_latest_pair(message, near)) find_pair(message, near, what, members);
  return {latest_pair_, place_links()};
}

/// Neighbours are mostly alike.
bool TransferPricer::like_latest_pair(std::uint32_t message, bool near) const {
  return message == latest_message_ && near == latest_near_ &&
         std::ranges::equal(links_, latest_makes_, {}, [&](LinkId link) { return makes_[index(link)]; });
}

void TransferPricer::find_pair(std::uint32_t message, bool near, const Message& what,
                               std::span<const std::uint32_t> members) {
  latest_message_ = message;
  latest_near_ = near;
  latest_makes_.clear();
  for (const LinkId link : links_) latest_makes_.push_back(makes_[index(link)]);
  Signature key;
  key.append(message);
  key.append(near ? 1 : 0);
  for (const std::uint32_t make : latest_makes_) key.append(make);
  const std::uint32_t number = pair_table_.number(key);
  if (number == pairs_.size()) {
    price_message(what, members);
    pairs_.push_back(add_price());
  }
  latest_pair_ = pairs_[number];
}

Transfer TransferPricer::price_in_node(std::uint32_t message, const Message& what,
                                       std::span<const std::uint32_t> members) {
  const std::uint32_t here = node(members.front());
  Signature key;
  key.append(message);
  for (const std::uint32_t member : members) key.append(member - here * topology_.gpus_per_node());
  const std::uint32_t number = node_table_.number(key);
  const std::uint32_t first_link = here * topology_.links_per_node();
  if (number == in_node_.size()) {
    const Transfer first = price_anew(what, members);
    Known& known = in_node_.emplace_back(Known{first.price, {}});
    for (const LinkId link : links_) known.links.push_back(index(link) - first_link);
    return first;
  }
  links_.clear();
  for (const std::uint32_t link : in_node_[number].links) links_.push_back(LinkId{first_link + link});
  return {in_node_[number].price, place_links()};
}

Transfer TransferPricer::price_anew(const Message& what, std::span<const std::uint32_t> members) {
  price_message(what, members);
  links_.clear();
  for (const LinkUse& use : one_.uses) links_.push_back(use.link);
  if (one_.legs.size() > 1) {
    std::ranges::sort(links_);
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
  }
  const std::uint32_t price = add_price();
  return {price, place_links()};
}

void TransferPricer::price_message(const Message& what, std::span<const std::uint32_t> members) {
  pricer_.price(what, members, one_);
  adjust(what, what.dimension == Dimension::data && splits_nodes(topology_, members));
}

void TransferPricer::adjust(const Message& what, bool split) {
  slow_down(one_, what.wait_ps, what.efficiency * (split ? split_node_efficiency_ : 1));
  if (what.times > 1) repeat(one_, what.times);
}

/// Groups of the same GPUs of alike nodes, and pairs whose ways have equal links, are known before they are
/// laid.
std::uint32_t TransferPricer::lay(const Message& what, std::span<const std::uint32_t> members) {
  Signature key;
  key.append(static_cast<std::uint64_t>(what.collective));
  key.append(what.servers);
  const bool near = on_one_node(members);
  key.append(near ? 1 : 0);
  if (near && topology_.links_per_node() > 0) {
    const std::uint32_t first = node(members.front()) * topology_.gpus_per_node();
    for (const std::uint32_t member : members) key.append(member - first);
  } else if (members.size() == 2 && what.collective == Collective::send_recv) {
    append_way(members, key);
  } else if (members.size() == 2 && !near) {
    append_ways(members, key);
  } else {
    return lay_anew(what, members);
  }
  const std::uint32_t number = near_table_.number(key);
  if (number == laid_of_near_.size()) laid_of_near_.push_back(lay_anew(what, members));
  return laid_of_near_[number];
}

void TransferPricer::append_way(std::span<const std::uint32_t> pair, Signature& key) {
  links_.clear();
  topology_.route(GpuId{pair[0]}, GpuId{pair[1]}, links_);
  for (const LinkId link : links_) key.append(makes_[index(link)]);
}

/// There and back: what their links are, and where they meet again.
void TransferPricer::append_ways(std::span<const std::uint32_t> pair, Signature& key) {
  links_.clear();
  topology_.route(GpuId{pair[0]}, GpuId{pair[1]}, links_);
  key.append(links_.size());
  topology_.route(GpuId{pair[1]}, GpuId{pair[0]}, links_);
  for (const LinkId link : links_) key.append(std::uint64_t{makes_[index(link)]} << 32 | place_of(link, 0));
}

std::uint32_t TransferPricer::lay_anew(const Message& what, std::span<const std::uint32_t> members) {
  Laid laid{pricer_.lay(what, members), splits_nodes(topology_, members)};
  Signature content = sign(laid.collective);
  content.append(laid.splits_nodes ? 1 : 0);
  const std::uint32_t number = laid_table_.number(content);
  if (number == laid_.size()) laid_.push_back(std::move(laid));
  return number;
}

Picoseconds TransferPricer::duration_ps(std::uint32_t laid, const Message& what) {
  const Laid& known = laid_[laid];
  pricer_.price(known.collective, what.bytes, one_);
  adjust(what, what.dimension == Dimension::data && known.splits_nodes);
  return one_.alone_ps();
}

/// The price at hand, with its links as places in links_, if it is not in the list yet.
std::uint32_t TransferPricer::add_price() {
  std::uint32_t place = 0;
  for (LinkUse& use : one_.uses) {
    place = place_of(use.link, place);
    use.link = LinkId{place};
  }
  Signature content;
  for (const Leg& leg : one_.legs) {
    content.append(static_cast<std::uint64_t>(leg.latency_ps));
    content.append(static_cast<std::uint64_t>(leg.alone_ps));
    content.append(static_cast<std::uint64_t>(leg.rate));
    content.append(leg.use_end - leg.use_begin);
  }
  append_uses(content);
  const std::uint32_t number = price_table_.number(content);
  if (number < number_of_price_.size()) return number_of_price_[number];
  number_of_price_.push_back(static_cast<std::uint32_t>(list_.prices.size()));
  const auto first_use = static_cast<std::uint32_t>(list_.uses.size());
  Cost cost{one_.alone_ps(), static_cast<std::uint32_t>(list_.legs.size()), 0};
  for (Leg leg : one_.legs) {
    for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u)
      use_bytes_.push_back(bytes_on(leg, one_.uses[u]));
    leg.use_begin += first_use;
    leg.use_end += first_use;
    list_.legs.push_back(leg);
  }
  list_.uses.insert(list_.uses.end(), one_.uses.begin(), one_.uses.end());
  cost.leg_end = static_cast<std::uint32_t>(list_.legs.size());
  list_.prices.push_back(cost);
  list_.leads.push_back(0);
  return static_cast<std::uint32_t>(list_.prices.size() - 1);
}

/// Uses of neighbouring links with one weight are taken together.
void TransferPricer::append_uses(Signature& content) const {
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
std::uint32_t TransferPricer::place_of(LinkId link, std::uint32_t place) const {
  while (links_[place] != link) place = place + 1 < links_.size() ? place + 1 : 0;
  return place;
}

/// Messages of one communicator that cross the same links share their list.
std::uint32_t TransferPricer::place_links() {
  const std::size_t placed = list_.links.size();
  if (placed >= links_.size() && std::equal(links_.begin(), links_.end(),
                                            list_.links.end() - static_cast<std::ptrdiff_t>(links_.size())))
    return static_cast<std::uint32_t>(placed - links_.size());
  list_.links.insert(list_.links.end(), links_.begin(), links_.end());
  return static_cast<std::uint32_t>(placed);
}

}  // namespace orrery
