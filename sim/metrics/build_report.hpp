// Turns a timeline into figures: breakdown, bubble, utilisation, critical path, traffic.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "orrery/report.hpp"
#include "orrery/task_graph.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/compute_cost.hpp"
#include "sim/cost/traffic.hpp"
#include "sim/metrics/kernel_split.hpp"
#include "sim/metrics/run_layout.hpp"
#include "sim/tasks/expanded_graph.hpp"

namespace orrery {

/// Everything a finished run consists of; the parts live as long as the view is used.
struct RunView {
  const Workload& workload;
  const RunLayout& layout;
  const ExpandedGraph& expanded;
  const Timeline& timeline;
  const Topology& topology;
  std::span<const ComputePrice> compute_prices;  ///< per Workload::kernel_sequences
  std::span<const ComputePrice> pass_prices;     ///< per Workload::passes: the compute in it
  const Traffic& traffic;
  Figures figures{};
  const WorkloadKernels& kernels = kNoKernels;  ///< where Figures::kernels asks for them
};

/// Holds how the compute stream of a rank spends the run, in ps.
struct ClassTimes {
  Picoseconds compute = 0, optimizer = 0, host = 0, launch = 0, optimizer_host = 0, bubble = 0;
  std::array<Picoseconds, kDimensionCount> exposed{};  ///< by Dimension
  std::vector<Picoseconds> kernels;  ///< of `compute` by KernelClass; empty where nobody asked

  [[nodiscard]] Picoseconds busy() const { return compute + optimizer + launch; }
  /// Adds `times` x other.
  void add(const ClassTimes& other, std::int64_t times);
};

/// Holds the sums of a run before they become shares and means; all of them add up over time.
struct Totals {
  Picoseconds makespan_ps = 0;
  std::vector<ClassTimes> classes;  ///< per class of ranks
  CriticalPath critical_path;

  /// Adds `times` x other.
  void add(const Totals& other, std::int64_t times);
};

/// A part of a run: per program its operations [first, last) and the waits before them, and the time from
/// `begin` to `end`, which need not be theirs.
struct RunPart {
  struct Ops {
    std::uint32_t first = 0;
    std::uint32_t last = 0xffffffff;
  };
  std::vector<Ops> ops;
  Picoseconds begin = 0;
  Picoseconds end = 0;
};

/// Holds the totals of the whole run and of one period in it.
struct StepAndPeriod {
  Totals whole;
  Totals part;
};
/// RunView::figures of them; the others are left at 0.
[[nodiscard]] StepAndPeriod measure(const RunView& run, const RunPart& part);
/// The part is all of it.
[[nodiscard]] StepAndPeriod measure_all(const RunView& run);

/// A report says these without a run, of a workload that may lack programs and communicators: the size of the
/// model and of a batch.
[[nodiscard]] Report outlined_report(const Workload& workload);
/// And the FLOPs of a step of training.
[[nodiscard]] Report training_report(const Workload& workload);

/// Holds the inputs of a report beside the totals of a run.
struct ReportInput {
  const Workload& workload;  ///< may lack programs and communicators
  std::uint32_t gpus = 0;
  const std::vector<std::uint32_t>& multiplicity;  ///< per class of ranks: how many it stands for
  const Traffic& traffic;
  Figures figures{};
};

/// The figures of a run. Leaves name, feasibility, assumptions, memory limits, peak_tflops_per_gpu
/// and statistics to the caller.
[[nodiscard]] Report build_report(const ReportInput& input, const Totals& totals);

}  // namespace orrery
