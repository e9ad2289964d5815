#include "workloads/programs/stage_messages.hpp"

#include "workloads/communicators/communicators.hpp"
#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

/// Returns the slot of messages `ahead` (forward) or back, between chunks that follow the order of the ranks
/// or run against it.
Slot stage_slot(bool reversed, bool ahead, bool sent) {
  if (reversed && ahead) return sent ? Slot::reverse_forward_out : Slot::reverse_forward_in;
  if (reversed) return sent ? Slot::reverse_backward_out : Slot::reverse_backward_in;
  if (ahead) return sent ? Slot::forward_out : Slot::forward_in;
  return sent ? Slot::backward_out : Slot::backward_in;
}

}  // namespace

StageMessages::StageMessages(const Experiment& experiment, const CommunicatorLayout& layout,
                             Workload& workload, ProgramWriter& writer)
    : plan_(experiment.plan),
      layout_(layout),
      workload_(workload),
      writer_(writer),
      width_(plan_.wire_precision.pipeline, element_bytes(plan_.precision), plan_.precision),
      host_ps_(from_microseconds(experiment.software.collective_issue_us)),
      cast_ps_(from_microseconds(experiment.software.forward_issue_us)) {}

Bytes StageMessages::part_of(const Boundary& boundary, bool ahead) const {
  const bool part = boundary.sliced(ahead) || gathers(boundary, ahead);
  return part ? divide_up(boundary.bytes, plan_.tensor_parallel) : boundary.bytes;
}

void StageMessages::complete(Op& op, const Boundary& boundary, bool ahead) {
  const Bytes kept = part_of(boundary, ahead);
  const Bytes bytes = plan_.wire_precision.pipeline ? width_.of_kept(kept) : kept;
  if (bytes != bytes_) {
    bytes_ = bytes;
    message_ = add_message(workload_, {Collective::send_recv, bytes, Dimension::pipeline, host_ps_});
  }
  op.kind = Op::Kind::communicate;
  op.part = Part::stage;
  op.phase = ahead ? Phase::forward : Phase::backward;
  op.work = message_;
}

/// Casts the message that is sent after `dep`, or has been received; returns `dep` if it needs no cast.
OpId StageMessages::cast(Op like, const Boundary& boundary, bool ahead, OpId dep) {
  if (!width_.casts()) return dep;
  like.kind = Op::Kind::compute;
  like.stream = Stream::compute;
  like.part = Part::stage;
  like.phase = ahead ? Phase::forward : Phase::backward;
  like.work = find_work(workload_, {width_.cast(part_of(boundary, ahead))}, cast_ps_);
  return writer_.add(like, {dep});
}

/// The message leaves or arrives in the slot.
void StageMessages::put_on(Op& op, Slot slot) const {
  op.stream = stream_of(slot);
  op.slot = layout_.slot(slot);
}

OpId StageMessages::receive(Op like, const Boundary& boundary, bool ahead, bool reversed) {
  Op message = like;
  complete(message, boundary, ahead);
  put_on(message, stage_slot(reversed, ahead, false));
  const OpId received = cast(like, boundary, ahead, writer_.add(message, {}));
  if (!gathers(boundary, ahead)) return received;
  message.stream = Stream::tensor;
  message.slot = layout_.slot(Slot::tensor);
  message.work =
      add_message(workload_, {Collective::all_gather, boundary.bytes, Dimension::tensor, host_ps_});
  return writer_.add(message, {received});
}

OpId StageMessages::send(Op like, const Boundary& boundary, bool ahead, bool reversed, OpId done) {
  const OpId ready = cast(like, boundary, ahead, done);
  complete(like, boundary, ahead);
  put_on(like, stage_slot(reversed, ahead, true));
  return writer_.add(like, {ready});
}

}  // namespace orrery
