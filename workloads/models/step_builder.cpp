#include "workloads/models/step_builder.hpp"

#include <algorithm>
#include <limits>

#include "workloads/communicators/communicators.hpp"
#include "workloads/communicators/wire_width.hpp"

namespace orrery {

std::int32_t StepBuilder::add(const Step& step) {
  steps_.push_back(step);
  return static_cast<std::int32_t>(steps_.size()) - 1;
}

/// A CUDA graph of a part of a layer is launched like one kernel; one of the whole step leaves nothing to do.
Picoseconds StepBuilder::issue_time(const std::vector<Kernel>& kernels) const {
  if (plan_.cuda_graphs == CudaGraphs::step) return 0;
  const bool backward = phase_ == Phase::backward || phase_ == Phase::weight_gradient;
  const double issue_us = backward ? software_.backward_issue_us : software_.forward_issue_us;
  const double expert_us = software_.expert_issue_us > 0 ? software_.expert_issue_us : issue_us;
  std::int64_t experts = 0, others = 0;
  for (const Kernel& kernel : kernels) (kernel.grouped ? experts : others) += kernel.launches();
  if (plan_.cuda_graphs == CudaGraphs::layers && experts == 0) others = std::min<std::int64_t>(others, 1);
  return from_microseconds(issue_us) * others + from_microseconds(expert_us) * experts;
}

std::int32_t StepBuilder::compute(Part part, std::vector<Kernel> kernels, std::int32_t after,
                                  Picoseconds more_host_ps) {
  const Picoseconds host = issue_time(kernels) + more_host_ps;
  const std::uint32_t work = add_work(workload_, std::move(kernels), host);
  workload_.kernel_sequences[work].again = phase_ == Phase::recompute;
  return add({Op::Kind::compute, work, part, phase_, after});
}

std::int32_t StepBuilder::wait_on_host(Part part, std::int32_t after) {
  Step step{Op::Kind::compute, find_work(workload_, {}, 0), part, phase_, after};
  step.on_host = true;
  return add(step);
}

std::optional<Precision> StepBuilder::sent_in(Collective collective, Slot communicator) const {
  const WirePrecision& wire = plan_.wire_precision;
  switch (communicator_kind(communicator).dimension) {
    case Dimension::tensor:
      return collective == Collective::all_gather ? wire.tensor_gather : wire.tensor_reduce;
    case Dimension::context:
      return wire.context;
    default:
      return std::nullopt;
  }
}

std::int64_t StepBuilder::ranks_of(Slot communicator) const {
  if (communicator == Slot::expert_tensor) return plan_.expert_tensor_parallel;
  return communicator == Slot::context ? plan_.context_parallel : plan_.tensor_parallel;
}

/// Gathered values are cast by the rank that has them, and as a whole where they arrive; sums the other way.
std::int32_t StepBuilder::collective(Part part, Collective collective, Bytes bytes, std::int32_t after,
                                     Slot communicator, Wire wire, double efficiency) {
  const auto sent = wire != nullptr ? plan_.wire_precision.*wire : sent_in(collective, communicator);
  const WireWidth width(sent, element_bytes(plan_.precision), plan_.precision);
  const Bytes moved = sent ? width.of_kept(bytes) : bytes;
  if (!width.casts()) return collective_as_is(part, collective, moved, after, communicator, efficiency);
  const std::int64_t ranks = ranks_of(communicator);
  const Bytes before = collective == Collective::all_gather ? divide_up(bytes, ranks) : bytes;
  const Bytes arrived = collective == Collective::reduce_scatter ? divide_up(bytes, ranks) : bytes;
  std::int32_t at = after;
  if (communicator != Slot::context_in) at = compute(part, {width.cast(before)}, at);
  at = collective_as_is(part, collective, moved, at, communicator, efficiency);
  return communicator == Slot::context_out ? at : compute(part, {width.cast(arrived)}, at);
}

/// Adds a collective that sends values as they are. Calibrations know waits of tensor groups only, so other
/// groups have none.
std::int32_t StepBuilder::collective_as_is(Part part, Collective collective, Bytes bytes, std::int32_t after,
                                           Slot communicator, double efficiency) {
  const double ranks = communicator == Slot::tensor ? static_cast<double>(plan_.tensor_parallel) : 0;
  const Picoseconds host =
      plan_.cuda_graphs == CudaGraphs::step
          ? 0
          : from_microseconds(software_.collective_issue_us + software_.tensor_skew_us * ranks * ranks);
  const auto wait = from_microseconds(software_.tensor_wait_us * std::max(ranks - 1, 0.0));
  const Dimension dimension = communicator_kind(communicator).dimension;
  const std::uint32_t message =
      add_message(workload_, {collective, bytes, dimension, host, efficiency, wait});
  return add({Op::Kind::communicate, message, part, phase_, after, communicator});
}

Message in_a_row(Message message, std::uint32_t times) {
  constexpr Int128 kLongest = std::numeric_limits<Picoseconds>::max();
  message.times = times;
  message.host_ps = static_cast<Picoseconds>(std::min(Int128{message.host_ps} * times, kLongest));
  return message;
}

std::uint32_t add_message(Workload& workload, const Message& message) {
  const auto found = std::ranges::find(workload.messages, message);
  const auto at = static_cast<std::uint32_t>(found - workload.messages.begin());
  if (found == workload.messages.end()) workload.messages.push_back(message);
  return at;
}

std::uint32_t add_pass(Workload& workload, PassWork pass) {
  const auto found = std::ranges::find(workload.passes, pass);
  const auto at = static_cast<std::uint32_t>(found - workload.passes.begin());
  if (found == workload.passes.end()) workload.passes.push_back(std::move(pass));
  return at;
}

namespace {

KernelSequence made_of(std::vector<Kernel> kernels, Picoseconds host_ps) {
  KernelSequence work;
  work.host_ps = host_ps;
  work.kernels = std::move(kernels);
  for (const Kernel& kernel : work.kernels) work.flops += kernel.flops;
  return work;
}

}  // namespace

std::uint32_t add_work(Workload& workload, std::vector<Kernel> kernels, Picoseconds host_ps) {
  workload.kernel_sequences.push_back(made_of(std::move(kernels), host_ps));
  return static_cast<std::uint32_t>(workload.kernel_sequences.size() - 1);
}

/// Finds equal work from the end, since stages need the same work as those before them.
std::uint32_t find_work(Workload& workload, std::vector<Kernel> kernels, Picoseconds host_ps) {
  KernelSequence work = made_of(std::move(kernels), host_ps);
  for (std::size_t at = workload.kernel_sequences.size(); at-- > 0;) {
    if (workload.kernel_sequences[at] == work) return static_cast<std::uint32_t>(at);
  }
  workload.kernel_sequences.push_back(std::move(work));
  return static_cast<std::uint32_t>(workload.kernel_sequences.size() - 1);
}

}  // namespace orrery
