// Turns a timeline into figures: breakdown, bubble, utilisation, critical path, traffic.
#pragma once

#include <span>

#include "orrery/report.hpp"
#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/compute_cost.hpp"
#include "sim/graph/expanded_graph.hpp"

namespace orrery {

/// Everything a finished run consists of; the parts live as long as the view is used.
struct RunView {
  const Workload& workload;
  const ExpandedGraph& expanded;
  const Timeline& timeline;
  const Topology& topology;
  std::span<const ComputePrice> compute_prices;  ///< per Workload::works
  std::span<const ComputePrice> pass_prices;     ///< per Workload::passes: the compute in it
  std::span<const double> link_bytes;  ///< per link of the topology: bytes it carries, all ranks counted
};

/// The figures of a run. Leaves name, feasibility, assumptions, memory limits, peak_tflops_per_gpu
/// and wall-clock statistics to the caller.
[[nodiscard]] Report build_report(const RunView& run);

}  // namespace orrery
