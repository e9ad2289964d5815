#include "workloads/programs/stage_messages.hpp"

#include "workloads/models/step_builder.hpp"
#include "workloads/parallel/communicators.hpp"

namespace orrery {
namespace {

/// Of messages `ahead` or back between chunks in the order of the ranks, or against it.
Slot stage_slot(bool reversed, bool ahead, bool sent) {
  if (reversed && ahead) return sent ? Slot::reverse_forward_out : Slot::reverse_forward_in;
  if (reversed) return sent ? Slot::reverse_backward_out : Slot::reverse_backward_in;
  if (ahead) return sent ? Slot::forward_out : Slot::forward_in;
  return sent ? Slot::backward_out : Slot::backward_in;
}

}  // namespace

StageMessages::StageMessages(const Experiment& experiment, const SyncLayout& layout, Workload& workload,
                             ProgramWriter& writer)
    : plan_(experiment.plan),
      layout_(layout),
      workload_(workload),
      writer_(writer),
      host_ps_(from_microseconds(experiment.software.collective_issue_us)) {}

void StageMessages::complete(Op& op, const Boundary& boundary, bool ahead) {
  const bool part = boundary.sliced(ahead) || gathers(boundary, ahead);
  const Bytes bytes = part ? divide_up(boundary.bytes, plan_.tensor_parallel) : boundary.bytes;
  if (bytes != bytes_) {
    bytes_ = bytes;
    message_ = add_message(workload_, {Collective::send_recv, bytes, Dimension::pipeline, host_ps_});
  }
  op.kind = Op::Kind::communicate;
  op.part = Part::stage;
  op.phase = ahead ? Phase::forward : Phase::backward;
  op.work = message_;
}

/// The message leaves or arrives in the slot.
void StageMessages::put_on(Op& op, Slot slot) const {
  op.stream = stream_of(slot);
  op.slot = layout_.slot(slot);
}

OpId StageMessages::receive(Op like, const Boundary& boundary, bool ahead, bool reversed) {
  complete(like, boundary, ahead);
  put_on(like, stage_slot(reversed, ahead, false));
  const OpId received = writer_.add(like, {});
  if (!gathers(boundary, ahead)) return received;
  like.stream = Stream::tensor;
  like.slot = layout_.slot(Slot::tensor);
  like.work = add_message(workload_, {Collective::all_gather, boundary.bytes, Dimension::tensor, host_ps_});
  return writer_.add(like, {received});
}

OpId StageMessages::send(Op like, const Boundary& boundary, bool ahead, bool reversed, OpId done) {
  complete(like, boundary, ahead);
  put_on(like, stage_slot(reversed, ahead, true));
  return writer_.add(like, {done});
}

}  // namespace orrery
