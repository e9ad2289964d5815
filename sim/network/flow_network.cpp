#include "sim/network/flow_network.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>

namespace orrery {
namespace {

std::uint64_t scaled_capacity(std::int64_t bytes_per_s, std::size_t link) {
  if (bytes_per_s < 1 || bytes_per_s > kMaxLinkBytesPerS) {
    throw std::invalid_argument("link " + std::to_string(link) + ": capacity of " +
                                std::to_string(bytes_per_s) + " bytes/s is not within 1 and 2^46");
  }
  return static_cast<std::uint64_t>(bytes_per_s) * kWeightOne;
}

/// Just beyond the limit when it would be later: the caller sees that time ran out.
Picoseconds finish_time(Picoseconds now, Int128 work, std::int64_t rate) {
  const Int128 finish = now + (work + rate - 1) / rate;
  return finish > kTimeLimit ? kTimeLimit + 1 : static_cast<Picoseconds>(finish);
}

}  // namespace

FlowNetwork::FlowNetwork(std::span<const std::int64_t> bytes_per_s) : links_(bytes_per_s.size()) {
  for (std::size_t i = 0; i < links_.size(); ++i) links_[i].capacity = scaled_capacity(bytes_per_s[i], i);
}

FlowNetwork::FlowNetwork(std::span<const Link> links) : links_(links.size()) {
  for (std::size_t i = 0; i < links_.size(); ++i)
    links_[i].capacity = scaled_capacity(links[i].bytes_per_s, i);
}

void FlowNetwork::reset() {
  if (active_ > 0 || !dirty_.empty()) {
    for (LinkState& link : links_) {
      link.demand = 0;
      link.first = kNoFlow;
      link.more.clear();
      link.dirty = false;
    }
  }
  flows_.clear();
  free_slots_.clear();
  dirty_.clear();
  ends_.clear();
  active_ = 0;
  now_ = 0;
}

void FlowNetwork::start(std::uint32_t flow, const Leg& leg, std::span<const LinkUse> uses) {
  const std::uint32_t slot = take_slot();
  Flow& state = flows_[slot];
  state.name = flow;
  state.limit = std::max<std::int64_t>(1, leg.rate);
  state.work_left = static_cast<Int128>(leg.alone_ps) * state.limit;
  state.since = now_;
  state.rate = state.limit;
  state.uses = leg.alone_ps > 0 ? uses : std::span<const LinkUse>{};
  state.queued = kNever;
  state.active = true;
  ++active_;
  if (attach(slot)) {
    state.rate = 0;
    state.finish = kNever;
  } else {
    expect_end(slot, leg.alone_ps > kTimeLimit - now_ ? kTimeLimit + 1 : now_ + leg.alone_ps);
  }
}

Picoseconds FlowNetwork::next_event() {
  if (!dirty_.empty()) solve_dirty();
  return ends_.next();
}

void FlowNetwork::advance(Picoseconds time, std::vector<std::uint32_t>& finished) {
  assert(time >= now_ && time <= next_event());
  now_ = time;
  ended_.clear();
  for (std::uint32_t slot = 0; ends_.pop(time, slot);) {
    if (flows_[slot].queued != time) continue;
    if (flows_[slot].finish > time) {
      flows_[slot].queued = kNever;
      expect_end(slot, flows_[slot].finish);
      continue;
    }
    finished.push_back(flows_[slot].name);
    detach(slot);
    ended_.push_back(slot);
  }
  drop_ended_members();
}

std::vector<FlowRate> FlowNetwork::rates() {
  if (!dirty_.empty()) solve_dirty();
  std::vector<FlowRate> out;
  for (const Flow& flow : flows_) {
    if (flow.active) out.push_back({flow.name, flow.rate});
  }
  return out;
}

std::uint32_t FlowNetwork::take_slot() {
  if (free_slots_.empty()) {
    flows_.emplace_back();
    return static_cast<std::uint32_t>(flows_.size() - 1);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

/// True when the flow meets an overloaded link, so that its rate must be solved for.
bool FlowNetwork::attach(std::uint32_t slot) {
  const Flow& flow = flows_[slot];
  bool shares = false;
  for (const LinkUse& use : flow.uses) {
    assert(index(use.link) < links_.size());
    LinkState& link = links_[index(use.link)];
    if (link.first == kNoFlow) {
      link.first = slot;
    } else {
      link.more.push_back(slot);
    }
    link.demand += static_cast<Int128>(flow.limit) * static_cast<Int128>(use.weight);
    if (!link.overloaded()) continue;
    shares = true;
    mark_dirty(index(use.link));
  }
  return shares;
}

void FlowNetwork::detach(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  flow.queued = kNever;
  flow.active = false;
  for (const LinkUse& use : flow.uses) {
    LinkState& link = links_[index(use.link)];
    if (link.overloaded()) mark_dirty(index(use.link));
    link.demand -= static_cast<Int128>(flow.limit) * static_cast<Int128>(use.weight);
    if (link.more.empty()) {
      link.first = kNoFlow;
      continue;
    }
    if (link.shrinks) continue;
    link.shrinks = true;
    shrinking_.push_back(index(use.link));
  }
}

void FlowNetwork::drop_ended(LinkState& link) {
  std::erase_if(link.more, [&](std::uint32_t slot) { return !flows_[slot].active; });
  if (flows_[link.first].active) return;
  link.first = kNoFlow;
  if (link.more.empty()) return;
  link.first = link.more.back();
  link.more.pop_back();
}

void FlowNetwork::drop_ended_members() {
  for (const std::uint32_t index : shrinking_) {
    LinkState& link = links_[index];
    link.shrinks = false;
    drop_ended(link);
  }
  shrinking_.clear();
  free_slots_.insert(free_slots_.end(), ended_.begin(), ended_.end());
  active_ -= static_cast<std::uint32_t>(ended_.size());
}

void FlowNetwork::mark_dirty(std::uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
}

/// A later end keeps the earlier entry, which is moved when its time comes.
void FlowNetwork::expect_end(std::uint32_t slot, Picoseconds finish) {
  flows_[slot].finish = finish;
  if (finish >= flows_[slot].queued) return;
  flows_[slot].queued = finish;
  ends_.push(finish, slot);
}

void FlowNetwork::solve_dirty() {
  gather();
  solver_.solve();
  for (std::uint32_t i = 0; i < solver_.flows(); ++i) {
    set_rate(solved_slots_[i], static_cast<std::int64_t>(solver_.rate(i)));
  }
  flows_solved_ += solver_.flows();
  if (ends_.size() > 4 * std::size_t{active_} + 64) forget_stale_ends();
}

/// Collects the flows joined to dirty links by overloaded ones.
void FlowNetwork::gather() {
  solver_.clear();
  solved_links_.clear();
  solved_slots_.clear();
  ++visit_;
  for (const std::uint32_t link : dirty_) {
    links_[link].dirty = false;
    gather_link(link);
  }
  dirty_.clear();
  for (std::size_t i = 0; i < solved_links_.size(); ++i) gather_link(solved_links_[i]);
}

void FlowNetwork::gather_link(std::uint32_t link) {
  const LinkState& state = links_[link];
  if (state.first != kNoFlow) gather_flow(state.first);
  for (const std::uint32_t slot : state.more) gather_flow(slot);
}

void FlowNetwork::gather_flow(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  if (flow.visit == visit_) return;
  flow.visit = visit_;
  solved_slots_.push_back(slot);
  solver_.add_flow(static_cast<std::uint64_t>(flow.limit));
  for (const LinkUse& use : flow.uses) {
    LinkState& link = links_[index(use.link)];
    if (!link.overloaded()) continue;
    if (link.visit != visit_) {
      link.visit = visit_;
      link.local = solver_.add_link(link.capacity);
      solved_links_.push_back(index(use.link));
    }
    solver_.add_use(link.local, use.weight);
  }
}

void FlowNetwork::set_rate(std::uint32_t slot, std::int64_t rate) {
  Flow& flow = flows_[slot];
  if (flow.rate == rate) return;
  flow.work_left -= static_cast<Int128>(flow.rate) * (now_ - flow.since);
  flow.since = now_;
  flow.rate = rate;
  expect_end(slot, finish_time(now_, flow.work_left, rate));
}

void FlowNetwork::forget_stale_ends() {
  ends_.erase_if([&](Picoseconds time, std::uint32_t slot) { return flows_[slot].queued != time; });
}

}  // namespace orrery
