#include "reports/trace_labels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

TraceLabels::Label label(std::string_view name, std::string_view category) {
  return {std::string(name), fmt::format(R"("name":"{}","cat":"{}")", name, category)};
}

std::string compute_name(std::string_view phase, std::string_view part) {
  return part == "optimizer" ? std::string(part) : fmt::format("{} {}", phase, part);
}

template <class Enum>
std::size_t at(Enum value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

TraceLabels::TraceLabels()
    : tied_(label("tied embedding all-reduce", "synchronize")),
      sends_model_(label("send model", "synchronize")),
      receives_model_(label("receive model", "synchronize")) {
  for (const auto phase : kPhaseNames) {
    for (const auto part : kPartNames) compute_.push_back(label(compute_name(phase, part), phase));
    for (const auto collective : kCollectiveNames) collectives_.push_back(label(collective, phase));
    host_.push_back(label(fmt::format("host, {}", phase), phase));
    for (const auto stream : kStreamNames) transfers_.push_back(label(stream, phase));
  }
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
