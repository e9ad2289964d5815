#include "sim/report/build_report.hpp"

#include "sim/report/breakdown.hpp"
#include "sim/report/critical_path.hpp"
#include "sim/report/traffic.hpp"

namespace orrery {

Totals measure(const RunView& run) {
  const Workload& workload = run.workload;
  Totals totals;
  totals.makespan_ps = run.timeline.makespan_ps;
  totals.samples = workload.samples;
  totals.tokens = workload.tokens;
  totals.model_flops = workload.model_flops;
  totals.hardware_flops = workload.hardware_flops;
  totals.classes = measure_exposure(run);
  totals.link_bytes.assign(run.link_bytes.begin(), run.link_bytes.end());
  totals.bytes_per_gpu = bytes_per_gpu(workload);
  totals.critical_path = trace_critical_path(run);
  return totals;
}

Report build_report(const RunView& run, const Totals& totals) {
  const Workload& workload = run.workload;
  Report report;
  report.gpus = workload.ranks();
  report.steps = workload.steps;
  report.makespan_ps = totals.makespan_ps;
  report.samples_per_step = totals.samples;
  report.tokens_per_step = totals.tokens;
  report.parameters = workload.parameters;
  report.model_flops_per_step = totals.model_flops;
  report.hardware_flops_per_step = totals.hardware_flops;
  report.stage_memory = workload.stage_memory;

  const Exposure exposure = sum_up(totals.classes, run.expanded.multiplicity, totals.makespan_ps);
  report.breakdown = exposure.breakdown;
  report.pipeline_bubble_fraction = exposure.pipeline_bubble_fraction;
  report.gpu_utilization_mean = exposure.gpu_utilization_mean;
  report.gpu_utilization_min = exposure.gpu_utilization_min;
  report.links = link_utilization(run.topology, totals.link_bytes, totals.makespan_ps);
  report.bytes_per_gpu = totals.bytes_per_gpu;
  report.critical_path = totals.critical_path;

  report.stats.tasks = run.expanded.graph.tasks();
  report.stats.events = run.timeline.events;
  report.stats.ranks = run.expanded.classes();
  return report;
}

}  // namespace orrery
