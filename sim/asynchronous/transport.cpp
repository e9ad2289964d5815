#include "sim/asynchronous/transport.hpp"

#include <algorithm>

namespace orrery {

Transport::Transport(const Topology& topology, bool shares_links) {
  if (shares_links) network_.emplace(topology.links());
}

void Transport::send(Picoseconds now, const TransferPrice& price, std::uint32_t name) {
  std::uint32_t slot = static_cast<std::uint32_t>(moving_.size());
  if (free_slots_.empty()) {
    moving_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  moving_[slot] = {&price, 0, name};
  wait_for_leg(now, slot);
}

/// Waits until the latency of a leg has passed; if flows do not share links, until the whole message has.
void Transport::wait_for_leg(Picoseconds now, std::uint32_t slot) {
  const Moving& one = moving_[slot];
  const Picoseconds wait = network_ ? one.price->legs[one.leg].latency_ps : one.price->alone_ps();
  timers_.emplace(wait > kTimeLimit - now ? kTimeLimit + 1 : now + wait, slot);
}

void Transport::move_data(Picoseconds now, std::uint32_t slot) {
  network_->advance(now, ended_);
  const Moving& one = moving_[slot];
  const Leg& leg = one.price->legs[one.leg];
  network_->start(slot, leg, std::span(one.price->uses).subspan(leg.use_begin, leg.use_end - leg.use_begin));
}

void Transport::end_leg(Picoseconds now, std::uint32_t slot, std::vector<std::uint32_t>& arrived) {
  Moving& one = moving_[slot];
  if (network_ && ++one.leg < one.price->legs.size()) return wait_for_leg(now, slot);
  arrived.push_back(one.name);
  free_slots_.push_back(slot);
}

Picoseconds Transport::next_event() {
  const Picoseconds timer = timers_.empty() ? kNever : timers_.top().first;
  return network_ ? std::min(timer, network_->next_event()) : timer;
}

void Transport::advance(Picoseconds now, std::vector<std::uint32_t>& arrived) {
  const std::size_t known = arrived.size();
  while (next_event() <= now) {
    ended_.clear();
    if (network_) network_->advance(now, ended_);
    while (!timers_.empty() && timers_.top().first <= now) {
      const std::uint32_t slot = timers_.top().second;
      timers_.pop();
      network_ ? move_data(now, slot) : ended_.push_back(slot);
    }
    for (const std::uint32_t slot : ended_) end_leg(now, slot, arrived);
  }
  std::sort(arrived.begin() + static_cast<std::ptrdiff_t>(known), arrived.end());
}

}  // namespace orrery
