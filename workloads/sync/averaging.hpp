// Writes averages of values over workers: compression, transfers, sums. DataParallel uses it for gradients
// and ModelSync for models; they decide when.
#pragma once

#include <vector>

#include "orrery/experiment.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/programs/program_writer.hpp"
#include "workloads/sync/compressor.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {

class Averaging {
 public:
  /// Keeps references.
  Averaging(const Experiment& experiment, const CommunicatorLayout& layout, Workload& workload,
            ProgramWriter& writer);

  /// Averages over the workers, and within each of them where a node is one. `like` has the labels of the
  /// operations: step, micro-batch, chunk, part. Returns the operation after which the mean is everywhere.
  /// `times`: the number of payloads, one right after the other; more than one only if sends_all_at_once().
  OpId everywhere(const Payload& payload, const Op& like, OpId dep, std::uint32_t times = 1);
  /// Returns true if a mean over workers is a single message without further kernels.
  [[nodiscard]] bool sends_all_at_once() const { return !layout_.joins_replicas() && !compressor_.active(); }
  /// Averages over the replicas of a worker. Returns `dep` if a worker has one replica, or if they scatter
  /// what they reduce.
  OpId in_worker(const Payload& payload, const Op& like, OpId dep);
  /// Averages over one replica of each worker; the others get the mean with share(). Received values are
  /// compressed until unpack().
  OpId over_workers(const Payload& payload, const Op& like, OpId dep, std::uint32_t times = 1);
  /// Returns the kernels that unpack the messages of all workers.
  [[nodiscard]] std::vector<Kernel> unpack(const Payload& payload) const;
  /// Sends the mean from one replica of each worker to its others; returns `dep` if each has its shard.
  OpId share(const Payload& payload, const Op& like, OpId dep);

  /// Sends to and receives from the neighbours of `round`; all that has to end. `first` of a step.
  std::vector<OpId> exchange(const Payload& payload, const CommunicatorLayout::Round& round, const Op& like,
                             OpId dep, bool first);
  /// Returns the kernels that unpack the messages of `neighbours` neighbours.
  [[nodiscard]] std::vector<Kernel> unpack(const Payload& payload, std::int64_t neighbours) const {
    return compressor_.decompress(payload, neighbours);
  }

  /// Kernels of the GPU that belong to the synchronisation; the last of `deps` if there are none.
  OpId compute(std::vector<Kernel> kernels, const Op& like, std::vector<OpId> deps);

 private:
  OpId transfer(const Message& message, Stream stream, std::uint16_t slot, const Op& like, OpId dep);
  [[nodiscard]] Stream stream_over_workers() const;
  [[nodiscard]] std::vector<Kernel> compressed(const Payload& payload) const;
  [[nodiscard]] Picoseconds negotiation_ps(const Payload& payload) const;
  [[nodiscard]] Picoseconds late_neighbour_ps() const;
  [[nodiscard]] Message global(Collective what, Bytes bytes) const;
  /// Replicas whose values over_workers() brings together.
  [[nodiscard]] std::int64_t averaged() const {
    return experiment_.plan.model_copies() * experiment_.plan.context_parallel * layout_.workers().workers;
  }
  /// Returns true if an all-reduce adds the payloads up; otherwise each worker gathers those of all others.
  [[nodiscard]] bool sums() const { return compressor_.adds_up() || method_.by_servers; }
  [[nodiscard]] std::uint32_t work(std::vector<Kernel> kernels);

  const Experiment& experiment_;
  const SyncMethodRow& method_;
  const CommunicatorLayout& layout_;
  Workload& workload_;
  ProgramWriter& writer_;
  Compressor compressor_;
  Picoseconds message_host_;
  std::vector<std::uint32_t> kernel_sequences_;  ///< written so far
  std::int32_t waited_ = -1;                     ///< step whose first global message has been written
};

}  // namespace orrery
