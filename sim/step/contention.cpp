#include "sim/step/contention.hpp"

#include <algorithm>
#include <iterator>

#include "orrery/content_hash.hpp"
#include "sim/step/link_inspection.hpp"

namespace orrery {
namespace {

/// Mostly one list for both.
bool same_links(std::span<const LinkId> a, std::span<const LinkId> b) {
  return (a.data() == b.data() && a.size() == b.size()) || std::ranges::equal(a, b);
}

}  // namespace

Contention::Contention(const Workload& workload, const Channels& channels, const PriceList& prices,
                       const Topology& topology)
    : workload_(workload), channels_(channels), prices_(prices), topology_(topology) {
  look_at_operations();
  ContentTable numbers;
  footprints_.reserve(workload.groups());
  for (const Channel& channel : channels.channels) list_footprints(channel, numbers);
  find_possible();
}

void Contention::look_at_operations() {
  gathers_.assign(workload_.messages.size(), false);
  between_stages_.assign(channels_.channels.size(), false);
  for (std::size_t p = 0; p < workload_.programs.size(); ++p) {
    for (const Op& op : workload_.programs[p].ops) {
      if (op.kind != Op::Kind::communicate) continue;
      if (op.stream == Stream::gather) gathers_[op.work] = true;
      if (op.part == Part::stage) between_stages_[channels_.channel_of[p * workload_.slots + op.slot]] = true;
    }
  }
}

bool Contention::has_passes(const Channel& channel) const {
  for (std::uint32_t c = channel.first_call; c < channel.last_call; ++c)
    if (channels_.calls[c].request.pass) return true;
  return false;
}

template <class Visit>
void Contention::for_each_message(const Channel& channel, Visit visit) const {
  for (std::uint32_t c = channel.first_call; c < channel.last_call; ++c) {
    if (!channels_.calls[c].request.pass) visit(c, prices_.calls[c]);
    for (const CallPrice& message : prices_.in_passes[c]) visit(c, message);
  }
}

void Contention::list_pass_footprints(const Channel& channel, ContentTable& numbers) {
  for (std::uint32_t place = 0; place < channel.groups.size(); ++place) {
    ContentHash key = content_of(std::uint64_t{channel.first_call}, true);
    std::span<const LinkId> links;
    for_each_message(channel, [&](std::uint32_t, const CallPrice& message) {
      const std::span<const LinkId> own = message.links(place);
      if (own.empty()) return;
      unlike_ = unlike_ || !(links.empty() || same_links(links, own));
      links = own;
      key.append(message.of_place[place]);
    });
    if (links.empty()) continue;
    if (unlike_) return;
    const std::uint32_t number = numbers.number(key);
    if (number == bundles_.size()) {
      Bundle& bundle = bundles_.emplace_back();
      bundle.has_passes = true;
      bundle.calls.push_back(channel.first_call);
      for_each_message(channel, [&](std::uint32_t call, const CallPrice& message) {
        if (!message.links(place).empty()) add_price(bundle, call, message, message.of_place[place]);
      });
    }
    footprints_.push_back({channel.groups[place], number, links.data()});
  }
}

void Contention::list_footprints(const Channel& channel, ContentTable& numbers) {
  if (has_passes(channel)) return list_pass_footprints(channel, numbers);
  std::vector<std::uint32_t> prices;
  std::vector<std::uint32_t> latest;  // first call, then prices: neighbours are mostly alike
  std::uint32_t bundle = 0;
  for (std::uint32_t place = 0; place < channel.groups.size(); ++place) {
    for (std::uint32_t c = channel.first_call; c < channel.last_call;) {
      const std::span<const LinkId> links = prices_.calls[c].links(place);
      prices.assign(1, c);
      for (; c < channel.last_call && same_links(prices_.calls[c].links(place), links); ++c)
        prices.push_back(prices_.calls[c].of_place[place]);
      if (prices != latest) {
        bundle = find_bundle(prices, numbers);
        latest = prices;
      }
      footprints_.push_back({channel.groups[place], bundle, links.data()});
    }
  }
}

/// `what` lists the first call, then the prices of it and of the following calls.
std::uint32_t Contention::find_bundle(std::span<const std::uint32_t> what, ContentTable& numbers) {
  ContentHash key;
  for (const std::uint32_t word : what) key.append(word);
  const std::uint32_t number = numbers.number(key);
  if (number == bundles_.size()) add_bundle(what.front(), what.subspan(1));
  return number;
}

void Contention::add_bundle(std::uint32_t first_call, std::span<const std::uint32_t> prices) {
  Bundle& bundle = bundles_.emplace_back();
  for (const std::uint32_t price : prices) {
    bundle.calls.push_back(first_call++);
    add_price(bundle, bundle.calls.back(), prices_.calls[bundle.calls.back()], price);
  }
}

void Contention::add_price(Bundle& bundle, std::uint32_t call, const CallPrice& of_call,
                           std::uint32_t price) const {
  const Cost& cost = of_call.costs[price];
  const Request request = channels_.calls[call].request;
  std::vector<std::int64_t>& peaks = !request.pass && gathers_[request.work] ? bundle.gathers : bundle.peak;
  for (std::uint32_t l = cost.leg_begin; l < cost.leg_end; ++l) {
    const Leg& leg = of_call.routed->legs[l];
    for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
      const auto [link, weight] = of_call.routed->uses[u];
      if (index(link) >= bundle.peak.size()) {
        bundle.peak.resize(index(link) + 1, 0);
        bundle.gathers.resize(index(link) + 1, 0);
        bundle.load.resize(index(link) + 1, 0);
      }
      const Int128 one = kWeightOne;
      const Int128 bytes_per_s = (demand_of(leg, weight) + one - 1) / one;
      std::int64_t& peak = peaks[index(link)];
      peak = std::max(peak, static_cast<std::int64_t>(bytes_per_s));
      ContentHash load;
      load.append(call);
      load.append(l - cost.leg_begin);
      load.append(static_cast<std::uint64_t>(leg.rate));
      load.append(weight);
      bundle.load[index(link)] += ContentHash::scramble(load.a ^ load.b);
    }
  }
}

template <class Visit>
void Contention::for_each_link(Visit visit) const {
  for (const LinkLoad& footprint : footprints_) {
    const Bundle& bundle = bundles_[footprint.bundle];
    for (std::uint32_t place = 0; place < bundle.peak.size(); ++place)
      visit(footprint, bundle, place, index(footprint.links[place]));
  }
}

/// A group does one thing at a time, and gathers beside it, so the largest of a bundle counts for each.
void Contention::find_possible() {
  constexpr std::uint64_t kPlenty = std::uint64_t{1} << 62;
  std::vector<std::uint64_t>& demand = per_link_;
  demand.assign(topology_.links().size(), 0);
  for_each_link([&](const LinkLoad&, const Bundle& bundle, std::uint32_t place, std::uint32_t link) {
    for (const std::int64_t peak : {bundle.peak[place], bundle.gathers[place]})
      demand[link] = std::min(demand[link] + static_cast<std::uint64_t>(peak), kPlenty);
  });
  std::vector<bool> possible(demand.size());
  for (std::uint32_t link = 0; link < demand.size(); ++link) {
    possible[link] = demand[link] > static_cast<std::uint64_t>(topology_.links()[link].bytes_per_s);
  }
  possible_.reserve(static_cast<std::size_t>(std::ranges::count(possible, true)));
  for (std::uint32_t link = 0; link < demand.size(); ++link) {
    if (possible[link]) possible_.push_back(LinkId{link});
  }
  std::erase_if(footprints_, [&](const LinkLoad& footprint) {
    const std::span links(footprint.links, bundles_[footprint.bundle].peak.size());
    return std::ranges::none_of(links, [&](LinkId link) { return possible[index(link)]; });
  });
  for_each_link([&](const LinkLoad&, const Bundle& bundle, std::uint32_t, std::uint32_t link) {
    if (!bundle.has_passes) return;
    if (of_passes_.empty()) of_passes_.resize(possible.size());
    of_passes_[link] = true;
  });
}

void Contention::erase_those_of_passes(std::vector<LinkId>& links) const {
  if (!of_passes_.empty()) std::erase_if(links, [this](LinkId link) { return of_passes_[index(link)]; });
}

std::vector<LinkId> Contention::possible_beside_passes() const {
  std::vector<LinkId> links = possible_;
  erase_those_of_passes(links);
  return links;
}

std::vector<LinkId> Contention::between_stages() const {
  std::vector<bool> crossed(topology_.links().size());
  for_each_link([&](const LinkLoad& by, const Bundle&, std::uint32_t, std::uint32_t link) {
    if (between_stages_[channels_.channel_group[by.group]]) crossed[link] = true;
  });
  std::vector<LinkId> links;
  for (const LinkId link : possible_)
    if (crossed[index(link)] && topology_.link(link).kind == LinkKind::nic) links.push_back(link);
  erase_those_of_passes(links);
  return links;
}

bool Contention::slow_passes(const std::vector<LinkId>& links) const {
  if (unlike_) return true;
  if (of_passes_.empty()) return false;
  return std::ranges::any_of(links, [this](LinkId link) { return of_passes_[index(link)]; });
}

/// Links that the same classes of groups load alike are overloaded together, so the first of them is
/// looked at.
std::vector<LinkId> Contention::overloaded(const Folded& folded, const ExpandedGraph& expanded,
                                           const Timeline& timeline) {
  std::vector<LinkId> links;
  links.reserve(possible_.size());
  std::ranges::set_difference(possible_, folded.shared.links, std::back_inserter(links));
  if (links.empty()) return links;
  const std::vector<std::uint64_t>& loads = hash_loads(folded);
  ContentTable table;
  std::vector<std::uint32_t> kind;
  kind.reserve(links.size());
  std::vector<LinkId> first;
  for (const LinkId link : links) {
    kind.push_back(
        table.number({loads[index(link)], static_cast<std::uint64_t>(topology_.link(link).bytes_per_s)}));
    if (kind.back() == first.size()) first.push_back(link);
  }
  const std::vector<bool> over = inspect(first, folded, expanded, timeline);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (over[kind[i]]) links[kept++] = links[i];
  }
  links.resize(kept);
  return links;
}

const std::vector<std::uint64_t>& Contention::hash_loads(const Folded& folded) {
  std::vector<std::uint64_t>& loads = per_link_;
  std::ranges::fill(loads, 0);
  for_each_link([&](const LinkLoad& by, const Bundle& bundle, std::uint32_t place, std::uint32_t link) {
    const std::uint64_t who = ContentHash::scramble(folded.groups.class_of[by.group] + 1);
    loads[link] += ContentHash::scramble(bundle.load[place] ^ who);
  });
  return loads;
}

/// Per link, in ascending order: whether it is overloaded.
std::vector<bool> Contention::inspect(std::span<const LinkId> links, const Folded& folded,
                                      const ExpandedGraph& expanded, const Timeline& timeline) const {
  std::vector<std::uint32_t> number(topology_.links().size(), kNone);
  for (std::uint32_t i = 0; i < links.size(); ++i) number[index(links[i])] = i;
  std::vector<std::vector<LinkInspection::Load>> loads(links.size());
  for_each_link([&](const LinkLoad& by, const Bundle& bundle, std::uint32_t place, std::uint32_t link) {
    if (number[link] == kNone) return;
    if (bundle.has_passes) {
      if (bundle.peak[place] == 0) return;
      loads[number[link]].push_back({folded.groups.class_of[by.group], bundle.calls.front(), by.bundle, place,
                                     by.group, 1, bundle.peak[place]});
      return;
    }
    for (const std::uint32_t call : bundle.calls) {
      const std::uint32_t cost = prices_.calls[call].of_place[channels_.group_place[by.group]];
      loads[number[link]].push_back({folded.groups.class_of[by.group], call, cost, place, by.group, 1});
    }
  });
  LinkInspection inspection(workload_, channels_, prices_, expanded, timeline);
  std::vector<bool> over(links.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    over[i] = inspection.overloaded(topology_.link(links[i]).bytes_per_s, loads[i]);
  return over;
}

}  // namespace orrery
