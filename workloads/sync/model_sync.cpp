#include "workloads/sync/model_sync.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

/// Of the outer optimizer (Nesterov momentum in fp32), per value: the change is written; it, momentum and
/// the model of the last period are read, momentum and both models written.
constexpr Bytes kOuterBytes = 12 + 24;

/// The periods of gossip-aga: doubled up to the final one.
std::vector<std::int64_t> growing_periods(const DataParallelSync& sync) {
  std::vector<std::int64_t> periods;
  for (std::int64_t h = sync.period; h < sync.final_period; h *= 2) periods.push_back(h);
  periods.push_back(std::max(sync.final_period, sync.period));
  return periods;
}

/// Whether `step` ends one of the periods, taken in turn.
bool ends_period(const std::vector<std::int64_t>& periods, std::int64_t step) {
  const std::int64_t cycle = std::accumulate(periods.begin(), periods.end(), std::int64_t{0});
  std::int64_t left = step % cycle;
  for (const std::int64_t period : periods) {
    if (left < period) return left == period - 1;
    left -= period;
  }
  return false;
}

}  // namespace

std::int64_t sync_cycle(const DataParallelSync& sync, std::int64_t rounds) {
  constexpr std::int64_t kLongest = 1000;
  std::int64_t period = 1;
  if (sync.method == SyncMethod::gossip_aga) {
    for (const std::int64_t h : growing_periods(sync)) period += h;
    --period;
  } else if (sync.method == SyncMethod::local_sgd || sync.method == SyncMethod::gossip_pga ||
             sync.method == SyncMethod::diloco) {
    period = sync.period;
  }
  const std::int64_t both = std::lcm(period, rounds);
  return both <= kLongest ? both : std::max(period, rounds);
}

ModelSync::ModelSync(const Experiment& experiment, const SyncLayout& layout, const Payload& model,
                     Averaging& averaging)
    : experiment_(experiment),
      sync_(experiment.data_parallel_sync),
      layout_(layout),
      overlap_(sync_.gossips() ? sync_.overlap : SyncOverlap::none),
      model_(model),
      averaging_(averaging) {}

bool ModelSync::by_bucket() const {
  return layout_.workers().workers > 1 && overlap_ == SyncOverlap::adapt_then_combine;
}

ModelSync::Exchange ModelSync::exchange_of(std::int64_t step) const {
  if (layout_.workers().workers < 2) return Exchange::none;
  const bool ends = (step + 1) % sync_.period == 0;
  switch (sync_.method) {
    case SyncMethod::gossip:
    case SyncMethod::push_sum:
      return Exchange::neighbours;
    case SyncMethod::local_sgd:
      return ends ? Exchange::all : Exchange::none;
    case SyncMethod::gossip_pga:
      return ends ? Exchange::all : Exchange::neighbours;
    case SyncMethod::gossip_aga:
      return ends_period(growing_periods(sync_), step) ? Exchange::all : Exchange::neighbours;
    default:
      return Exchange::none;
  }
}

std::vector<Payload> ModelSync::buckets(const Payload& payload) const {
  const std::int64_t most = bucket_elements(experiment_.plan);
  const std::int64_t count = most > 0 ? std::max<std::int64_t>(1, divide_up(payload.values, most)) : 1;
  std::vector<Payload> parts;
  for (std::int64_t left = payload.values; left > 0; left -= parts.back().values) {
    const std::int64_t values = most > 0 ? std::min(left, most) : left;
    parts.push_back({values, divide_up(payload.tensors, count), payload.width});
  }
  return parts;
}

Op ModelSync::label() const {
  Op op;
  op.part = Part::bucket;
  op.step = step_;
  return op;
}

void ModelSync::send(const Payload& payload, Exchange exchange, OpId ready, std::int32_t due) {
  if (exchange == Exchange::none) return;
  const bool first = std::ranges::none_of(in_flight_, [&](const InFlight& one) { return one.due == due; });
  InFlight& one = in_flight_.emplace_back(InFlight{payload, exchange, {}, due});
  if (exchange == Exchange::all) {
    one.arrived = {averaging_.over_workers(payload, label(), ready)};
  } else {
    one.arrived = averaging_.exchange(payload, layout_.round(step_), label(), ready, first);
  }
}

/// What was sent is there and part of the model after the returned operation.
OpId ModelSync::receive(const InFlight& one, OpId dep) {
  if (one.exchange == Exchange::neighbours)
    return averaging_.combine(one.payload, layout_.round(step_), label(), one.arrived, dep);
  std::vector<OpId> deps = one.arrived;
  deps.push_back(dep);
  const Bytes copied = 2 * one.payload.width;  // out of the bucket
  const Bytes traffic = one.payload.values * (sync_.method == SyncMethod::diloco ? kOuterBytes : copied);
  const OpId taken = averaging_.compute({memory(traffic)}, label(), std::move(deps));
  return averaging_.share(one.payload, label(), taken);
}

void ModelSync::begin_step(std::int32_t step, OpId ready) {
  step_ = step;
  if (overlap_ != SyncOverlap::combine_while_computing && overlap_ != SyncOverlap::one_step_stale) return;
  for (const Payload& part : buckets(model_)) send(part, exchange_of(step), ready, step);
}

OpId ModelSync::before_update(OpId last) {
  if (by_bucket()) return kNoOp;
  OpId at = last;
  for (const InFlight& one : in_flight_) {
    if (one.due == step_ && sync_.method != SyncMethod::diloco) at = std::max(at, receive(one, last));
  }
  if (sync_.method != SyncMethod::diloco) in_flight_.clear();
  return at == last ? kNoOp : at;
}

void ModelSync::send_bucket(const Payload& bucket, const Op& like, OpId updated) {
  step_ = like.step;
  send(bucket, exchange_of(step_), updated, step_);
}

OpId ModelSync::after_update(OpId updated) {
  if (sync_.method == SyncMethod::diloco) return sync_fragments(updated);
  if (overlap_ == SyncOverlap::none && exchange_of(step_) != Exchange::none) {
    for (const Payload& part : buckets(model_)) send(part, exchange_of(step_), updated, step_);
  }
  OpId at = updated;
  for (const InFlight& one : in_flight_) at = std::max(at, receive(one, updated));
  in_flight_.clear();
  return at;
}

/// Fragment f of P leaves after step (f + 1) H / P - 1 - delay of every period, so that the last one has
/// come when the period ends.
OpId ModelSync::sync_fragments(OpId updated) {
  const std::int64_t apart = sync_.period / sync_.fragments;
  if (layout_.workers().workers > 1 && (step_ + 1 + sync_.delay) % apart == 0) {
    const Payload fragment{divide_up(model_.values, sync_.fragments),
                           divide_up(model_.tensors, sync_.fragments), model_.width};
    const auto due = static_cast<std::int32_t>(step_ + sync_.delay);
    for (const Payload& part : buckets(fragment)) send(part, Exchange::all, updated, due);
  }
  OpId at = updated;
  for (const InFlight& one : in_flight_) {
    if (one.due == step_) at = std::max(at, receive(one, updated));
  }
  std::erase_if(in_flight_, [&](const InFlight& one) { return one.due == step_; });
  return at;
}

}  // namespace orrery
