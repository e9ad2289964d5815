#include "reports/trace/labels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

TraceLabels::Label label(std::string_view name, std::string_view category) {
  return trace_label(name, category);
}

std::string compute_name(std::string_view phase, std::string_view part) {
  return part == "optimizer" ? std::string(part) : fmt::format("{} {}", phase, part);
}

template <class Enum>
std::size_t at(Enum value) {
  return static_cast<std::size_t>(value);
}

std::string_view pass_name(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward pass";
    case Phase::recompute:
    case Phase::backward:
      return "backward pass";
    case Phase::weight_gradient:
      return "weight-gradient pass";
    case Phase::synchronize:
    case Phase::optimize:
      break;
  }
  return "optimizer";
}

/// Names the category of slices that contain others. It is not a phase, so that sums over a phase do not
/// count them twice.
constexpr std::string_view kPassCategory = "pass";
constexpr std::string_view kStepCategory = "step";

}  // namespace

TraceLabels::TraceLabels()
    : tied_(label("tied embedding all-reduce", "synchronize")),
      sends_model_(label("send model", "synchronize")),
      receives_model_(label("receive model", "synchronize")),
      step_(label("step", kStepCategory)) {
  for (const auto phase : kPhaseNames) {
    for (const auto part : kPartNames) compute_.push_back(label(compute_name(phase, part), phase));
    for (const auto collective : kCollectiveNames) collectives_.push_back(label(collective, phase));
    host_.push_back(label(fmt::format("host, {}", phase), phase));
    for (const auto stream : kStreamNames) transfers_.push_back(label(stream, phase));
  }
  for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase)
    passes_.push_back(label(pass_name(static_cast<Phase>(phase)), kPassCategory));
  number_all();
}

void TraceLabels::number_all() {
  std::uint32_t number = 0;
  for (Label* one : {&tied_, &sends_model_, &receives_model_, &step_}) one->number = number++;
  for (auto* labels : {&compute_, &collectives_, &transfers_, &host_, &passes_}) {
    for (Label& one : *labels) one.number = number++;
  }
}

std::vector<const TraceLabels::Label*> TraceLabels::all() const {
  std::vector<const Label*> all{&tied_, &sends_model_, &receives_model_, &step_};
  for (const auto* labels : {&compute_, &collectives_, &transfers_, &host_, &passes_}) {
    for (const Label& one : *labels) all.push_back(&one);
  }
  return all;
}

const TraceLabels::Label& TraceLabels::of(const TracePlan& plan, const TraceSlice& slice) const {
  if (slice.level == TraceLevel::step) return step_;
  if (slice.level == TraceLevel::pass) return passes_[at(slice.pass->phase)];
  return of(plan.run.workload, plan.op(slice.rank, slice.op));
}

const TraceLabels::Label& TraceLabels::of(const Workload& workload, const Op& op) const {
  if (op.stream == Stream::host) return host_[at(op.phase)];
  if (is_offload(op.stream)) return transfers_[at(op.phase) * kStreamCount + at(op.stream)];
  if (op.kind != Op::Kind::communicate) return compute_[at(op.phase) * kPartNames.size() + at(op.part)];
  const Message& message = workload.messages[op.work];
  if (op.part == Part::embedding && op.phase == Phase::synchronize) return tied_;
  if (message.collective == Collective::send_recv) {
    if (at(op.stream) >= kStreamCount)
      return op.stream == send_stream((at(op.stream) - kStreamCount) / 2) ? sends_model_ : receives_model_;
    return transfers_[at(op.phase) * kStreamCount + at(op.stream)];
  }
  return collectives_[at(op.phase) * kCollectiveCount + at(message.collective)];
}

std::vector<std::string> TraceLabels::names() const {
  std::vector<std::string> names{tied_.name, sends_model_.name, receives_model_.name};
  for (const auto* labels : {&compute_, &collectives_, &transfers_, &host_}) {
    for (const Label& label : *labels) {
      if (std::ranges::find(names, label.name) == names.end()) names.push_back(label.name);
    }
  }
  return names;
}

}  // namespace orrery
