#include "sim/cost/collective_legs.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace orrery {
namespace {

/// Pace of a message of `largest` shares where `share` of them move at `bytes_per_s`.
std::int64_t of_largest(std::int64_t bytes_per_s, std::uint32_t largest, std::int64_t share) {
  const Int128 pace = static_cast<Int128>(bytes_per_s) * largest / std::max<std::int64_t>(share, 1);
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(pace, kMost));
}

bool of(const LegBuilder::RoutedMessages& routed, const Round& round) {
  return routed.round == &round || routed.round->messages == round.messages;
}

}  // namespace

LegBuilder::LegBuilder(const Topology& topology) : topology_(topology), load_(topology.links().size(), 0) {}

void LegBuilder::set_group(std::span<const std::uint32_t> members) {
  members_ = members;
  routed_count_ = 0;
  const std::uint32_t first = members.front() / topology_.gpus_per_domain() * topology_.gpus_per_domain();
  const auto near = [&](std::uint32_t member) { return member - first < topology_.gpus_per_domain(); };
  inside_domain_ = std::ranges::all_of(members.subspan(1), near);
  shares_domains_ = !inside_domain_ && std::ranges::any_of(members.subspan(1), near);
}

void LegBuilder::append(const Rounds& rounds, Bytes bytes, std::vector<Leg>& legs,
                        std::vector<LinkUse>& uses) {
  const std::size_t first = legs.size();
  Picoseconds data_ps = 0;
  for (const Round& round : rounds.rounds) {
    append_round(round, rounds, bytes, legs, uses);
    data_ps += legs.back().alone_ps;
  }
  legs[first].latency_ps += topology_.overhead(inside_domain_).of(data_ps);
}

RoutedRounds LegBuilder::route(const Rounds& rounds, std::vector<RoutedMessages>& known) {
  RoutedRounds result{{}, rounds.share_unit, topology_.overhead(inside_domain_)};
  for (const Round& round : rounds.rounds) {
    auto routed =
        std::ranges::find_if(known, [&](const RoutedMessages& messages) { return of(messages, round); });
    if (routed == known.end()) {
      routed = known.emplace(routed);
      load(round, *routed);
      drop_loads();
    }
    result.rounds.push_back(route_round(round, rounds, *routed));
  }
  return result;
}

void LegBuilder::append_round(const Round& round, const Rounds& rounds, Bytes bytes, std::vector<Leg>& legs,
                              std::vector<LinkUse>& uses) {
  const RoutedMessages& routed = route_messages(round);
  const RoutedRound whole = route_round(round, rounds, routed);
  Leg& leg = legs.emplace_back();
  leg.latency_ps = whole.latency_ps;
  leg.alone_ps = whole.data_ps(bytes, rounds.share_unit);
  leg.rate = routed.rate;
  const auto bound = [&](std::int64_t bytes_per_s, std::int64_t share) {
    leg.rate = std::min(leg.rate, of_largest(bytes_per_s, routed.largest_share, share));
  };
  if (rounds.in_switch) bound(topology_.reduction_bytes_per_s(), routed.near_share);
  if (rounds.by_nearest) bound(topology_.staged_bytes_per_s(), routed.nic_share);
  leg.use_begin = static_cast<std::uint32_t>(uses.size());
  uses.insert(uses.end(), routed.uses.begin(), routed.uses.end());
  leg.use_end = static_cast<std::uint32_t>(uses.size());
}

RoutedRound LegBuilder::route_round(const Round& round, const Rounds& rounds,
                                    const RoutedMessages& routed) const {
  RoutedRound result{0, routed.slowest, round.repeat};
  if (rounds.in_switch) result.slowest.consider(routed.near_share, topology_.reduction_bytes_per_s());
  if (rounds.by_nearest) result.slowest.consider(routed.nic_share, topology_.staged_bytes_per_s());
  Int128 latency_sum = routed.stage_latency_sum;
  if (rounds.in_switch && topology_.reduction_latency_ps() > 0)
    latency_sum += Int128{topology_.reduction_latency_ps()} * routed.near_stages - routed.near_latency_sum;
  if (routed.stages > 0)
    result.latency_ps =
        static_cast<Picoseconds>(divide_rounded(latency_sum * round.hops * round.repeat, routed.stages));
  return result;
}

/// Collectives of a group differ in size more often than in their messages.
const LegBuilder::RoutedMessages& LegBuilder::route_messages(const Round& round) {
  for (std::size_t i = 0; i < routed_count_; ++i) {
    if (of(routed_[i], round)) return routed_[i];
  }
  if (routed_count_ == routed_.size()) routed_.emplace_back();
  RoutedMessages& routed = routed_[routed_count_++];
  load(round, routed);
  take_uses(routed);
  drop_loads();
  return routed;
}

void LegBuilder::load(const Round& round, RoutedMessages& routed) {
  routed.round = &round;
  load_links(round);
  sort_touched();
  routed.slowest = slowest_link();
  routed.near_share = busiest(near_);
  routed.nic_share = topology_.stages_messages() ? busiest_nic() : 0;
  routed.largest_share = largest_share_;
  add_latencies(routed);
}

void LegBuilder::load_links(const Round& round) {
  stage_latency_.clear();
  stage_leaves_.clear();
  largest_share_ = 0;
  largest_flow_ = 0;
  for (std::vector<Moved>* moved : {&near_, &far_, &all_}) moved->assign(members_.size(), {});
  for (const RoundMessage& message : round.messages) load_message(message);
}

void LegBuilder::load_message(const RoundMessage& message) {
  const GpuId from{members_[message.from]};
  const GpuId to{members_[message.to]};
  route_.clear();
  topology_.route(from, to, route_);
  Picoseconds latency = 0;
  for (const LinkId link : route_) {
    latency += topology_.link(link).latency_ps;
    if (load_[index(link)] == 0) touched_.push_back(index(link));
    load_[index(link)] += message.share;
  }
  const bool leaves = topology_.domain_of(from) != topology_.domain_of(to);
  if (leaves) largest_flow_ = std::max(largest_flow_, message.share);
  for (std::vector<Moved>* moved : {leaves ? &far_ : &near_, &all_}) {
    (*moved)[message.from].sent += message.share;
    (*moved)[message.to].received += message.share;
  }
  while (message.stage >= stage_latency_.size()) {
    stage_latency_.push_back(-1);
    stage_leaves_.push_back(false);
  }
  stage_latency_[message.stage] = std::max(stage_latency_[message.stage], latency);
  if (leaves) stage_leaves_[message.stage] = true;
  largest_share_ = std::max(largest_share_, message.share);
}

void LegBuilder::sort_touched() {
  constexpr std::size_t kScanBelow = 512;  // links per touched link at which a scan of bits beats a sort
  if (touched_.size() < 64 || touched_.size() * kScanBelow < load_.size()) {
    std::ranges::sort(touched_);
    return;
  }
  bits_.resize((load_.size() + 63) / 64, 0);
  for (const std::uint32_t link : touched_) bits_[link / 64] |= std::uint64_t{1} << (link % 64);
  touched_.clear();
  for (std::uint32_t word = 0; word < bits_.size(); ++word) {
    for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1)
      touched_.push_back(word * 64 + static_cast<std::uint32_t>(std::countr_zero(left)));
    bits_[word] = 0;
  }
}

/// Returns the busiest link, or a limit other than a link: the largest message over the fabric, the busiest
/// GPU, and the busiest route of a GPU out of its domain.
SlowestLink LegBuilder::slowest_link() const {
  SlowestLink slowest;
  for (const std::uint32_t link : touched_)
    slowest.consider(load_[link], topology_.links()[link].bytes_per_s);
  if (inside_domain_) return slowest;
  slowest.consider(largest_flow_, topology_.flow_bytes_per_s());
  slowest.consider(busiest(all_), topology_.gpu_bytes_per_s());
  slowest.consider(busiest(far_), topology_.way_out_bytes_per_s());
  return slowest;
}

std::int64_t LegBuilder::busiest_nic() const {
  std::int64_t most = 0;
  if (!shares_domains_) return most;
  for (const std::uint32_t link : touched_)
    if (topology_.links()[link].kind == LinkKind::nic) most = std::max(most, load_[link]);
  return most;
}

std::int64_t LegBuilder::busiest(const std::vector<Moved>& moved) {
  std::int64_t most = 0;
  for (const Moved& one : moved) most = std::max({most, one.sent, one.received});
  return most;
}

void LegBuilder::add_latencies(RoutedMessages& routed) const {
  routed.stages = 0;
  routed.stage_latency_sum = 0;
  routed.near_stages = 0;
  routed.near_latency_sum = 0;
  for (std::size_t stage = 0; stage < stage_latency_.size(); ++stage) {
    if (stage_latency_[stage] < 0) continue;
    routed.stage_latency_sum += stage_latency_[stage];
    ++routed.stages;
    if (stage_leaves_[stage]) continue;
    routed.near_latency_sum += stage_latency_[stage];
    ++routed.near_stages;
  }
}

void LegBuilder::take_uses(RoutedMessages& routed) const {
  constexpr auto kOne = static_cast<std::int64_t>(kWeightOne);
  std::int64_t rate = most_rate();
  routed.uses.clear();
  for (const std::uint32_t link : touched_) {
    const std::int64_t weight = std::max<std::int64_t>(load_[link] * kOne / largest_share_, 1);
    rate = std::min(rate, topology_.links()[link].bytes_per_s * kOne / weight);
    routed.uses.push_back({LinkId{link}, static_cast<std::uint64_t>(weight)});
  }
  routed.rate = std::max<std::int64_t>(rate, 1);
}

/// Returns the rate of a full-size message that limits other than links allow.
std::int64_t LegBuilder::most_rate() const {
  if (inside_domain_ || largest_share_ == 0) return std::numeric_limits<std::int64_t>::max();
  return std::min({of_largest(topology_.flow_bytes_per_s(), largest_share_, largest_flow_),
                   of_largest(topology_.gpu_bytes_per_s(), largest_share_, busiest(all_)),
                   of_largest(topology_.way_out_bytes_per_s(), largest_share_, busiest(far_))});
}

void LegBuilder::drop_loads() {
  for (const std::uint32_t link : touched_) load_[link] = 0;
  touched_.clear();
}

}  // namespace orrery
