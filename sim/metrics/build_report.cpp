#include "sim/metrics/build_report.hpp"

#include <algorithm>
#include <utility>

#include "sim/metrics/breakdown.hpp"
#include "sim/metrics/critical_path.hpp"
#include "sim/metrics/traffic.hpp"

namespace orrery {

void ClassTimes::add(const ClassTimes& other, std::int64_t times) {
  compute += times * other.compute;
  optimizer += times * other.optimizer;
  host += times * other.host;
  launch += times * other.launch;
  optimizer_host += times * other.optimizer_host;
  bubble += times * other.bubble;
  for (std::size_t d = 0; d < kDimensionCount; ++d) exposed[d] += times * other.exposed[d];
  kernels.resize(std::max(kernels.size(), other.kernels.size()));
  for (std::size_t k = 0; k < other.kernels.size(); ++k) kernels[k] += times * other.kernels[k];
}

void Totals::add(const Totals& other, std::int64_t times) {
  makespan_ps += times * other.makespan_ps;
  for (std::size_t c = 0; c < classes.size(); ++c) classes[c].add(other.classes[c], times);
  critical_path.compute_ps += times * other.critical_path.compute_ps;
  critical_path.host_ps += times * other.critical_path.host_ps;
  critical_path.wait_ps += times * other.critical_path.wait_ps;
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    critical_path.communication_ps[d] += times * other.critical_path.communication_ps[d];
  }
}

StepAndPeriod measure_all(const RunView& run) {
  RunPart all;
  all.ops.resize(run.workload.programs.size());
  return measure(run, all);
}

StepAndPeriod measure(const RunView& run, const RunPart& part) {
  Exposures exposures;
  CriticalPaths paths;
  if (run.figures.breakdown) exposures = measure_exposure(run, part);
  if (run.figures.critical_path) paths = trace_critical_path(run, part);
  StepAndPeriod totals;
  totals.whole.makespan_ps = run.timeline.makespan_ps;
  totals.whole.classes = std::move(exposures.whole);
  totals.whole.critical_path = paths.whole;
  totals.part.makespan_ps = part.end - part.begin;
  totals.part.classes = std::move(exposures.part);
  totals.part.critical_path = paths.part;
  return totals;
}

Report outlined_report(const Workload& workload) {
  Report report;
  report.parameters = workload.parameters;
  report.active_parameters = workload.active_parameters;
  report.samples_per_step = workload.samples;
  report.tokens_per_step = workload.tokens;
  return report;
}

Report training_report(const Workload& workload) {
  Report report = outlined_report(workload);
  report.model_flops_per_step = workload.model_flops;
  report.hardware_flops_per_step = workload.hardware_flops;
  return report;
}

Report build_report(const ReportInput& input, const Totals& totals) {
  Report report = training_report(input.workload);
  report.gpus = input.gpus;
  report.steps = input.workload.steps;
  report.makespan_ps = totals.makespan_ps;

  const Exposure exposure =
      !input.figures.breakdown ? Exposure{} : sum_up(totals.classes, input.multiplicity, totals.makespan_ps);
  report.breakdown = exposure.breakdown;
  if (input.figures.kernels) report.kernels_ps = exposure.kernels_ps;
  report.pipeline_bubble_fraction = exposure.pipeline_bubble_fraction;
  report.gpu_utilization_mean = exposure.gpu_utilization_mean;
  report.gpu_utilization_min = exposure.gpu_utilization_min;
  if (input.figures.traffic) {
    report.links = link_utilization(input.traffic.links, totals.makespan_ps);
    report.bytes_per_gpu = bytes_per_gpu(input.traffic, input.gpus, report.steps);
  }
  report.critical_path = totals.critical_path;
  return report;
}

}  // namespace orrery
