#include "reports/trace/slices.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::uint32_t kNoOp = 0xffffffff;

/// A slice shorter than this has no room for both ends of an arrow.
constexpr Nanoseconds kShortestWithArrow = 5;

/// Returns the latest end of slices inside another one.
Nanoseconds limit_in(const Span& apart) {
  return apart.finish > apart.start ? apart.finish - 1 : apart.finish;
}

}  // namespace

SliceCursor::SliceCursor(const TracePlan& plan, std::uint32_t rank, std::uint32_t stream)
    : plan_(plan), steps_(nullptr), passes_(nullptr), ops_(nullptr) {
  slice_.rank = rank;
  slice_.stream = stream;
  const std::uint32_t program = plan.program_of(rank);
  if (static_cast<Stream>(stream) == Stream::compute) {
    steps_ = &plan.steps[program];
    passes_ = &plan.passes[program];
  }
  if (plan.level == TraceLevel::operation) ops_ = &plan.streams[program][stream];
  if (ops_ != nullptr && !ops_->empty()) next_span_ = plan.span(rank, ops_->front());
  advance();
}

void SliceCursor::advance() {
  const bool has_step = steps_ != nullptr && next_step_ < steps_->size();
  const bool has_pass = passes_ != nullptr && next_pass_ < passes_->size();
  const bool has_op = ops_ != nullptr && next_op_ < ops_->size();
  const std::uint32_t step = has_step ? (*steps_)[next_step_].first_op : kNoOp;
  const std::uint32_t pass = has_pass ? (*passes_)[next_pass_].first_op : kNoOp;
  const std::uint32_t op = has_op ? (*ops_)[next_op_] : kNoOp;
  if (has_step && step <= pass && step <= op) return open_step();
  if (has_pass && pass <= op) return open_pass();
  if (has_op) return open_operation();
  slice_.span = slice_.apart = {kNoTime, kNoTime};
}

Span SliceCursor::span_of(const StepOps& step) const {
  const Nanoseconds start = step.op_before ? plan_.span(slice_.rank, *step.op_before).finish : 0;
  const Nanoseconds finish =
      step.is_last ? plan_.run.timeline.makespan_ps / 1000 : plan_.span(slice_.rank, step.last_op).finish;
  return {start, finish};
}

void SliceCursor::open_step() {
  const StepOps& step = (*steps_)[next_step_++];
  slice_.level = TraceLevel::step;
  slice_.op = step.first_op;
  slice_.step = &step;
  const bool last = next_step_ == steps_->size();
  set_spans(span_of(step), kNoTime, last ? kNoTime : span_of((*steps_)[next_step_]).start);
  step_limit_ = limit_in(slice_.apart);
  pass_limit_ = step_limit_;
}

Nanoseconds SliceCursor::next_pass_start() const {
  if (next_pass_ == passes_->size()) return kNoTime;
  const PassOps& next = (*passes_)[next_pass_];
  const bool same_step = next_step_ == steps_->size() || next.first_op < (*steps_)[next_step_].first_op;
  return same_step ? plan_.span(slice_.rank, next.first_op).start : kNoTime;
}

void SliceCursor::open_pass() {
  const PassOps& pass = (*passes_)[next_pass_++];
  slice_.level = TraceLevel::pass;
  slice_.op = pass.first_op;
  slice_.pass = &pass;
  const Span span{plan_.span(slice_.rank, pass.first_op).start, plan_.span(slice_.rank, pass.last_op).finish};
  set_spans(span, step_limit_, next_pass_start());
  pass_limit_ = limit_in(slice_.apart);
}

void SliceCursor::open_operation() {
  slice_.level = TraceLevel::operation;
  slice_.op = (*ops_)[next_op_++];
  const Span span = next_span_;
  const bool last = next_op_ == ops_->size();
  if (!last) next_span_ = plan_.span(slice_.rank, (*ops_)[next_op_]);
  const bool in_pass = passes_ != nullptr && next_pass_ > 0;
  const bool ends_pass = last || (in_pass && (*passes_)[next_pass_ - 1].last_op == slice_.op);
  set_spans(span, pass_limit_, ends_pass ? kNoTime : next_span_.start);
}

void SliceCursor::set_spans(Span span, Nanoseconds limit, Nanoseconds next) {
  slice_.span = span;
  Nanoseconds end = std::min(span.finish, limit);
  if (next != kNoTime) end = std::min(end, std::min(next, limit) - 1);
  slice_.apart.start = std::min(span.start, limit);
  slice_.apart.finish = std::max(slice_.apart.start, end);
}

Arrow arrow_of(const TracePlan& plan, const TraceSlice& slice) {
  if (!slice.is_operation() || slice.span.finish - slice.span.start < kShortestWithArrow) return {};
  const Op& op = plan.op(slice.rank, slice.op);
  if (op.kind != Op::Kind::communicate) return {};
  const Workload& workload = plan.run.workload;
  if (workload.messages[op.work].collective != Collective::send_recv) return {};
  const auto pair = plan.members(slice.rank, op);
  if (pair.size() < 2 || !plan.has_rank[pair[0]] || !plan.has_rank[pair[1]]) return {};
  const std::uint64_t task = plan.task(slice.rank, slice.op);
  return {task * workload.ranks() + pair[0] + 1, pair[0] == slice.rank};
}

}  // namespace orrery
