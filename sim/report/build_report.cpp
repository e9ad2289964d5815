#include "sim/report/build_report.hpp"

#include "sim/report/breakdown.hpp"
#include "sim/report/critical_path.hpp"
#include "sim/report/traffic.hpp"

namespace orrery {

Report build_report(const RunView& run) {
  const Workload& workload = run.workload;
  Report report;
  report.gpus = workload.ranks();
  report.steps = workload.steps;
  report.makespan_ps = run.timeline.makespan_ps;
  report.samples_per_step = workload.samples;
  report.tokens_per_step = workload.tokens;
  report.parameters = workload.parameters;
  report.model_flops_per_step = workload.model_flops;
  report.hardware_flops_per_step = workload.hardware_flops;
  report.stage_memory = workload.stage_memory;

  const Exposure exposure = measure_exposure(run);
  report.breakdown = exposure.breakdown;
  report.pipeline_bubble_fraction = exposure.pipeline_bubble_fraction;
  report.gpu_utilization_mean = exposure.gpu_utilization_mean;
  report.gpu_utilization_min = exposure.gpu_utilization_min;
  report.links = link_utilization(run);
  report.bytes_per_gpu = bytes_per_gpu(workload);
  report.critical_path = trace_critical_path(run);

  report.stats.tasks = run.expanded.graph.tasks();
  report.stats.events = run.timeline.events;
  report.stats.ranks = run.expanded.classes();
  return report;
}

}  // namespace orrery
