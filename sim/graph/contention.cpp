#include "sim/graph/contention.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/graph/signature.hpp"

namespace orrery {
namespace {

/// Of a leg with this weight on a link, in units of FlowNetwork: bytes/s * kWeightOne.
Int128 demand_of(const Leg& leg, std::uint64_t weight) {
  return static_cast<Int128>(leg.rate) * static_cast<Int128>(weight);
}

}  // namespace

Contention::Contention(const Workload& workload, const Channels& channels, const PriceList& prices,
                       const Topology& topology)
    : workload_(workload),
      channels_(channels),
      prices_(prices),
      topology_(topology),
      demand_(topology.links().size(), 0) {
  describe_prices();
  for (const Channel& channel : channels.channels) {
    for (std::uint32_t place = 0; place < channel.groups.size(); ++place) add_demands(channel, place);
  }
}

void Contention::describe_prices() {
  for (const Cost& price : prices_.prices) {
    first_place_.push_back(static_cast<std::uint32_t>(peak_.size()));
    const auto [first, last] = prices_.uses_of(price);
    std::uint32_t links = 0;
    for (std::uint32_t u = first; u < last; ++u) links = std::max(links, index(prices_.uses[u].link) + 1);
    peak_.resize(peak_.size() + links, 0);
    load_.resize(load_.size() + links, 0);
    for (std::uint32_t l = price.leg_begin; l < price.leg_end; ++l) {
      const Leg& leg = prices_.legs[l];
      for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
        const std::uint32_t at = first_place_.back() + index(prices_.uses[u].link);
        const Int128 one = kWeightOne;
        const Int128 most = (demand_of(leg, prices_.uses[u].weight) + one - 1) / one;
        peak_[at] = std::max(peak_[at], static_cast<std::int64_t>(most));
        Signature load;
        load.append(l - price.leg_begin);
        load.append(static_cast<std::uint64_t>(leg.rate));
        load.append(prices_.uses[u].weight);
        load_[at] += Signature::mix(load.a ^ load.b);
      }
    }
  }
  first_place_.push_back(static_cast<std::uint32_t>(peak_.size()));
}

/// A group does one thing at a time, so on links that its calls have in common the largest of them counts.
void Contention::add_demands(const Channel& channel, std::uint32_t place) {
  const auto transfer = [&](std::uint32_t call) -> const Transfer& {
    return prices_.transfers[channels_.calls[call].first_price + place];
  };
  const auto links = [&](std::uint32_t call) {
    return first_place_[transfer(call).price + 1] - first_place_[transfer(call).price];
  };
  for (std::uint32_t c = channel.first_call; c < channel.last_call;) {
    std::uint32_t last = c + 1;
    while (last < channel.last_call && transfer(last).first_link == transfer(c).first_link &&
           links(last) == links(c))
      ++last;
    for (std::uint32_t i = 0; i < links(c); ++i) {
      std::int64_t most = 0;
      for (std::uint32_t same = c; same < last; ++same)
        most = std::max(most, peak_[first_place_[transfer(same).price] + i]);
      demand_[index(prices_.links[transfer(c).first_link + i])] += most;
    }
    c = last;
  }
}

std::vector<LinkId> Contention::all() const {
  std::vector<LinkId> links;
  for (std::uint32_t link = 0; link < demand_.size(); ++link) {
    if (demand_[link] > topology_.links()[link].bytes_per_s) links.push_back(LinkId{link});
  }
  return links;
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
  using End = std::tuple<std::uint32_t, std::uint8_t, std::uint32_t>;  // program, slot, message

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
    const std::uint32_t cls = expanded_.class_of_rank[rank];
    std::uint8_t slot = 0;
    while (workload_.group(rank, slot) != group) ++slot;
    for (const std::uint32_t op : operations_[{workload_.program_of_rank[rank], slot, message}]) {
      const std::uint32_t task = expanded_.task(workload_, cls, op);
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

/// Visits (group, call, place in the price, link) for all that transfers put on links.
template <class Visit>
void Contention::for_each_load(Visit visit) const {
  for (std::uint32_t c = 0; c < channels_.calls.size(); ++c) {
    const Call& call = channels_.calls[c];
    const auto& groups = channels_.channels[call.channel].groups;
    for (std::uint32_t i = 0; i < groups.size(); ++i) {
      const Transfer& transfer = prices_.transfers[call.first_price + i];
      const std::uint32_t first = first_place_[transfer.price];
      const std::uint32_t links = first_place_[transfer.price + 1] - first;
      for (std::uint32_t place = 0; place < links; ++place)
        visit(groups[i], c, place, index(prices_.links[transfer.first_link + place]), load_[first + place]);
    }
  }
}

/// Links that the same classes of groups load alike are overloaded together: the first of them is
/// looked at.
std::vector<LinkId> Contention::overloaded(const Folded& folded, const ExpandedGraph& expanded,
                                           const Timeline& timeline) const {
  std::vector<LinkId> links = all();
  std::erase_if(links, [&](LinkId link) { return std::ranges::binary_search(folded.shared.links, link); });
  std::vector<std::uint32_t> place(demand_.size(), kNone);
  for (std::uint32_t i = 0; i < links.size(); ++i) place[index(links[i])] = i;

  std::vector<std::uint64_t> loads(links.size(), 0);
  for_each_load(
      [&](std::uint32_t group, std::uint32_t call, std::uint32_t, std::uint32_t link, std::uint64_t load) {
        if (place[link] == kNone) return;
        const std::uint64_t who = std::uint64_t{folded.groups.class_of[group]} << 32U | call;
        loads[place[link]] += Signature::mix(load ^ Signature::mix(who + 1));
      });
  SignatureTable table;
  std::vector<std::uint32_t> kind(links.size());
  std::vector<std::uint32_t> first;
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    kind[i] = table.number({loads[i], static_cast<std::uint64_t>(topology_.link(links[i]).bytes_per_s)});
    place[index(links[i])] = kNone;
    if (kind[i] == first.size()) {
      place[index(links[i])] = kind[i];
      first.push_back(i);
    }
  }
  std::vector<std::vector<Inspection::Load>> of_first(first.size());
  for_each_load([&](std::uint32_t group, std::uint32_t call, std::uint32_t in_price, std::uint32_t link,
                    std::uint64_t) {
    if (place[link] != kNone) of_first[place[link]].push_back({group, call, in_price});
  });
  Inspection inspection(workload_, channels_, prices_, expanded, timeline);
  std::vector<bool> over(first.size());
  for (std::uint32_t k = 0; k < first.size(); ++k) {
    over[k] = inspection.overloaded(topology_.link(links[first[k]]).bytes_per_s, of_first[k]);
  }
  std::size_t kept = 0;
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    if (over[kind[i]]) links[kept++] = links[i];
  }
  links.resize(kept);
  return links;
}

}  // namespace orrery
