#include "sim/long_run/outages.hpp"

#include <algorithm>

namespace orrery {
namespace {

/// Restart and spares keep all replicas; the other policies go on with fewer.
bool keeps_all(RecoveryPolicy policy) {
  return policy == RecoveryPolicy::restart || policy == RecoveryPolicy::spares;
}

}  // namespace

Outages::Outages(const RunModel& model)
    : model_(model),
      hot_(model.hot_spares),
      cold_(model.cold_spares),
      outages_(static_cast<std::size_t>(model.parts)) {}

std::vector<std::int64_t> Outages::nodes_of(const FailureEvent& event) const {
  if (model_.kinds[event.kind].reach != FailureReach::group) return {event.node};
  std::vector<std::int64_t> nodes;
  const std::int64_t first = event.node / model_.nodes_per_group * model_.nodes_per_group;
  for (std::int64_t i = first; i < std::min(model_.nodes, first + model_.nodes_per_group); ++i)
    nodes.push_back(i);
  return nodes;
}

std::vector<std::int64_t> Outages::parts_of(std::int64_t node) const {
  if (model_.parts_of_node) return model_.parts_of_node(node);
  return {node % model_.parts};
}

void Outages::take_out(const FailureEvent& event, LongPicoseconds now, Picoseconds restore_ps) {
  take_repaired(now);
  const bool stays = event.repair_ps == 0 || model_.kinds[event.kind].reach == FailureReach::process;
  if (stays && (keeps_all(model_.policy) || model_.policy == RecoveryPolicy::shrink)) return;
  for (const std::int64_t node : nodes_of(event)) {
    if (keeps_all(model_.policy)) {
      ++missing_;
      repairs_.push(now + event.repair_ps);
      continue;
    }
    LongPicoseconds until = stays ? now : ready_at(event, now);
    if (model_.policy != RecoveryPolicy::shrink) until += model_.restart_ps + restore_ps;
    const std::vector<std::int64_t> parts = parts_of(node);
    count(parts, 1);
    away_.push({until, parts});
  }
}

/// Returns the time at which a spare, or the node itself, is ready in place of a failed one.
LongPicoseconds Outages::ready_at(const FailureEvent& event, LongPicoseconds now) {
  if (hot_ == 0 && cold_ == 0) return now + event.repair_ps;
  repairs_.push(now + event.repair_ps);
  if (hot_ == 0) return --cold_, now + model_.cold_start_ps;
  return --hot_, now;
}

bool Outages::is_away(const FailureEvent& event) const {
  if (model_.policy != RecoveryPolicy::per_replica) return false;
  for (const std::int64_t node : nodes_of(event))
    for (const std::int64_t part : parts_of(node))
      if (outages_[static_cast<std::size_t>(part)] == 0) return false;
  return true;
}

void Outages::take_repaired(LongPicoseconds now) {
  for (; !repairs_.empty() && repairs_.top() <= now; repairs_.pop()) ++cold_;
}

LongPicoseconds Outages::wait_for_nodes(LongPicoseconds now) {
  if (!keeps_all(model_.policy)) {
    take_back(now);
    return lost_ < model_.replicas ? 0 : next_return() - now;
  }
  take_repaired(now);
  const std::int64_t ready = std::min(missing_, hot_);
  hot_ -= ready;
  missing_ -= ready;
  const std::int64_t started = std::min(missing_, cold_);
  cold_ -= started;
  missing_ -= started;
  if (started > 0 && model_.policy == RecoveryPolicy::spares)
    starting_until_ = std::max(starting_until_, now + model_.cold_start_ps);
  if (missing_ > 0) return repairs_.top() - now;
  return std::max<LongPicoseconds>(0, starting_until_ - now);
}

/// Replicas are lost while any of their nodes is away. Stages take turns: the one that lacks most sets the
/// pace.
void Outages::count(const std::vector<std::int64_t>& parts, std::int64_t change) {
  for (const std::int64_t part : parts) {
    std::int64_t& outages = outages_[static_cast<std::size_t>(part)];
    const bool was_away = outages > 0;
    outages += change;
    lost_ += static_cast<std::int64_t>(outages > 0) - static_cast<std::int64_t>(was_away);
  }
  if (model_.policy == RecoveryPolicy::reroute) lost_ = *std::ranges::max_element(outages_);
}

bool Outages::take_back(LongPicoseconds now) {
  bool any = false;
  for (; !away_.empty() && away_.top().until <= now; away_.pop(), any = true) count(away_.top().parts, -1);
  return any;
}

}  // namespace orrery
