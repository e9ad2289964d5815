#include "sim/metrics/memory_fit.hpp"

#include <algorithm>
#include <vector>

#include "orrery/rank_grid.hpp"

namespace orrery {
namespace {

Bytes in_bytes(double gigabytes) { return static_cast<Bytes>(gigabytes * 1e9 + 0.5); }

Bytes memory_of(const Gpu& gpu) { return in_bytes(gpu.memory_gb); }

/// Returns the bytes of a stage within the usable memory. Memory outside the allocator counts only above the
/// GPU's reserve for it.
Bytes needed(const StageMemory& stage, const Gpu& gpu) {
  return stage.reserved() + std::max<Bytes>(0, stage.outside - in_bytes(gpu.memory_reserve_gb));
}

std::string in_gigabytes(Bytes bytes) {
  const auto tenths = static_cast<std::int64_t>(static_cast<double>(bytes) / 1e8 + 0.5);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB";
}

/// Per stage, the smallest of the GPUs that run it.
std::vector<const Gpu*> gpus_of_stages(const Experiment& experiment, std::size_t stages) {
  const Cluster& cluster = experiment.cluster;
  std::vector<const Gpu*> smallest(stages, cluster.gpu_classes() == 1 ? &cluster.gpu : nullptr);
  if (cluster.gpu_classes() == 1) return smallest;
  const RankGrid grid(experiment.plan);
  std::uint32_t rank = 0;
  for (const NodeGroup& group : cluster.groups) {
    const Gpu& gpu = cluster.gpu_of_class(group.gpu_class);
    for (const std::uint32_t first = rank; rank - first < group.nodes * cluster.gpus_per_node; ++rank) {
      const Gpu*& known = smallest[static_cast<std::size_t>(grid.place(rank, Axis::pipeline))];
      if (known == nullptr || usable_memory(gpu) < usable_memory(*known)) known = &gpu;
    }
  }
  return smallest;
}

/// Bytes that a stage has too many; none where the memory is unknown.
Bytes lacking(const StageMemory& stage, const Gpu& gpu) {
  return memory_of(gpu) == 0 ? 0 : std::max<Bytes>(0, needed(stage, gpu) - usable_memory(gpu));
}

}  // namespace

Bytes usable_memory(const Gpu& gpu) {
  if (gpu.memory_gb == 0) return 0;
  const double usable = gpu.memory_usable_gb > 0 ? gpu.memory_usable_gb : gpu.memory_gb;
  return in_bytes(std::min(usable, gpu.memory_gb)) - in_bytes(gpu.memory_reserve_gb);
}

GpuMemory smallest_gpu_memory(const Cluster& cluster) {
  GpuMemory smallest{memory_of(cluster.gpu), usable_memory(cluster.gpu)};
  for (const Gpu& gpu : cluster.other_gpus) {
    smallest.whole = std::min(smallest.whole, memory_of(gpu));
    smallest.usable = std::min(smallest.usable, usable_memory(gpu));
  }
  return smallest;
}

std::vector<StageMemory> memory_by_stage(const Plan& plan, const Workload& workload) {
  const auto stages = static_cast<std::size_t>(plan.pipeline_parallel);
  std::vector<StageMemory> most(stages);
  for (std::size_t program = 0; program < workload.stage_memory.size(); ++program) {
    const StageMemory& memory = workload.stage_memory[program];
    if (memory.total() > most[program % stages].total()) most[program % stages] = memory;
  }
  return most;
}

bool fits(const Experiment& experiment, std::span<const StageMemory> stages) {
  const std::vector<const Gpu*> gpus = gpus_of_stages(experiment, stages.size());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (lacking(stages[s], *gpus[s]) > 0) return false;
  }
  return true;
}

std::string out_of_memory(const Experiment& experiment, std::span<const StageMemory> stages) {
  const std::vector<const Gpu*> gpus = gpus_of_stages(experiment, stages.size());
  std::size_t worst = 0;
  for (std::size_t s = 1; s < stages.size(); ++s) {
    if (lacking(stages[s], *gpus[s]) > lacking(stages[worst], *gpus[worst])) worst = s;
  }
  const Gpu& gpu = *gpus[worst];
  return "out of memory: stage " + std::to_string(worst) + " needs " +
         in_gigabytes(needed(stages[worst], gpu)) + " per GPU, " + (gpu.name.empty() ? "the GPU" : gpu.name) +
         " has " + in_gigabytes(usable_memory(gpu)) + " for it";
}

}  // namespace orrery
