#include "workloads/sync/model_sync.hpp"

#include <algorithm>
#include <utility>

#include "workloads/models/step_builder.hpp"

namespace orrery {

ModelSync::ModelSync(const Experiment& experiment, const SyncLayout& layout, const Payload& model,
                     Averaging& averaging)
    : experiment_(experiment),
      sync_(experiment.data_parallel_sync),
      method_(sync_method(sync_.method)),
      layout_(layout),
      overlap_(has_key(sync_.method, "overlap") ? sync_.overlap : SyncOverlap::none),
      model_(model),
      averaging_(averaging) {}

bool ModelSync::by_bucket() const {
  return layout_.workers().workers > 1 && overlap_ == SyncOverlap::adapt_then_combine;
}

bool ModelSync::while_computing() const {
  return overlap_ == SyncOverlap::combine_while_computing || overlap_ == SyncOverlap::one_step_stale;
}

std::vector<Departure> ModelSync::departures() const {
  if (layout_.workers().workers < 2 || method_.departures == nullptr) return {};
  return method_.departures(sync_, step_);
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

/// What leaves after this step, bucket by bucket.
void ModelSync::send_model(OpId ready) {
  for (const Departure& departure : departures()) {
    const Payload part{divide_up(model_.values, departure.fragments),
                       divide_up(model_.tensors, departure.fragments), model_.width};
    for (const Payload& bucket : buckets(part)) send(bucket, departure, ready);
  }
}

void ModelSync::send(const Payload& payload, const Departure& departure, OpId ready) {
  const std::int64_t due = step_ + departure.delay;
  const bool first = std::ranges::none_of(in_flight_, [&](const InFlight& one) { return one.due == due; });
  InFlight& one = in_flight_.emplace_back(InFlight{payload, departure, {}, due});
  if (departure.to == Departure::To::all) {
    const OpId arrived = averaging_.over_workers(payload, label(), ready);
    one.arrived = {averaging_.compute(averaging_.unpack(payload), label(), {arrived})};
  } else {
    one.arrived = averaging_.exchange(payload, layout_.round(departure.round), label(), ready, first);
  }
}

/// What was sent is there and part of the model after the returned operation.
OpId ModelSync::receive(const InFlight& one, OpId dep) {
  const Departure& departure = one.departure;
  const bool from_all = departure.to == Departure::To::all;
  const std::int64_t received = from_all ? 1 : layout_.round(departure.round).in_degree;
  std::vector<Kernel> kernels;
  if (!from_all) kernels = averaging_.unpack(one.payload, received);
  const Bytes each = method_.merge_bytes(sync_, departure.to, received, one.payload.width);
  kernels.push_back(memory(one.payload.values * each));
  std::vector<OpId> deps = one.arrived;
  deps.push_back(dep);
  const OpId taken = averaging_.compute(std::move(kernels), label(), std::move(deps));
  return averaging_.share(one.payload, label(), taken);
}

/// Takes in all that this step needs, after `dep`.
OpId ModelSync::receive_due(OpId dep) {
  OpId at = dep;
  for (const InFlight& one : in_flight_) {
    if (one.due == step_) at = std::max(at, receive(one, dep));
  }
  std::erase_if(in_flight_, [&](const InFlight& one) { return one.due == step_; });
  return at;
}

void ModelSync::begin_step(std::int32_t step, OpId ready) {
  step_ = step;
  if (while_computing()) send_model(ready);
}

OpId ModelSync::before_update(OpId last) {
  if (!while_computing()) return kNoOp;
  const OpId at = receive_due(last);
  return at == last ? kNoOp : at;
}

void ModelSync::send_bucket(const Payload& bucket, const Op& like, OpId updated) {
  step_ = like.step;
  for (const Departure& departure : departures()) send(bucket, departure, updated);
}

OpId ModelSync::after_update(OpId updated) {
  if (overlap_ == SyncOverlap::none) send_model(updated);
  return receive_due(updated);
}

}  // namespace orrery
