#include "orrery/recorded_run.hpp"

#include <cstddef>
#include <utility>

#include "face/recorded_state.hpp"
#include "sim/run/asynchronous_run.hpp"

namespace orrery {
namespace {

/// Operations of `rank` on each stream, as indices into its program.
const StreamOps& operations_of(const TracePlan& plan, std::uint32_t rank) {
  return plan.streams[plan.program_of(rank)];
}

OperationSpan span_of(const RecordedStep& step, std::uint32_t rank, std::uint32_t index) {
  const Op& op = step.plan.op(rank, index);
  const std::uint32_t task = step.plan.task(rank, index);
  OperationSpan span{step.view.timeline.start_ps[task],
                     step.view.timeline.finish_ps[task],
                     step.labels.of(step.view.workload, op).name,
                     op.phase,
                     op.layer,
                     op.micro_batch,
                     op.chunk,
                     op.step};
  if (op.kind == Op::Kind::communicate) {
    span.bytes = step.view.workload.messages[op.work].bytes;
    span.ranks = step.plan.members(rank, op);
  }
  return span;
}

}  // namespace

RecordedRun::RecordedRun(std::unique_ptr<const State> state) : state_(std::move(state)) {}
RecordedRun::RecordedRun(RecordedRun&&) noexcept = default;
RecordedRun& RecordedRun::operator=(RecordedRun&&) noexcept = default;
RecordedRun::~RecordedRun() = default;

const Experiment& RecordedRun::experiment() const { return state_->experiment; }
const Report& RecordedRun::report() const { return state_->outcome.report(); }
const ServingRecord* RecordedRun::requests() const { return state_->outcome.requests.get(); }
std::uint32_t RecordedRun::ranks() const { return state_->step ? state_->step->view.workload.ranks() : 0; }

std::vector<Stream> RecordedRun::streams(std::uint32_t rank) const {
  std::vector<Stream> used;
  if (!state_->step) return used;
  const StreamOps& operations = operations_of(state_->step->plan, rank);
  for (std::size_t s = 0; s < operations.size(); ++s) {
    if (!operations[s].empty()) used.push_back(static_cast<Stream>(s));
  }
  return used;
}

std::vector<OperationSpan> RecordedRun::spans(std::uint32_t rank, Stream stream) const {
  std::vector<OperationSpan> spans;
  if (!state_->step) return spans;
  const StreamOps& operations = operations_of(state_->step->plan, rank);
  const auto s = static_cast<std::size_t>(stream);
  if (s >= operations.size()) return spans;
  spans.reserve(operations[s].size());
  for (const std::uint32_t op : operations[s]) spans.push_back(span_of(*state_->step, rank, op));
  return spans;
}

RecordedRun record(const Experiment& experiment) {
  if (!experiment.inference) require_one_timeline(experiment);
  return RecordedRun(std::make_unique<const RecordedRun::State>(experiment));
}

}  // namespace orrery
