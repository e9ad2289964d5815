#include "workloads/programs/stage_messages.hpp"

#include "workloads/models/step_builder.hpp"

namespace orrery {

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

OpId StageMessages::receive(Op like, const Boundary& boundary, bool ahead) {
  complete(like, boundary, ahead);
  like.stream = ahead ? Stream::recv_forward : Stream::recv_backward;
  like.slot = layout_.slot(ahead ? Slot::forward_in : Slot::backward_in);
  const OpId received = writer_.add(like, {});
  if (!gathers(boundary, ahead)) return received;
  like.stream = Stream::tensor;
  like.slot = layout_.slot(Slot::tensor);
  like.work = add_message(workload_, {Collective::all_gather, boundary.bytes, Dimension::tensor, host_ps_});
  return writer_.add(like, {received});
}

OpId StageMessages::send(Op like, const Boundary& boundary, bool ahead, OpId done) {
  complete(like, boundary, ahead);
  like.stream = ahead ? Stream::send_forward : Stream::send_backward;
  like.slot = layout_.slot(ahead ? Slot::forward_out : Slot::backward_out);
  return writer_.add(like, {done});
}

}  // namespace orrery
