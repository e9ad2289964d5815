#include "reports/trace/arguments.hpp"

namespace orrery {

Arguments::Arguments(const TracePlan& plan, const TraceSlice& slice, bool detailed) {
  switch (slice.level) {
    case TraceLevel::step:
      add(Argument::step, slice.step->step);
      break;
    case TraceLevel::pass:
      add_pass(plan, *slice.pass);
      break;
    case TraceLevel::operation:
      const Op& op = plan.op(slice.rank, slice.op);
      add_operation(plan, slice.rank, op);
      if (detailed) add_details(plan, slice.rank, op);
  }
}

void Arguments::add_operation(const TracePlan& plan, std::uint32_t rank, const Op& op) {
  if (op.layer >= 0) add(Argument::layer, op.layer);
  if (op.micro_batch >= 0) add(Argument::microbatch, op.micro_batch);
  if (plan.run.workload.steps > 1) add(Argument::step, op.step);
  if (op.kind != Op::Kind::compute) add(Argument::group, plan.run.workload.group(rank, op.slot));
}

void Arguments::add_details(const TracePlan& plan, std::uint32_t rank, const Op& op) {
  if (op.chunk > 0) add(Argument::chunk, op.chunk);
  if (op.kind == Op::Kind::compute) return;
  add(Argument::ranks, static_cast<std::int64_t>(plan.members(rank, op).size()));
  if (op.kind != Op::Kind::communicate) return;
  const Message& message = plan.run.workload.messages[op.work];
  add(Argument::bytes, message.bytes);
  if (message.times > 1) add(Argument::times, message.times);
}

void Arguments::add_pass(const TracePlan& plan, const PassOps& pass) {
  if (pass.micro_batch >= 0) add(Argument::microbatch, pass.micro_batch);
  if (plan.run.workload.steps > 1) add(Argument::step, pass.step);
  if (pass.chunk > 0) add(Argument::chunk, pass.chunk);
}

}  // namespace orrery
