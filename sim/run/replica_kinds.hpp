// Finds the GPUs on which each replica of a plan serves: replicas whose stages have like GPUs are of one
// kind, priced and measured once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

/// Describes a GPU of a class, and the time of its kernels over that on a normal GPU of the class
/// (GpuOverride).
struct PacedGpu {
  const Gpu* gpu = nullptr;
  double slowdown = 1;

  friend bool operator==(const PacedGpu&, const PacedGpu&) = default;
};

/// The GPUs of a pipeline stage of a replica, each different one once.
struct StageGpus {
  std::vector<PacedGpu> own;  ///< that hold it
  /// That keep step with it: the slowest of them counts. Replicas that share the experts of a layer wait for
  /// each other in all of its layers.
  std::vector<PacedGpu> pace;

  friend bool operator==(const StageGpus&, const StageGpus&) = default;
};

struct ReplicaKind {
  std::vector<StageGpus> stages;
  std::uint32_t first_replica = 0;  ///< the first of this kind

  /// Returns its GPUs in words: names, and speeds that are not 1.
  [[nodiscard]] std::string gpus() const;
};

struct ReplicaKinds {
  std::vector<ReplicaKind> kinds;         ///< in the order of their first replicas
  std::vector<std::uint32_t> of_replica;  ///< empty where all are of one kind
};

/// Refers to the GPUs of `experiment`, whose plan leaves nothing open. Rank r runs on GPU r.
[[nodiscard]] ReplicaKinds replica_kinds(const Experiment& experiment);

}  // namespace orrery
