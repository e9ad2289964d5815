#include "sim/symmetry/fold.hpp"

#include <algorithm>
#include <numeric>

#include "orrery/content_hash.hpp"
#include "sim/symmetry/replicas.hpp"

namespace orrery {
namespace {

/// Numbers equal signatures alike, in order of appearance; how many there are.
std::uint32_t number(const std::vector<ContentHash>& signatures, std::vector<std::uint32_t>& colours) {
  ContentTable seen;
  for (std::size_t i = 0; i < signatures.size(); ++i) colours[i] = seen.number(signatures[i]);
  return seen.size();
}

/// Refines the replicas that stand for all; a thing of one of them counts as often as that stands for
/// others.
class Refinement {
 public:
  Refinement(const Workload& workload, const Channels& channels, const Topology& topology,
             const SharedLinks& shared, const CostSignatures& colours, const RankSpeeds& rank_speeds,
             const Replicas& replicas)
      : workload_(workload), channels_(channels), topology_(topology), shared_(shared), replicas_(replicas) {
    list_ranks(rank_speeds);
    list_groups(colours);
    list_links();
  }

  Folded run() {
    std::uint64_t before = colours();
    std::uint64_t rounds = 1;
    for (std::uint64_t now = refine(); now != before; now = refine()) {
      before = now;
      if (++rounds > kSureRounds && rounds * work_of_round() > kWorkOfTask * tasks()) {
        take_apart();
        break;
      }
    }
    Folded folded;
    folded.ranks = fold_ranks();
    folded.groups = fold_groups();
    fold_links(folded);
    return folded;
  }

 private:
  /// A partition is stable after a few rounds, or after very many if one rank differs from a long ring or
  /// line of others, which then all differ: not worth more rounds than their tasks are.
  static constexpr std::uint64_t kSureRounds = 64;
  static constexpr std::uint64_t kWorkOfTask = 4;

  /// Holds the load of a group on a link, both as indices into groups_ and links_.
  struct Load {
    std::uint32_t group = 0;
    std::uint32_t link = 0;
    std::uint32_t call = 0;
    std::uint32_t leg = 0;
    std::uint64_t weight = 0;
    std::uint32_t times = 1;  ///< links like this one that the group loads so
  };

  void list_ranks(const RankSpeeds& rank_speeds);
  void list_groups(const CostSignatures& colours);
  void list_links();
  void list_loads(std::uint32_t group, std::vector<std::uint32_t>& place);
  std::uint64_t refine();
  [[nodiscard]] std::uint64_t colours() const {
    return std::uint64_t{rank_colours_} + group_colours_ + link_colours_;
  }
  [[nodiscard]] std::uint64_t work_of_round() const { return group_of_.size() + loads_.size(); }
  [[nodiscard]] std::uint64_t tasks() const;
  void take_apart();
  void colour_groups();
  void colour_links();
  void colour_ranks();
  template <class Visit>
  void for_each_copy(Visit visit) const;
  [[nodiscard]] Partition fold_ranks() const;
  [[nodiscard]] Partition fold_groups() const;
  void fold_links(Folded& folded) const;

  [[nodiscard]] std::uint32_t replica_of(std::uint32_t rank) const {
    return rank / workload_.replica_stride % workload_.replicas;
  }
  [[nodiscard]] bool wide(std::uint32_t group) const {
    return replicas_.wide[channels_.channel_group[group]];
  }

  const Workload& workload_;
  const Channels& channels_;
  const Topology& topology_;
  const SharedLinks& shared_;
  const Replicas& replicas_;

  std::vector<std::uint32_t> ranks_;  ///< in ascending order, as groups_ and links_
  std::vector<std::uint32_t> times_;  ///< per rank: for how many it stands
  std::vector<std::uint32_t> groups_;
  std::vector<std::uint32_t> group_times_;
  std::vector<std::uint32_t>
      group_of_;  ///< [place in ranks_ * Workload::slots + slot]: place in groups_, or kNone
  std::vector<std::uint32_t> links_;  ///< into SharedLinks::links
  std::vector<Load> loads_;
  std::vector<std::uint32_t> rank_colour_;
  std::vector<std::uint32_t> group_colour_;
  std::vector<std::uint32_t> link_colour_;
  std::uint32_t rank_colours_ = 0;
  std::uint32_t group_colours_ = 0;
  std::uint32_t link_colours_ = 0;
};

void Refinement::list_ranks(const RankSpeeds& rank_speeds) {
  for (std::uint32_t replica = 0; replica < workload_.replicas; ++replica) {
    if (replicas_.times[replica] == 0) continue;
    for (const std::uint32_t rank : replicas_.ranks)
      ranks_.push_back(rank + replica * workload_.replica_stride);
  }
  std::ranges::sort(ranks_);
  std::vector<ContentHash> kinds;
  for (const std::uint32_t rank : ranks_) {
    times_.push_back(replicas_.times[replica_of(rank)]);
    kinds.emplace_back().append(workload_.program_of_rank[rank]);
    if (!rank_speeds.even()) kinds.back().append(rank_speeds.kind(rank));
  }
  rank_colour_.resize(ranks_.size());
  rank_colours_ = number(kinds, rank_colour_);
}

void Refinement::list_groups(const CostSignatures& colours) {
  std::vector<std::uint32_t> place(workload_.groups(), kNone);
  std::vector<ContentHash> kinds;
  for (const std::uint32_t rank : ranks_) {
    for (std::size_t slot = 0; slot < workload_.slots; ++slot) {
      const std::uint32_t group = workload_.group(rank, slot);
      if (group != kNoGroup) place[group] = 0;
    }
  }
  for (std::uint32_t group = 0; group < place.size(); ++group) {
    if (place[group] == kNone) continue;
    place[group] = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back(group);
    group_times_.push_back(wide(group) ? 1 : replicas_.times[replica_of(workload_.members(group).front())]);
    const std::uint32_t channel = channels_.channel_group[group];
    ContentHash& signature = kinds.emplace_back();
    signature.append(channel);
    for (std::uint32_t c = channels_.channels[channel].first_call; c < channels_.channels[channel].last_call;
         ++c) {
      if (!colours.even(c)) signature.append(colours.of(group, c));
    }
  }
  group_colour_.resize(groups_.size());
  group_colours_ = number(kinds, group_colour_);
  group_of_.reserve(ranks_.size() * workload_.slots);
  for (const std::uint32_t rank : ranks_) {
    for (std::size_t slot = 0; slot < workload_.slots; ++slot) {
      const std::uint32_t group = workload_.group(rank, slot);
      group_of_.push_back(group == kNoGroup ? kNone : place[group]);
    }
  }
}

void Refinement::list_links() {
  std::vector<std::uint32_t> place(shared_.links.size(), kNone);
  for (std::uint32_t link = 0; link < place.size(); ++link) {
    const std::uint32_t owner = replicas_.owner[link];
    if (owner != kNone && replicas_.times[owner] == 0) continue;
    place[link] = static_cast<std::uint32_t>(links_.size());
    links_.push_back(link);
  }
  link_colour_.assign(links_.size(), 0);
  if (links_.empty()) return;
  for (std::uint32_t group = 0; group < groups_.size(); ++group) list_loads(group, place);
}

void Refinement::list_loads(std::uint32_t group, std::vector<std::uint32_t>& place) {
  const bool joins = wide(groups_[group]);
  for (const SharedLinks::Use& use : shared_.of(groups_[group])) {
    if (place[use.link] == kNone) continue;
    const std::uint32_t owner = replicas_.owner[use.link];
    const std::uint32_t times = joins && owner != kNone ? replicas_.times[owner] : 1;
    loads_.push_back({group, place[use.link], use.call, use.leg, use.weight, times});
  }
}

/// One round; the number of colours, which grows until nothing splits any more.
std::uint64_t Refinement::refine() {
  colour_groups();
  colour_links();
  colour_ranks();
  return colours();
}

std::uint64_t Refinement::tasks() const {
  std::uint64_t sum = 0;
  for (const std::uint32_t rank : ranks_)
    sum += workload_.programs[workload_.program_of_rank[rank]].ops.size();
  return sum;
}

/// Splits all ranks that represent others, which is equitable too: the orbits of the exchanges of replicas.
void Refinement::take_apart() {
  std::iota(rank_colour_.begin(), rank_colour_.end(), 0U);
  std::iota(group_colour_.begin(), group_colour_.end(), 0U);
  std::iota(link_colour_.begin(), link_colour_.end(), 0U);
  rank_colours_ = static_cast<std::uint32_t>(rank_colour_.size());
  group_colours_ = static_cast<std::uint32_t>(group_colour_.size());
  link_colours_ = static_cast<std::uint32_t>(link_colour_.size());
}

void Refinement::colour_groups() {
  std::vector<ContentHash> members(groups_.size());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ContentHash any;
    any.append(rank_colour_[i]);
    for (std::size_t slot = 0; slot < workload_.slots; ++slot) {
      const std::uint32_t group = group_of_[i * workload_.slots + slot];
      if (group == kNone) continue;
      ContentHash one = any;
      one.append(slot);  // ranks of one program may send and receive
      members[group].add(one, wide(groups_[group]) ? times_[i] : 1);
    }
  }
  for (const Load& load : loads_) {
    ContentHash one;
    one.append(load.call);
    one.append(load.leg);
    one.append(load.weight);
    one.append(link_colour_[load.link]);
    members[load.group].add(one, load.times);
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) members[g].append(group_colour_[g]);
  group_colours_ = number(members, group_colour_);
}

void Refinement::colour_links() {
  std::vector<ContentHash> loads(links_.size());
  for (const Load& load : loads_) {
    ContentHash one;
    one.append(group_colour_[load.group]);
    one.append(load.call);
    one.append(load.leg);
    one.append(load.weight);
    loads[load.link].add(one);
  }
  for (std::size_t l = 0; l < links_.size(); ++l) {
    loads[l].append(static_cast<std::uint64_t>(topology_.link(shared_.links[links_[l]]).bytes_per_s));
    loads[l].append(link_colour_[l]);
  }
  link_colours_ = number(loads, link_colour_);
}

void Refinement::colour_ranks() {
  std::vector<ContentHash> signatures(ranks_.size());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    signatures[i].append(rank_colour_[i]);
    for (std::size_t slot = 0; slot < workload_.slots; ++slot) {
      const std::uint32_t group = group_of_[i * workload_.slots + slot];
      signatures[i].append(group == kNone ? kNone : group_colour_[group]);
    }
  }
  rank_colours_ = number(signatures, rank_colour_);
}

/// Classes of things by their places; all others are to be filled in.
Partition classes(std::size_t things, const std::vector<std::uint32_t>& some,
                  const std::vector<std::uint32_t>& times, const std::vector<std::uint32_t>& colours,
                  std::uint32_t count) {
  Partition result;
  result.class_of.resize(things);
  result.representative.assign(count, kNone);
  result.multiplicity.assign(count, 0);
  for (std::size_t i = 0; i < some.size(); ++i) {
    result.class_of[some[i]] = colours[i];
    if (result.multiplicity[colours[i]] == 0) result.representative[colours[i]] = some[i];
    result.multiplicity[colours[i]] += times[i];
  }
  return result;
}

/// Visits (distance to the replica that stands for another one, distance to that).
template <class Visit>
void Refinement::for_each_copy(Visit visit) const {
  for (std::uint32_t replica = 0; replica < workload_.replicas; ++replica) {
    const std::uint32_t like = replicas_.like[replica];
    if (like != replica) visit(like * workload_.replica_stride, replica * workload_.replica_stride);
  }
}

Partition Refinement::fold_ranks() const {
  Partition result = classes(workload_.ranks(), ranks_, times_, rank_colour_, rank_colours_);
  for_each_copy([&](std::uint32_t from, std::uint32_t to) {
    for (const std::uint32_t rank : replicas_.ranks)
      result.class_of[rank + to] = result.class_of[rank + from];
  });
  return result;
}

Partition Refinement::fold_groups() const {
  Partition result = classes(workload_.groups(), groups_, group_times_, group_colour_, group_colours_);
  for_each_copy([&](std::uint32_t from, std::uint32_t to) {
    for (const auto& [rank, channel, slot] : replicas_.parts)
      result.class_of[workload_.group(rank + to, slot)] = result.class_of[workload_.group(rank + from, slot)];
  });
  return result;
}

void Refinement::fold_links(Folded& folded) const {
  folded.link_class.assign(shared_.links.size(), kNone);
  folded.links.resize(link_colours_);
  std::vector<bool> seen(link_colours_, false);
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const std::uint32_t colour = link_colour_[l];
    if (seen[colour]) continue;
    seen[colour] = true;
    folded.link_class[links_[l]] = colour;
    folded.links[colour] = shared_.links[links_[l]];
  }
}

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
            const Topology& topology, SharedLinks shared) {
  const CostSignatures colours(channels, prices, shared);
  const Replicas replicas = fold_replicas(workload, channels, shared, colours, prices.rank_speeds, topology);
  Folded folded =
      Refinement(workload, channels, topology, shared, colours, prices.rank_speeds, replicas).run();
  folded.shared = std::move(shared);
  return folded;
}

Folded unfolded(const Workload& workload, SharedLinks shared) {
  Folded folded{each_alone(workload.ranks()), each_alone(workload.groups()), {}, {}, shared.links};
  folded.link_class = each_alone(static_cast<std::uint32_t>(shared.links.size())).class_of;
  folded.shared = std::move(shared);
  return folded;
}

}  // namespace orrery
