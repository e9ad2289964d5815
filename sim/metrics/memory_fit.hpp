// Decides if the stages of a plan fit into the memory of their GPUs, which differ in a mixed cluster.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Returns the memory of a GPU for tensors and for what the allocator holds beside them; 0: unknown.
[[nodiscard]] Bytes usable_memory(const Gpu& gpu);

/// Describes the smallest GPU memory of the cluster; 0: unknown.
struct GpuMemory {
  Bytes whole = 0;
  Bytes usable = 0;  ///< by a plan: without the reserve and memory that cannot be allocated
};
[[nodiscard]] GpuMemory smallest_gpu_memory(const Cluster& cluster);

/// Returns the memory of each pipeline stage on the replica that needs most of it. Replicas with unequal
/// batches have programs with different micro-batches.
[[nodiscard]] std::vector<StageMemory> memory_by_stage(const Plan& plan, const Workload& workload);

/// Returns true if each of the stages fits into every GPU that runs it.
[[nodiscard]] bool fits(const Experiment& experiment, std::span<const StageMemory> stages);

/// A sentence on the stage that lacks most memory; call it only where some do not fit.
[[nodiscard]] std::string out_of_memory(const Experiment& experiment, std::span<const StageMemory> stages);

}  // namespace orrery
