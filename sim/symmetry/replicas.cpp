#include "sim/symmetry/replicas.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include "orrery/content_hash.hpp"

namespace orrery {

CostSignatures::CostSignatures(const Channels& channels, const PriceList& prices, const SharedLinks& shared)
    : channels_(channels), prices_(prices), shared_(shared) {
  ContentTable times;
  ContentTable legs;
  for (std::uint32_t call = 0; call < prices.calls.size(); ++call) {
    first_.push_back(static_cast<std::uint32_t>(times_.size()));
    number(prices.calls[call], times, legs);
    even_.push_back(shared.links.empty() && takes_equally_long(call));
  }
}

void CostSignatures::number(const CallPrice& price, ContentTable& times, ContentTable& legs) {
  for (std::uint32_t at = 0; at < price.costs.size(); ++at) {
    const Cost& cost = price.costs[at];
    ContentHash content = content_of(cost.duration_ps, price.lead(at));
    times_.push_back(times.number(content));
    for (std::uint32_t l = cost.leg_begin; l < cost.leg_end; ++l) {
      const Leg& leg = price.routed->legs[l];
      append_content(content, leg.latency_ps);
      append_content(content, leg.alone_ps);
      append_content(content, leg.rate);
    }
    legs_.push_back(legs.number(content));
  }
}

bool CostSignatures::takes_equally_long(std::uint32_t call) const {
  const auto times = std::span(times_).subspan(first_[call], prices_.calls[call].costs.size());
  return std::ranges::all_of(times, [&](std::uint32_t time) { return time == times.front(); });
}

namespace {

class ReplicaFolding {
 public:
  ReplicaFolding(const Workload& workload, const Channels& channels, const SharedLinks& shared,
                 const CostSignatures& colours, const RankSpeeds& rank_speeds, const Topology& topology)
      : workload_(workload),
        channels_(channels),
        shared_(shared),
        colours_(colours),
        rank_speeds_(rank_speeds),
        topology_(topology),
        block_(workload.replicas),
        number_in_block_(shared.links.size(), kNone),
        wide_loads_(shared.links.size()) {}

  Replicas fold() {
    list_parts();
    join_blocks();
    add_wide_loads();
    compare_blocks();
    return std::move(result_);
  }

 private:
  struct UnevenCall {
    Replicas::Part part;
    std::uint32_t call = 0;
  };

  void list_parts();
  void list_parts_of(std::uint32_t rank);
  void join_blocks();
  void add_wide_loads();
  void compare_blocks();
  const std::vector<UnevenCall>& uneven_calls(std::uint32_t replica);
  void sign_replica(std::uint32_t replica, ContentHash& signature);
  void sign_uses(std::uint32_t group, ContentHash& signature);
  void stand_for(std::span<const std::uint32_t> these, std::span<const std::uint32_t> those);

  [[nodiscard]] std::uint32_t replica_of(std::uint32_t rank) const {
    return rank / workload_.replica_stride % workload_.replicas;
  }
  [[nodiscard]] std::uint32_t group(Replicas::Part part, std::uint32_t replica) const {
    return workload_.group(part.rank + replica * workload_.replica_stride, part.slot);
  }
  [[nodiscard]] std::uint32_t first_of_block(std::uint32_t replica) {
    while (block_[replica] != replica) replica = block_[replica] = block_[block_[replica]];
    return replica;
  }

  const Workload& workload_;
  const Channels& channels_;
  const SharedLinks& shared_;
  const CostSignatures& colours_;
  const RankSpeeds& rank_speeds_;
  const Topology& topology_;
  Replicas result_;
  std::map<std::uint32_t, std::vector<UnevenCall>> uneven_calls_;  ///< by the first program of a replica
  std::vector<Replicas::Part> wide_parts_;      ///< ranks of replica 0 in groups that join replicas
  std::vector<std::uint32_t> block_;            ///< a forest: replicas that meet on links
  std::vector<std::uint32_t> number_in_block_;  ///< per shared link, in the block at hand
  std::vector<std::uint32_t> numbered_;         ///< the links with a number
  std::vector<ContentHash> wide_loads_;         ///< per shared link: load of groups over all replicas
};

void ReplicaFolding::list_parts() {
  result_.wide.assign(channels_.channels.size(), false);
  workload_.for_each_rank_of_first_replica([&](std::uint32_t rank) { list_parts_of(rank); });
}

/// Calls that may tell apart replicas with the programs of this one.
const std::vector<ReplicaFolding::UnevenCall>& ReplicaFolding::uneven_calls(std::uint32_t replica) {
  const std::uint32_t first = result_.ranks.front() + replica * workload_.replica_stride;
  const auto [known, is_new] = uneven_calls_.try_emplace(workload_.program_of_rank[first]);
  if (!is_new) return known->second;
  for (const Replicas::Part part : result_.parts) {
    const Channel& channel = channels_.channels[channels_.channel_group[group(part, replica)]];
    for (std::uint32_t c = channel.first_call; c < channel.last_call; ++c) {
      if (!colours_.even(c)) known->second.push_back({part, c});
    }
  }
  return known->second;
}

void ReplicaFolding::list_parts_of(std::uint32_t rank) {
  result_.ranks.push_back(rank);
  for (std::uint16_t slot = 0; slot < workload_.slots; ++slot) {
    const std::uint32_t group = workload_.group(rank, slot);
    if (group == kNoGroup) continue;
    const std::uint32_t channel = channels_.channel_group[group];
    const auto members = workload_.members(group);
    const bool joins =
        slot >= workload_.common_slots ||
        std::ranges::any_of(members, [&](std::uint32_t member) { return replica_of(member) != 0; });
    if (joins) {
      result_.wide[channel] = true;
      wide_parts_.push_back({rank, channel, slot});
    } else if (members.front() == rank) {
      result_.parts.push_back({rank, channel, slot});
    }
  }
}

/// Replicas whose own groups meet on a link are of one block, which is named by the first of them.
void ReplicaFolding::join_blocks() {
  std::iota(block_.begin(), block_.end(), 0U);
  result_.owner.assign(shared_.links.size(), kNone);
  if (shared_.links.empty()) return;
  for (std::uint32_t replica = 0; replica < workload_.replicas; ++replica) {
    for (const Replicas::Part part : result_.parts) {
      for (const SharedLinks::Use& use : shared_.of(group(part, replica))) {
        std::uint32_t& owner = result_.owner[use.link];
        if (owner == kNone) owner = replica;
        const std::uint32_t there = first_of_block(owner);
        const std::uint32_t here = first_of_block(replica);
        block_[std::max(there, here)] = std::min(there, here);
      }
    }
  }
}

void ReplicaFolding::add_wide_loads() {
  if (shared_.links.empty()) return;
  for (std::uint32_t group = 0; group < workload_.groups(); ++group) {
    if (!result_.wide[channels_.channel_group[group]]) continue;
    for (const SharedLinks::Use& use : shared_.of(group)) {
      ContentHash load;
      load.append(group);
      load.append(use.call);
      load.append(use.leg);
      load.append(use.weight);
      wide_loads_[use.link].add(load);
    }
  }
}

/// Blocks that look alike, replica by replica, can change places.
void ReplicaFolding::compare_blocks() {
  std::vector<std::vector<std::uint32_t>> blocks(workload_.replicas);
  for (std::uint32_t replica = 0; replica < workload_.replicas; ++replica) {
    blocks[first_of_block(replica)].push_back(replica);
  }
  result_.like.resize(workload_.replicas);
  result_.times.assign(workload_.replicas, 0);
  ContentTable table;
  std::vector<std::uint32_t> first_alike;
  for (std::uint32_t block = 0; block < blocks.size(); ++block) {
    if (blocks[block].empty()) continue;
    ContentHash signature;
    for (const std::uint32_t replica : blocks[block]) sign_replica(replica, signature);
    for (const std::uint32_t link : numbered_) number_in_block_[link] = kNone;
    numbered_.clear();
    const std::uint32_t number = table.number(signature);
    if (number == first_alike.size()) first_alike.push_back(block);
    stand_for(blocks[first_alike[number]], blocks[block]);
  }
}

void ReplicaFolding::stand_for(std::span<const std::uint32_t> these, std::span<const std::uint32_t> those) {
  for (std::size_t i = 0; i < these.size(); ++i) {
    result_.like[those[i]] = these[i];
    ++result_.times[these[i]];
  }
}

void ReplicaFolding::sign_replica(std::uint32_t replica, ContentHash& signature) {
  signature.append(kNone);
  signature.append(workload_.program_of_rank[result_.ranks.front() + replica * workload_.replica_stride]);
  for (const Replicas::Part part : wide_parts_) signature.append(group(part, replica));
  if (!rank_speeds_.even()) {
    for (const std::uint32_t rank : result_.ranks)
      signature.append(rank_speeds_.kind(rank + replica * workload_.replica_stride));
  }
  for (const auto& [part, call] : uneven_calls(replica))
    signature.append(colours_.of(group(part, replica), call));
  if (shared_.links.empty()) return;
  for (const Replicas::Part part : result_.parts) sign_uses(group(part, replica), signature);
}

void ReplicaFolding::sign_uses(std::uint32_t group, ContentHash& signature) {
  const auto uses = shared_.of(group);
  signature.append(uses.size());
  for (const SharedLinks::Use& use : uses) {
    signature.append(use.call);
    signature.append(use.leg);
    signature.append(use.weight);
    std::uint32_t& number = number_in_block_[use.link];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(numbered_.size());
      numbered_.push_back(use.link);
      signature.append(static_cast<std::uint64_t>(topology_.link(shared_.links[use.link]).bytes_per_s));
      signature.append(wide_loads_[use.link]);
    }
    signature.append(number);
  }
}

}  // namespace

Replicas fold_replicas(const Workload& workload, const Channels& channels, const SharedLinks& shared,
                       const CostSignatures& colours, const RankSpeeds& rank_speeds,
                       const Topology& topology) {
  return ReplicaFolding(workload, channels, shared, colours, rank_speeds, topology).fold();
}

}  // namespace orrery
