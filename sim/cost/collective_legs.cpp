#include "sim/cost/collective_legs.hpp"

#include <algorithm>
#include <limits>

namespace orrery {

LegBuilder::LegBuilder(const Topology& topology) : topology_(topology), load_(topology.links().size(), 0) {}

void LegBuilder::append(const Rounds& rounds, Bytes bytes, std::span<const std::uint32_t> members,
                        std::vector<Leg>& legs, std::vector<LinkUse>& uses) {
  const std::size_t first = legs.size();
  Picoseconds data_ps = 0;
  for (const Round& round : rounds.rounds) {
    append_round(round, rounds, bytes, members, legs, uses);
    data_ps += legs.back().alone_ps;
  }
  legs[first].latency_ps += topology_.overhead(inside_node(members)).of(data_ps);
}

void LegBuilder::append_round(const Round& round, const Rounds& rounds, Bytes bytes,
                              std::span<const std::uint32_t> members, std::vector<Leg>& legs,
                              std::vector<LinkUse>& uses) {
  load_links(round, members);
  sort_touched();
  const Slowest slowest = slowest_link(rounds.in_switch);
  Leg& leg = legs.emplace_back();
  leg.latency_ps = latency(round);
  leg.alone_ps = transfer_ps(static_cast<Int128>(bytes) * slowest.share * round.repeat, slowest.bytes_per_s,
                             rounds.share_unit);
  leg.use_begin = static_cast<std::uint32_t>(uses.size());
  leg.rate = take_uses(uses);
  if (rounds.in_switch) leg.rate = std::min(leg.rate, slowest.bytes_per_s);
  leg.use_end = static_cast<std::uint32_t>(uses.size());
}

bool LegBuilder::inside_node(std::span<const std::uint32_t> members) const {
  const std::uint32_t first = members.front() / topology_.gpus_per_node() * topology_.gpus_per_node();
  const auto near = [&](std::uint32_t member) { return member - first < topology_.gpus_per_node(); };
  return std::ranges::all_of(members.subspan(1), near);
}

void LegBuilder::load_links(const Round& round, std::span<const std::uint32_t> members) {
  const std::vector<Link>& links = topology_.links();
  stage_latency_.clear();
  largest_share_ = 0;
  for (const RoundMessage& message : round.messages) {
    route_.clear();
    topology_.route(GpuId{members[message.from]}, GpuId{members[message.to]}, route_);
    Picoseconds latency = 0;
    for (const LinkId link : route_) {
      latency += links[index(link)].latency_ps;
      if (load_[index(link)] == 0) touched_.push_back(index(link));
      load_[index(link)] += message.share;
    }
    if (message.stage >= stage_latency_.size()) stage_latency_.resize(message.stage + 1, -1);
    stage_latency_[message.stage] = std::max(stage_latency_[message.stage], latency);
    largest_share_ = std::max(largest_share_, message.share);
  }
}

void LegBuilder::sort_touched() {
  constexpr std::size_t kScanBelow = 32;  // links per touched link at which a scan beats a sort
  if (touched_.size() < 64 || touched_.size() * kScanBelow < load_.size()) {
    std::ranges::sort(touched_);
    return;
  }
  touched_.clear();
  for (std::uint32_t link = 0; link < load_.size(); ++link) {
    if (load_[link] != 0) touched_.push_back(link);
  }
}

LegBuilder::Slowest LegBuilder::slowest_link(bool in_switch) const {
  Slowest slowest;
  for (const std::uint32_t link : touched_) {
    const std::int64_t bytes_per_s = topology_.links()[link].bytes_per_s;
    if (static_cast<Int128>(load_[link]) * slowest.bytes_per_s >
        static_cast<Int128>(slowest.share) * bytes_per_s) {
      slowest = {load_[link], bytes_per_s};
    }
  }
  if (in_switch) slowest.bytes_per_s = std::min(slowest.bytes_per_s, topology_.reduction_bytes_per_s());
  return slowest;
}

Picoseconds LegBuilder::latency(const Round& round) const {
  Int128 sum = 0;
  std::int64_t stages = 0;
  for (const Picoseconds slowest : stage_latency_) {
    if (slowest < 0) continue;
    sum += slowest;
    ++stages;
  }
  if (stages == 0) return 0;
  return static_cast<Picoseconds>(divide_rounded(sum * round.hops * round.repeat, stages));
}

std::int64_t LegBuilder::take_uses(std::vector<LinkUse>& uses) {
  constexpr auto kOne = static_cast<std::int64_t>(kWeightOne);
  std::int64_t rate = std::numeric_limits<std::int64_t>::max();
  for (const std::uint32_t link : touched_) {
    const std::int64_t weight = std::max<std::int64_t>(load_[link] * kOne / largest_share_, 1);
    rate = std::min(rate, topology_.links()[link].bytes_per_s * kOne / weight);
    uses.push_back({LinkId{link}, static_cast<std::uint64_t>(weight)});
    load_[link] = 0;
  }
  touched_.clear();
  return std::max<std::int64_t>(rate, 1);
}

}  // namespace orrery
