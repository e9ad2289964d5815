#include "sim/asynchronous/event_loop.hpp"

#include <algorithm>

#include "orrery/error.hpp"

namespace orrery {

EventLoop::EventLoop(const ExchangeInput& input)
    : input_(input),
      transport_(input.topology, input.shares_links),
      began_(input.workers.size(), kNever),
      to_begin_((input.steps + 1) * static_cast<std::int64_t>(input.workers.size())) {
  run_.steps.assign(input.workers.size(), 0);
  run_.busy.assign(input.workers.size(), 0);
  run_.link_bytes.assign(input.topology.links().size(), 0);
}

ExchangeRun EventLoop::run() {
  for (std::uint32_t worker = 0; worker < workers(); ++worker) begin_step(worker);
  while (to_begin_ > 0) {
    const Picoseconds next = events_.empty() ? kNever : events_.top().at;
    move_to(there_.empty() ? std::min(next, transport_.next_event()) : now_);
    take_arrivals();
    take_events();
    settle();
  }
  cut_off();
  return std::move(run_);
}

void EventLoop::move_to(Picoseconds time) {
  if (time > kTimeLimit)
    throw InputError("/simulation",
                     "found a run that takes more than 53 days, allowed less: fewer steps, or "
                     "faster links");
  now_ = time;
  ++run_.events;
}

void EventLoop::take_arrivals() {
  arrived_.clear();
  if (transport_.next_event() <= now_) transport_.advance(now_, arrived_);
  std::vector<std::uint32_t> exchanges = std::move(there_);
  there_.clear();
  for (const std::uint32_t name : arrived_) {
    count_bytes(*sent_[name].message);
    free_names_.push_back(name);
    exchanges.push_back(sent_[name].exchange);
  }
  std::ranges::sort(exchanges);
  for (const std::uint32_t exchange : exchanges) {
    if (--left_[exchange] == 0) on_arrival(exchange);
  }
}

void EventLoop::take_events() {
  while (!events_.empty() && events_.top().at <= now_ && to_begin_ > 0) {
    const Event event = events_.top();
    events_.pop();
    event.step ? end_step(event.name) : on_timer(event.name);
  }
}

void EventLoop::begin_step(std::uint32_t worker) {
  --to_begin_;
  began_[worker] = now_;
  events_.push({now_ + input_.workers[worker].duration(steps(worker)), true, worker});
}

void EventLoop::end_step(std::uint32_t worker) {
  began_[worker] = kNever;
  ++run_.steps[worker];
  ++steps_of_all_;
  on_step(worker);
}

void EventLoop::send(std::uint32_t from, std::uint32_t to, std::uint32_t exchange) {
  if (exchange >= left_.size()) left_.resize(std::size_t{exchange} + 1, 0);
  const ModelRoutes::Way& way = input_.routes.way(from, to);
  if (way.empty()) {
    ++left_[exchange];
    there_.push_back(exchange);
  }
  for (const ModelRoutes::RankMessage& message : way) {
    const std::uint32_t name = free_name();
    sent_[name] = {&message, exchange};
    ++left_[exchange];
    transport_.send(now_, message.price, name);
  }
}

std::uint32_t EventLoop::free_name() {
  if (free_names_.empty()) {
    sent_.emplace_back();
    return static_cast<std::uint32_t>(sent_.size() - 1);
  }
  const std::uint32_t name = free_names_.back();
  free_names_.pop_back();
  return name;
}

void EventLoop::count_bytes(const ModelRoutes::RankMessage& message) {
  run_.bytes += message.bytes;
  for (const LinkUse& use : message.price.uses) {
    const Int128 bytes = Int128{message.bytes} * static_cast<std::int64_t>(use.weight);
    run_.link_bytes[index(use.link)] +=
        static_cast<std::uint64_t>(bytes / static_cast<std::int64_t>(kWeightOne));
  }
}

void EventLoop::count_meeting(std::uint32_t worker, std::uint32_t partner) {
  run_.exchanges.push_back({now_, worker, partner});
}

void EventLoop::count_staleness(std::int64_t updates) {
  ++run_.updates;
  run_.staleness += updates;
  run_.most_stale = std::max(run_.most_stale, updates);
}

/// Local steps that are not done when the run ends have been computed as far as time goes.
void EventLoop::cut_off() {
  run_.makespan = now_;
  for (std::uint32_t worker = 0; worker < workers(); ++worker) {
    const Picoseconds begun = began_[worker] == kNever ? 0 : now_ - began_[worker];
    run_.busy[worker] = input_.workers[worker].finish(steps(worker)) + begun;
  }
}

}  // namespace orrery
