#include "workloads/sync/averaging.hpp"

#include <utility>

#include "workloads/models/step_builder.hpp"

namespace orrery {
Averaging::Averaging(const Experiment& experiment, const CommunicatorLayout& layout, Workload& workload,
                     ProgramWriter& writer)
    : experiment_(experiment),
      method_(sync_method(experiment.data_parallel_sync.method)),
      layout_(layout),
      workload_(workload),
      writer_(writer),
      compressor_(experiment.data_parallel_sync.compression),
      message_host_(from_microseconds(experiment.software.collective_issue_us)) {}

OpId Averaging::transfer(const Message& message, Stream stream, std::uint16_t slot, const Op& like,
                         OpId dep) {
  Op op = like;
  op.kind = Op::Kind::communicate;
  op.stream = stream;
  op.phase = Phase::synchronize;
  op.slot = slot;
  op.work = add_message(workload_, message);
  return writer_.add(op, {dep});
}

OpId Averaging::compute(std::vector<Kernel> kernels, const Op& like, std::vector<OpId> deps) {
  if (kernels.empty()) return deps.back();
  Op op = like;
  op.kind = Op::Kind::compute;
  op.stream = Stream::compute;
  op.phase = Phase::synchronize;
  op.work = work(all_as(KernelClass::averaging, std::move(kernels)));
  return writer_.add(op, deps);
}

/// Index of the kernels in the workload, added if they are new.
std::uint32_t Averaging::work(std::vector<Kernel> kernels) {
  for (const std::uint32_t known : kernel_sequences_) {
    if (workload_.kernel_sequences[known].kernels == kernels) return known;
  }
  const double issue_us = experiment_.software.backward_issue_us * static_cast<double>(kernels.size());
  kernel_sequences_.push_back(find_work(workload_, std::move(kernels), from_microseconds(issue_us)));
  return kernel_sequences_.back();
}

/// Returns the time until the background thread has sent the fused tensors of `payload`: half a cycle on
/// average, and the coordinator's work for the tensors of all ranks.
Picoseconds Averaging::negotiation_ps(const Payload& payload) const {
  const Software& software = experiment_.software;
  const double requests = static_cast<double>(payload.tensors) * static_cast<double>(experiment_.plan.gpus());
  return from_microseconds(software.cycle_time_ms * 1e3 / 2 + software.negotiation_us_per_tensor * requests);
}

/// A message among all workers.
Message Averaging::global(Collective what, Bytes bytes) const {
  Message message{what, bytes, Dimension::data, message_host_};
  if (experiment_.cluster.nodes > 1) message.efficiency = experiment_.software.data_reduce_efficiency;
  if (method_.by_servers && what == Collective::all_reduce)
    message.servers = static_cast<std::uint32_t>(experiment_.data_parallel_sync.servers);
  return message;
}

/// Models may be on their way for steps, in which gradients are reduced inside the workers.
Stream Averaging::stream_over_workers() const {
  if (method_.travels == Travels::models) return Stream::workers;
  return layout_.shards_in_worker() ? Stream::copies : Stream::data;
}

OpId Averaging::over_workers(const Payload& payload, const Op& like, OpId dep, std::uint32_t times) {
  const std::int64_t workers = averaged();
  if (workers < 2) return dep;
  const Stream stream = stream_over_workers();
  OpId at = compute(compressed(payload), like, {dep});
  for (const Bytes bytes : compressor_.wire_bytes(payload)) {
    Message message =
        sums() ? global(Collective::all_reduce, bytes) : global(Collective::all_gather, bytes * workers);
    message.wait_ps = negotiation_ps(payload);
    std::uint32_t left = times;
    if (std::exchange(waited_, like.step) != like.step) {  // the first one waits for the last worker
      Message first = message;
      first.wait_ps += from_microseconds(experiment_.software.data_reduce_wait_ms * 1e3);
      at = transfer(first, stream, layout_.workers_slot(), like, at);
      --left;
    }
    if (left == 0) continue;
    at = transfer(in_a_row(message, left), stream, layout_.workers_slot(), like, at);
  }
  return at;
}

/// Returns the kernels that compress the payload.
std::vector<Kernel> Averaging::compressed(const Payload& payload) const {
  std::vector<Kernel> kernels;
  if (method_.prepare_bytes > 0) kernels.push_back(memory(payload.values * method_.prepare_bytes));
  for (const Kernel& kernel : compressor_.compress(payload)) kernels.push_back(kernel);
  return kernels;
}

std::vector<Kernel> Averaging::unpack(const Payload& payload) const {
  const std::int64_t workers = averaged();
  if (workers < 2 || !(compressor_.active() || payload.casts())) return {};
  std::vector<Kernel> kernels;
  if (method_.by_servers) {  // all workers wait while servers process their share
    const std::int64_t servers = experiment_.data_parallel_sync.servers;
    const Payload share{divide_up(payload.values, servers), divide_up(payload.tensors, servers),
                        payload.width};
    kernels = compressor_.decompress(share, workers);
    for (const Kernel& kernel : compressor_.compress(share)) kernels.push_back(kernel);
  }
  for (const Kernel& kernel : compressor_.decompress(payload, sums() ? 1 : workers))
    kernels.push_back(kernel);
  return kernels;
}

OpId Averaging::in_worker(const Payload& payload, const Op& like, OpId dep) {
  if (!layout_.joins_replicas() || layout_.shards_in_worker()) return dep;
  const Message message{Collective::all_reduce, payload.values * payload.width, Dimension::data,
                        message_host_};
  return transfer(message, Stream::data, layout_.node_slot(), like, dep);
}

OpId Averaging::share(const Payload& payload, const Op& like, OpId dep) {
  if (!layout_.joins_replicas() || layout_.shards_in_worker()) return dep;
  const Message message{Collective::broadcast, payload.values * payload.width * method_.shared,
                        Dimension::data, message_host_};
  return transfer(message, Stream::data, layout_.node_slot(), like, dep);
}

OpId Averaging::everywhere(const Payload& payload, const Op& like, OpId dep, std::uint32_t times) {
  const OpId reduced = in_worker(payload, like, dep);
  const OpId arrived = over_workers(payload, like, reduced, times);
  return share(payload, like, compute(unpack(payload), like, {arrived}));
}

/// Workers whose loaders fetch samples for every step reach their exchange at different times.
Picoseconds Averaging::late_neighbour_ps() const {
  if (experiment_.training.data != DataInput::loaded) return 0;
  return from_microseconds(experiment_.software.exchange_wait_ms * 1e3);
}

std::vector<OpId> Averaging::exchange(const Payload& payload, const CommunicatorLayout::Round& round,
                                      const Op& like, OpId dep, bool first) {
  const OpId ready = compute(compressed(payload), like, {dep});
  std::vector<OpId> arrived;
  for (Bytes bytes : compressor_.wire_bytes(payload)) {
    bytes *= method_.vectors;
    if (first) bytes += method_.message_bytes;
    Message message{Collective::send_recv, bytes, Dimension::data, message_host_};
    message.wait_ps = negotiation_ps(payload);
    if (std::exchange(first, false)) message.wait_ps += late_neighbour_ps();
    for (std::size_t c = 0; c < round.colours.size(); ++c) {
      arrived.push_back(
          transfer(message, send_stream(c), CommunicatorLayout::out_slot(round, c), like, ready));
      arrived.push_back(
          transfer(message, recv_stream(c), CommunicatorLayout::in_slot(round, c), like, ready));
    }
  }
  return arrived;
}

}  // namespace orrery
