#include "sim/graph/fold.hpp"

#include <numeric>
#include <unordered_map>

namespace orrery {
namespace {

/// 128 bits of mixed signature: among 10^7 things two different ones meet with probability 10^-24.
struct Signature {
  std::uint64_t a = 0x9e3779b97f4a7c15;
  std::uint64_t b = 0xc2b2ae3d27d4eb4f;

  bool operator==(const Signature&) const = default;

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  /// In order.
  void append(std::uint64_t value) {
    a = mix(a * 31 + value + 1);
    b = mix(b * 37 + (value ^ 0x5851f42d4c957f2d));
  }
  /// In any order.
  void add(Signature other) {
    a += mix(other.a);
    b += mix(other.b ^ 0x2545f4914f6cdd1d);
  }
};

struct SignatureHash {
  std::size_t operator()(const Signature& s) const { return s.a ^ (s.b >> 1); }
};

/// Numbers equal signatures alike, in order of appearance; how many there are.
std::uint32_t number(const std::vector<Signature>& signatures, std::vector<std::uint32_t>& colours) {
  std::unordered_map<Signature, std::uint32_t, SignatureHash> seen;
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    colours[i] = seen.emplace(signatures[i], static_cast<std::uint32_t>(seen.size())).first->second;
  }
  return static_cast<std::uint32_t>(seen.size());
}

Partition partition(std::vector<std::uint32_t> colours, std::uint32_t count) {
  Partition result;
  result.representative.assign(count, kNone);
  result.multiplicity.assign(count, 0);
  for (std::uint32_t i = 0; i < colours.size(); ++i) {
    if (result.multiplicity[colours[i]]++ == 0) result.representative[colours[i]] = i;
  }
  result.class_of = std::move(colours);
  return result;
}

class Refinement {
 public:
  Refinement(const Workload& workload, const Channels& channels, const PriceList& prices,
             const Topology& topology, bool with_links)
      : workload_(workload),
        channels_(channels),
        prices_(prices),
        topology_(topology),
        with_links_(with_links),
        ranks_(workload.program_of_rank),
        groups_(workload.groups(), 0),
        links_(with_links ? topology.links().size() : 0, 0) {}

  Folded run() {
    std::uint64_t before = 0;
    for (std::uint64_t now = refine(); now != before; now = refine()) before = now;
    return {partition(std::move(ranks_), rank_colours_), partition(std::move(groups_), group_colours_),
            partition(std::move(links_), link_colours_)};
  }

 private:
  /// One round; the number of colours, which grows until nothing splits any more.
  std::uint64_t refine() {
    colour_groups();
    if (with_links_) colour_links();
    colour_ranks();
    return std::uint64_t{rank_colours_} + group_colours_ + link_colours_;
  }

  /// Visits (group, call) with the legs of its price.
  template <class Visit>
  void for_each_price(Visit visit) const {
    for (std::uint32_t c = 0; c < channels_.calls.size(); ++c) {
      const Call& call = channels_.calls[c];
      const auto& groups = channels_.channels[call.channel].groups;
      for (std::uint32_t i = 0; i < groups.size(); ++i)
        visit(groups[i], c, prices_.transfers[call.first_price + i]);
    }
  }

  void colour_groups() {
    std::vector<Signature> signatures(groups_.size());
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      signatures[g].append(channels_.channel_group[g]);
      signatures[g].append(groups_[g]);
      Signature members;
      for (const std::uint32_t member : workload_.members(g)) {
        Signature one;
        one.append(ranks_[member]);
        members.add(one);
      }
      signatures[g].append(members.a);
      signatures[g].append(members.b);
    }
    for_each_price([&](std::uint32_t group, std::uint32_t, const Cost& cost) {
      append_price(signatures[group], cost);
      if (!prices_.leads.empty())
        signatures[group].append(static_cast<std::uint64_t>(
            prices_.leads[static_cast<std::size_t>(&cost - prices_.transfers.data())]));
    });
    group_colours_ = number(signatures, groups_);
  }

  void append_price(Signature& signature, const Cost& cost) const {
    signature.append(static_cast<std::uint64_t>(cost.duration_ps));
    if (!with_links_) return;
    for (std::uint32_t l = cost.leg_begin; l < cost.leg_end; ++l) {
      const Leg& leg = prices_.legs[l];
      signature.append(static_cast<std::uint64_t>(leg.latency_ps));
      signature.append(static_cast<std::uint64_t>(leg.alone_ps));
      signature.append(static_cast<std::uint64_t>(leg.rate));
      Signature loads;
      for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
        Signature one;
        one.append(links_[index(prices_.uses[u].link)]);
        one.append(prices_.uses[u].weight);
        loads.add(one);
      }
      signature.append(loads.a);
      signature.append(loads.b);
    }
  }

  void colour_links() {
    std::vector<Signature> signatures(links_.size());
    for (std::size_t l = 0; l < links_.size(); ++l) {
      signatures[l].append(static_cast<std::uint64_t>(topology_.links()[l].bytes_per_s));
      signatures[l].append(links_[l]);
    }
    for_each_price([&](std::uint32_t group, std::uint32_t call, const Cost& cost) {
      for (std::uint32_t l = cost.leg_begin; l < cost.leg_end; ++l) {
        Signature one;
        one.append(groups_[group]);
        one.append(call);
        one.append(l - cost.leg_begin);
        const Leg& leg = prices_.legs[l];
        for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
          Signature load = one;
          load.append(prices_.uses[u].weight);
          signatures[index(prices_.uses[u].link)].add(load);
        }
      }
    });
    link_colours_ = number(signatures, links_);
  }

  void colour_ranks() {
    std::vector<Signature> signatures(ranks_.size());
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      signatures[r].append(ranks_[r]);
      for (std::uint8_t slot = 0; slot < kSlotCount; ++slot) {
        const std::uint32_t group = workload_.group(r, slot);
        signatures[r].append(group == kNoGroup ? kNone : groups_[group]);
      }
    }
    rank_colours_ = number(signatures, ranks_);
  }

  const Workload& workload_;
  const Channels& channels_;
  const PriceList& prices_;
  const Topology& topology_;
  bool with_links_;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint32_t> groups_;
  std::vector<std::uint32_t> links_;
  std::uint32_t rank_colours_ = 0;
  std::uint32_t group_colours_ = 0;
  std::uint32_t link_colours_ = 0;
};

Partition each_alone(std::uint32_t count) {
  Partition result;
  result.class_of.resize(count);
  std::iota(result.class_of.begin(), result.class_of.end(), 0);
  result.representative = result.class_of;
  result.multiplicity.assign(count, 1);
  return result;
}

}  // namespace

Folded fold(const Workload& workload, const Channels& channels, const PriceList& prices,
            const Topology& topology, bool links) {
  return Refinement(workload, channels, prices, topology, links).run();
}

Folded unfolded(const Workload& workload) {
  return {each_alone(workload.ranks()), each_alone(workload.groups()), {}};
}

}  // namespace orrery
