#include "sim/long_run/checkpoint_costs.hpp"

#include <algorithm>

#include "workloads/weights/optimizer_states.hpp"

namespace orrery {
namespace {

// Usual storage, where a cluster names none. Eight NVMe disks of 3.84 TB a node (DGX H100) at 4 and 6.8 GB/s
// each; a file system of the class "better" of NVIDIA's DGX SuperPOD reference architecture, 20 GB/s written
// and 40 GB/s read for 32 nodes (both recalled).
constexpr double kLocalWrite = 32;
constexpr double kLocalRead = 54;
constexpr double kFilesystemWriteOfNode = 20.0 / 32;
constexpr double kFilesystemReadOfNode = 40.0 / 32;
constexpr double kUnknownHostLink = 32;  // PCIe 4.0 x 16
/// Share of a link's rate that copies to pinned memory reach: 26 of 32 GB/s of PCIe 4.0, 52 of 64 GB/s of
/// PCIe 5.0 (NVIDIA's bandwidthTest and nvbandwidth, recalled).
constexpr double kCopyEfficiency = 0.81;

Bytes bytes_divided(Bytes bytes, std::int64_t parts) { return (bytes + parts - 1) / parts; }

double given_or(double given, double usual) { return given > 0 ? given : usual; }

double bytes_over(Bytes bytes, double gb_per_s) { return static_cast<double>(bytes) / (gb_per_s * 1e9); }

class CheckpointPricer {
 public:
  CheckpointPricer(const Experiment& experiment, const CheckpointSize& size)
      : cluster_(experiment.cluster), storage_(storage_of(cluster_)), size_(size) {}

  /// Seconds from the memory of GPUs to that of their hosts, or back.
  [[nodiscard]] double copy_s(Bytes bytes) const {
    const Gpu& gpu = cluster_.gpu;
    const double link = given_or(gpu.host_link_gb_per_s, kUnknownHostLink);
    return bytes_over(bytes, std::min(kCopyEfficiency * link, gpu.host_memory_gb_per_s));
  }

  [[nodiscard]] double write_s(CheckpointTarget target) const {
    switch (target) {
      case CheckpointTarget::local:
        return bytes_over(written_by_node(), storage_.local_write_gb_per_s) + storage_.latency_s;
      case CheckpointTarget::memory:
        return 0;
      case CheckpointTarget::peer:
        return bytes_over(size_.gpu_bytes * cluster_.gpus_per_node, nics_gb_per_s());
      case CheckpointTarget::filesystem:
        return shared_s(storage_.filesystem_write_gb_per_s);
      case CheckpointTarget::object_store:
        return shared_s(storage_.object_store_write_gb_per_s);
    }
    return 0;
  }

  /// The bytes come once from a shared store, and over the fabric to the GPUs that hold the same.
  [[nodiscard]] double load_s(CheckpointTarget target) const {
    const Bytes node = size_.gpu_bytes * cluster_.gpus_per_node;
    const double to_gpus = copy_s(size_.gpu_bytes);
    switch (target) {
      case CheckpointTarget::local:
        return bytes_over(node, storage_.local_read_gb_per_s) + to_gpus + storage_.latency_s;
      case CheckpointTarget::memory:
        return to_gpus;
      case CheckpointTarget::peer:
        return bytes_over(node, nics_gb_per_s()) + to_gpus;
      case CheckpointTarget::filesystem:
        return read_s(storage_.filesystem_read_gb_per_s) + to_gpus;
      case CheckpointTarget::object_store:
        return read_s(storage_.object_store_read_gb_per_s) + to_gpus;
    }
    return 0;
  }

 private:
  [[nodiscard]] double nics_gb_per_s() const {
    const double rate = static_cast<double>(cluster_.fabric.nics_per_node) * cluster_.fabric.nic_gbps / 8;
    return given_or(rate, kUnknownHostLink);
  }
  [[nodiscard]] double node_gb_per_s() const { return given_or(storage_.node_gb_per_s, nics_gb_per_s()); }
  [[nodiscard]] Bytes written_by_node() const {
    const std::int64_t writers = bytes_divided(size_.writers, cluster_.nodes);
    return size_.writer_bytes * std::min(writers, cluster_.gpus_per_node);
  }

  /// The slowest of three: the store with all that write at once, a node, and a writer.
  [[nodiscard]] double shared_s(double gb_per_s) const {
    double time = std::max(bytes_over(size_.bytes, gb_per_s), bytes_over(written_by_node(), node_gb_per_s()));
    if (storage_.writer_gb_per_s > 0)
      time = std::max(time, bytes_over(size_.writer_bytes, storage_.writer_gb_per_s));
    return time + storage_.latency_s;
  }
  [[nodiscard]] double read_s(double gb_per_s) const {
    const double node = bytes_over(written_by_node(), node_gb_per_s());
    return std::max(bytes_over(size_.bytes, gb_per_s), node) + storage_.latency_s;
  }

  const Cluster& cluster_;
  Storage storage_;
  const CheckpointSize& size_;
};

/// Returns by FailureReach whether a copy there is left.
std::array<bool, 3> outlives(CheckpointTarget target) {
  switch (target) {
    case CheckpointTarget::local:
    case CheckpointTarget::memory:
      return {true, false, false};
    case CheckpointTarget::peer:
      return {true, true, false};
    case CheckpointTarget::filesystem:
    case CheckpointTarget::object_store:
      break;
  }
  return {true, true, true};
}

bool is_memory(CheckpointTarget target) {
  return target == CheckpointTarget::memory || target == CheckpointTarget::peer;
}

void take_given(const CheckpointPolicy& policy, CheckpointModel& model) {
  if (policy.stall_s != kNotGiven) model.stall_ps = ps_of_seconds(policy.stall_s);
  if (policy.save_s != kNotGiven)
    (model.second ? *model.second : model.first).save_ps = ps_of_seconds(policy.save_s);
  if (policy.load_s == kNotGiven) return;
  model.first.load_ps = model.peer_load_ps = ps_of_seconds(policy.load_s);
  if (model.second) model.second->load_ps = ps_of_seconds(policy.load_s);
}

}  // namespace

CheckpointSize checkpoint_size(const Experiment& experiment, const Report& step,
                               const CheckpointPolicy& policy) {
  const Plan& plan = experiment.plan;
  const std::int64_t gpus = experiment.cluster.gpus();
  const bool copied = main_weight_bytes(plan, step.parameters) > 0;
  Bytes states = optimizer_state_bytes(plan, step.parameters);
  // Sharded weights are kept as the optimizer's alone; ranks with all of them keep them in the precision of
  // products too.
  Bytes weights = copied && plan.zero_stage >= 3 ? 0 : step.parameters * bytes_of_32(plan.precision) / 32;
  if (policy.bytes_per_parameter > 0) {
    const double all = policy.bytes_per_parameter * static_cast<double>(step.parameters);
    const double share = static_cast<double>(weights) / static_cast<double>(states + weights);
    weights = static_cast<Bytes>(all * share + 0.5);
    states = static_cast<Bytes>(all + 0.5) - weights;
  }
  const std::int64_t copies = std::max<std::int64_t>(1, plan.weight_copies());
  const std::int64_t sharing = plan.zero_stage > 0 ? std::max<std::int64_t>(1, plan.sharding_ranks()) : 1;
  CheckpointSize size;
  size.bytes = states + weights;
  size.writers = std::max<std::int64_t>(1, gpus / copies * sharing);
  size.writer_bytes = bytes_divided(size.bytes, size.writers);
  const std::int64_t weight_parts =
      plan.zero_stage >= 3 ? size.writers : std::max<std::int64_t>(1, gpus / copies);
  size.gpu_bytes = bytes_divided(weights, weight_parts) + bytes_divided(states, size.writers);
  return size;
}

Storage storage_of(const Cluster& cluster) {
  Storage storage = cluster.storage;
  const auto nodes = static_cast<double>(cluster.nodes);
  storage.local_write_gb_per_s = given_or(storage.local_write_gb_per_s, kLocalWrite);
  storage.local_read_gb_per_s = given_or(storage.local_read_gb_per_s, kLocalRead);
  storage.filesystem_write_gb_per_s =
      given_or(storage.filesystem_write_gb_per_s, kFilesystemWriteOfNode * nodes);
  storage.filesystem_read_gb_per_s =
      given_or(storage.filesystem_read_gb_per_s, kFilesystemReadOfNode * nodes);
  storage.object_store_write_gb_per_s =
      given_or(storage.object_store_write_gb_per_s, storage.filesystem_write_gb_per_s);
  storage.object_store_read_gb_per_s =
      given_or(storage.object_store_read_gb_per_s, storage.filesystem_read_gb_per_s);
  return storage;
}

CheckpointModel checkpoint_costs(const Experiment& experiment, const CheckpointSize& size,
                                 const CheckpointPolicy& policy, Picoseconds step_ps) {
  const CheckpointPricer price(experiment, size);
  const double copy = price.copy_s(is_memory(policy.target) ? size.gpu_bytes : size.writer_bytes);
  const double write = price.write_s(policy.target);
  CheckpointModel model;
  model.first.load_ps = ps_of_seconds(price.load_s(policy.target));
  model.peer_load_ps = ps_of_seconds(price.load_s(CheckpointTarget::peer));
  model.first.survives = outlives(policy.target);
  if (policy.mode == CheckpointMode::sync) {
    model.stall_ps = ps_of_seconds(copy + write);
  } else {
    model.stall_ps = ps_of_seconds(copy);
    if (policy.overlap_copy) model.stall_ps = std::max<Picoseconds>(0, model.stall_ps - step_ps);
    model.first.save_ps = ps_of_seconds(write);
  }
  if (policy.mode == CheckpointMode::multi_level) {
    model.persist_every = policy.persist_every;
    model.second = CheckpointStore{
        model.first.save_ps + ps_of_seconds(price.write_s(policy.persistent_target)),
        ps_of_seconds(price.load_s(policy.persistent_target)), outlives(policy.persistent_target)};
  }
  take_given(policy, model);
  return model;
}

}  // namespace orrery
