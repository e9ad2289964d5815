#include "workloads/sync/model_sync.hpp"

#include <algorithm>
#include <utility>

#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

constexpr Bytes kModelWidth = 4;  // the fp32 copy travels

}  // namespace

ModelSync::ModelSync(const Experiment& experiment, const CommunicatorLayout& layout,
                     const ModelBlocks& blocks, const Stage& stage, Averaging& averaging)
    : experiment_(experiment),
      sync_(experiment.data_parallel_sync),
      method_(sync_method(sync_.method)),
      layout_(layout),
      overlap_(has_key(sync_.method, "overlap") ? sync_.overlap : SyncOverlap::none),
      stage_(stage),
      parts_(experiment, blocks, stage, kModelWidth,
             layout.shards_in_worker() ? layout.workers().replicas_per_worker : 1),
      averaging_(averaging) {}

bool ModelSync::by_bucket() const {
  return overlap_ == SyncOverlap::adapt_then_combine && !departures_.empty();
}

bool ModelSync::while_computing() const {
  return overlap_ == SyncOverlap::combine_while_computing || overlap_ == SyncOverlap::one_step_stale;
}

bool ModelSync::leaves(Place place) const {
  const PlacedBlock& block = stage_.chunks[static_cast<std::size_t>(place.chunk)].blocks[place.block];
  return std::ranges::any_of(departures_, [&](const Departure& one) { return parts_.holds(one, block); });
}

bool ModelSync::ends_bucket(Place place) const {
  if (!by_bucket() || !method_.merges_by_layer) return false;
  return place.block == 0 || leaves(place) != leaves({place.chunk, place.block - 1});
}

/// Returns true if the message is merged into the block at `place` before this step's forward pass.
bool ModelSync::waits_for(const InFlight& one, Place place) const {
  return one.due < step_ && one.first == place;
}

bool ModelSync::meets(const Pass& pass) const {
  return pass.kind == Pass::Kind::forward && std::ranges::any_of(in_flight_, [&](const InFlight& one) {
           return waits_for(one, {pass.chunk, one.first.block});
         });
}

OpId ModelSync::before_block(const Pass& pass, std::size_t block, OpId dep) {
  if (pass.kind != Pass::Kind::forward) return dep;
  OpId at = dep;
  const auto waits = [&](const InFlight& one) { return waits_for(one, {pass.chunk, block}); };
  for (const InFlight& one : in_flight_) {
    if (waits(one)) at = std::max(at, receive(one, {ready_, dep}));
  }
  std::erase_if(in_flight_, waits);
  return at;
}

std::vector<Payload> ModelSync::buckets(const Payload& payload) const {
  const std::int64_t most = bucket_elements(experiment_);
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

/// Sends the model after this step, bucket by bucket.
void ModelSync::send_model(OpId ready) {
  for (const Departure& departure : departures_) {
    for (const Payload& bucket : buckets(parts_.of(departure))) send(bucket, departure, {}, ready);
  }
}

void ModelSync::send(Payload payload, const Departure& departure, Place first, OpId ready) {
  if (const auto sent = experiment_.plan.wire_precision.models) payload.sent_of_32 = bytes_of_32(*sent);
  const std::int64_t due = step_ + departure.delay;
  const bool is_first = std::ranges::none_of(in_flight_, [&](const InFlight& one) { return one.due == due; });
  InFlight& one = in_flight_.emplace_back(InFlight{payload, departure, {}, due, first});
  if (departure.to == Departure::To::all) {
    one.arrived = {averaging_.over_workers(payload, label(), ready)};
  } else {
    one.arrived = averaging_.exchange(payload, layout_.round(departure.round), label(), ready, is_first);
  }
}

/// Returns the operation after which a message is received and merged. Compressed values are unpacked when
/// they are needed: kernels run in order, so any kernel after an earlier unpacking would wait for the message
/// too.
OpId ModelSync::receive(const InFlight& one, std::initializer_list<OpId> after) {
  const Departure& departure = one.departure;
  const bool from_all = departure.to == Departure::To::all;
  const std::int64_t received = from_all ? 1 : layout_.round(departure.round).in_degree;
  std::vector<Kernel> kernels =
      from_all ? averaging_.unpack(one.payload) : averaging_.unpack(one.payload, received);
  const Bytes each = method_.merge_bytes(sync_, departure.to, received, one.payload.width);
  kernels.push_back(memory(one.payload.values * each));
  std::vector<OpId> deps = one.arrived;
  deps.insert(deps.end(), after);
  const OpId taken = averaging_.compute(std::move(kernels), label(), std::move(deps));
  return averaging_.share(one.payload, label(), taken);
}

/// Takes in all that this step needs, after `dep`.
OpId ModelSync::receive_due(OpId dep) {
  OpId at = dep;
  const auto is_due = [&](const InFlight& one) { return one.due <= step_; };
  for (const InFlight& one : in_flight_) {
    if (is_due(one)) at = std::max(at, receive(one, {dep}));
  }
  std::erase_if(in_flight_, is_due);
  return at;
}

void ModelSync::begin_step(std::int32_t step, OpId ready) {
  step_ = step;
  ready_ = ready;
  const bool apart = layout_.workers().workers > 1 && method_.departures != nullptr;
  departures_ = apart ? method_.departures(sync_, step) : std::vector<Departure>{};
  if (while_computing()) send_model(ready);
}

OpId ModelSync::before_update(OpId last) {
  if (!while_computing()) return kNoOp;
  const OpId at = receive_due(last);
  return at == last ? kNoOp : at;
}

void ModelSync::send_bucket(const Payload& bucket, Place first, OpId updated) {
  if (!leaves(first)) return;
  for (const Departure& departure : departures_) send(bucket, departure, first, updated);
}

OpId ModelSync::after_update(OpId updated) {
  if (overlap_ == SyncOverlap::none) send_model(updated);
  const bool last = step_ + 1 == experiment_.simulation.steps;
  return by_layer() && !last ? updated : receive_due(updated);
}

}  // namespace orrery
