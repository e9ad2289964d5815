#include "sim/run/contention.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "sim/cost/signature.hpp"

namespace orrery {
namespace {

/// Of a leg with this weight on a link, in units of FlowNetwork: bytes/s * kWeightOne.
Int128 demand_of(const Leg& leg, std::uint64_t weight) {
  return static_cast<Int128>(leg.rate) * static_cast<Int128>(weight);
}

}  // namespace

Contention::Contention(const Workload& workload, const Channels& channels, const PriceList& prices,
                       const Topology& topology)
    : workload_(workload), channels_(channels), prices_(prices), topology_(topology) {
  SignatureTable numbers;
  footprints_.reserve(workload.groups());
  for (const Channel& channel : channels.channels) list_footprints(channel, numbers);
  find_possible();
}

void Contention::list_footprints(const Channel& channel, SignatureTable& numbers) {
  std::vector<std::uint32_t> prices;
  std::vector<std::uint32_t> latest;  // first call, then prices: neighbours are mostly alike
  std::uint32_t bundle = 0;
  for (std::uint32_t place = 0; place < channel.groups.size(); ++place) {
    const auto transfer = [&](std::uint32_t call) -> const Transfer& {
      return prices_.transfers[channels_.calls[call].first_price + place];
    };
    for (std::uint32_t c = channel.first_call; c < channel.last_call;) {
      const std::uint32_t first_link = transfer(c).first_link;
      prices.assign(1, c);
      for (; c < channel.last_call && transfer(c).first_link == first_link; ++c)
        prices.push_back(transfer(c).price);
      if (prices != latest) {
        bundle = find_bundle(prices, numbers);
        latest = prices;
      }
      footprints_.push_back({channel.groups[place], bundle, first_link});
    }
  }
}

/// `what`: the first call, then the prices of it and those after it.
std::uint32_t Contention::find_bundle(std::span<const std::uint32_t> what, SignatureTable& numbers) {
  Signature key;
  for (const std::uint32_t word : what) key.append(word);
  const std::uint32_t number = numbers.number(key);
  if (number == bundles_.size()) add_bundle(what.front(), what.subspan(1));
  return number;
}

void Contention::add_bundle(std::uint32_t first_call, std::span<const std::uint32_t> prices) {
  Bundle& bundle = bundles_.emplace_back();
  for (const std::uint32_t price : prices) {
    bundle.calls.push_back(first_call++);
    add_price(bundle, bundle.calls.back(), prices_.prices[price]);
  }
}

void Contention::add_price(Bundle& bundle, std::uint32_t call, const Cost& price) const {
  for (std::uint32_t l = price.leg_begin; l < price.leg_end; ++l) {
    const Leg& leg = prices_.legs[l];
    for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
      const auto [link, weight] = prices_.uses[u];
      if (index(link) >= bundle.peak.size()) {
        bundle.peak.resize(index(link) + 1, 0);
        bundle.load.resize(index(link) + 1, 0);
      }
      const Int128 one = kWeightOne;
      const Int128 bytes_per_s = (demand_of(leg, weight) + one - 1) / one;
      std::int64_t& peak = bundle.peak[index(link)];
      peak = std::max(peak, static_cast<std::int64_t>(bytes_per_s));
      Signature load;
      load.append(call);
      load.append(l - price.leg_begin);
      load.append(static_cast<std::uint64_t>(leg.rate));
      load.append(weight);
      bundle.load[index(link)] += Signature::mix(load.a ^ load.b);
    }
  }
}

template <class Visit>
void Contention::for_each_link(Visit visit) const {
  for (const Footprint& footprint : footprints_) {
    const Bundle& bundle = bundles_[footprint.bundle];
    for (std::uint32_t place = 0; place < bundle.peak.size(); ++place)
      visit(footprint, bundle, place, index(prices_.links[footprint.first_link + place]));
  }
}

/// A group does one thing at a time, so the largest of a bundle counts.
void Contention::find_possible() {
  constexpr std::uint64_t kPlenty = std::uint64_t{1} << 62;
  std::vector<std::uint64_t>& demand = per_link_;
  demand.assign(topology_.links().size(), 0);
  for_each_link([&](const Footprint&, const Bundle& bundle, std::uint32_t place, std::uint32_t link) {
    demand[link] = std::min(demand[link] + static_cast<std::uint64_t>(bundle.peak[place]), kPlenty);
  });
  std::vector<bool> possible(demand.size());
  for (std::uint32_t link = 0; link < demand.size(); ++link) {
    possible[link] = demand[link] > static_cast<std::uint64_t>(topology_.links()[link].bytes_per_s);
  }
  possible_.reserve(static_cast<std::size_t>(std::ranges::count(possible, true)));
  for (std::uint32_t link = 0; link < demand.size(); ++link) {
    if (possible[link]) possible_.push_back(LinkId{link});
  }
  std::erase_if(footprints_, [&](const Footprint& footprint) {
    const auto first = prices_.links.begin() + footprint.first_link;
    const auto last = first + static_cast<std::ptrdiff_t>(bundles_[footprint.bundle].peak.size());
    return std::none_of(first, last, [&](LinkId link) { return possible[index(link)]; });
  });
}

namespace {

/// One look at a finished run.
class Inspection {
 public:
  Inspection(const Workload& workload, const Channels& channels, const PriceList& prices,
             const ExpandedGraph& expanded, const Timeline& timeline)
      : workload_(workload), channels_(channels), prices_(prices), expanded_(expanded), timeline_(timeline) {
    list_operations();
  }

  /// What a call of a group puts on the link at hand.
  struct Load {
    std::uint32_t group = 0;
    std::uint32_t call = 0;
    std::uint32_t place = 0;  ///< of the link in the price
  };

  [[nodiscard]] bool overloaded(std::int64_t bytes_per_s, std::span<const Load> loads) {
    changes_.clear();
    for (const Load& load : loads) add_changes(load);
    std::ranges::sort(changes_, {}, &Change::time);
    const Int128 capacity = static_cast<Int128>(bytes_per_s) * kWeightOne;
    Int128 demand = 0;
    for (std::size_t i = 0; i < changes_.size();) {
      const Picoseconds time = changes_[i].time;
      for (; i < changes_.size() && changes_[i].time == time; ++i) demand += changes_[i].by;
      if (demand > capacity) return true;
    }
    return false;
  }

 private:
  struct Change {
    Picoseconds time = 0;
    Int128 by = 0;
  };
  using End = std::tuple<std::uint32_t, std::uint16_t, std::uint32_t>;  // program, slot, message

  void list_operations() {
    for (std::uint32_t p = 0; p < workload_.programs.size(); ++p) {
      const auto& ops = workload_.programs[p].ops;
      for (std::uint32_t o = 0; o < ops.size(); ++o) {
        if (ops[o].kind == Op::Kind::communicate) operations_[{p, ops[o].slot, ops[o].work}].push_back(o);
      }
    }
  }

  /// A leg moves its data no earlier and no later than the legs before and after it leave it time for.
  void add_changes(const Load& load) {
    const Call& call = channels_.calls[load.call];
    const Transfer& transfer = prices_.transfers[call.first_price + channels_.group_place[load.group]];
    const Cost& price = prices_.prices[transfer.price];
    Picoseconds before = 0;
    for (std::uint32_t l = price.leg_begin; l < price.leg_end; ++l) {
      const Leg& leg = prices_.legs[l];
      before += leg.latency_ps;
      const Picoseconds after = price.duration_ps - before - leg.alone_ps;
      for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
        if (index(prices_.uses[u].link) == load.place && leg.alone_ps > 0)
          add_changes(load.group, call.request.work, before, after, demand_of(leg, prices_.uses[u].weight));
      }
      before += leg.alone_ps;
    }
  }

  void add_changes(std::uint32_t group, std::uint32_t message, Picoseconds before, Picoseconds after,
                   Int128 demand) {
    const std::uint32_t rank = workload_.members(group).front();
    const std::uint32_t cls = expanded_.stand_ins.class_of_rank[rank];
    std::uint16_t slot = 0;
    while (workload_.group(rank, slot) != group) ++slot;
    for (const std::uint32_t op : operations_[{workload_.program_of_rank[rank], slot, message}]) {
      const std::uint32_t task = expanded_.task(cls, op);
      changes_.push_back({timeline_.start_ps[task] + before, demand});
      changes_.push_back({timeline_.finish_ps[task] - after, -demand});
    }
  }

  const Workload& workload_;
  const Channels& channels_;
  const PriceList& prices_;
  const ExpandedGraph& expanded_;
  const Timeline& timeline_;
  std::map<End, std::vector<std::uint32_t>> operations_;
  std::vector<Change> changes_;
};

}  // namespace

/// Links that the same classes of groups load alike are overloaded together, so the first of them is
/// looked at.
std::vector<LinkId> Contention::overloaded(const Folded& folded, const ExpandedGraph& expanded,
                                           const Timeline& timeline) {
  std::vector<LinkId> links;
  links.reserve(possible_.size());
  std::ranges::set_difference(possible_, folded.shared.links, std::back_inserter(links));
  if (links.empty()) return links;
  const std::vector<std::uint64_t>& loads = hash_loads(folded);
  SignatureTable table;
  std::vector<std::uint32_t> kind;
  kind.reserve(links.size());
  std::vector<LinkId> first;
  for (const LinkId link : links) {
    kind.push_back(
        table.number({loads[index(link)], static_cast<std::uint64_t>(topology_.link(link).bytes_per_s)}));
    if (kind.back() == first.size()) first.push_back(link);
  }
  const std::vector<bool> over = inspect(first, expanded, timeline);
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
  for_each_link([&](const Footprint& by, const Bundle& bundle, std::uint32_t place, std::uint32_t link) {
    const std::uint64_t who = Signature::mix(folded.groups.class_of[by.group] + 1);
    loads[link] += Signature::mix(bundle.load[place] ^ who);
  });
  return loads;
}

/// Per link, in ascending order: whether it is overloaded.
std::vector<bool> Contention::inspect(std::span<const LinkId> links, const ExpandedGraph& expanded,
                                      const Timeline& timeline) const {
  std::vector<bool> asked(topology_.links().size());
  for (const LinkId link : links) asked[index(link)] = true;
  std::vector<std::vector<Inspection::Load>> loads(links.size());
  for_each_link([&](const Footprint& by, const Bundle& bundle, std::uint32_t place, std::uint32_t link) {
    if (!asked[link]) return;
    const auto at = std::ranges::lower_bound(links, LinkId{link}) - links.begin();
    for (const std::uint32_t call : bundle.calls)
      loads[static_cast<std::size_t>(at)].push_back({by.group, call, place});
  });
  Inspection inspection(workload_, channels_, prices_, expanded, timeline);
  std::vector<bool> over(links.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    over[i] = inspection.overloaded(topology_.link(links[i]).bytes_per_s, loads[i]);
  return over;
}

}  // namespace orrery
