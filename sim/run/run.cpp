#include "sim/run/run.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/choices/concrete_plan.hpp"
#include "sim/claims/assumptions.hpp"
#include "sim/claims/step_time_range.hpp"
#include "sim/claims/warnings.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/metrics/memory_fit.hpp"
#include "sim/metrics/memory_moment.hpp"
#include "sim/run/asynchronous_run.hpp"
#include "sim/run/serving_run.hpp"
#include "sim/step/replica_graph.hpp"
#include "sim/step/replica_wire.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

void judge_memory(const Experiment& experiment, const Workload& outlined, Report& report) {
  report.stage_memory = memory_by_stage(experiment.plan, outlined);
  const GpuMemory memory = smallest_gpu_memory(experiment.cluster);
  report.gpu_memory = memory.whole;
  report.gpu_usable_memory = memory.usable;
  report.feasible = fits(experiment, report.stage_memory);
}

/// Mean over the GPUs of a mixed cluster.
double mean_peak_tflops(const Cluster& cluster, Precision precision) {
  const auto peak = [&](std::size_t gpu_class) { return cluster.gpu_of_class(gpu_class).peak(precision); };
  if (cluster.gpu_classes() == 1) return peak(0);
  double sum = 0;
  for (const NodeGroup& group : cluster.groups)
    sum += static_cast<double>(group.nodes) * peak(group.gpu_class);
  return sum / static_cast<double>(cluster.nodes);
}

std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(std::min<Int128>(Int128{a} * b, std::numeric_limits<std::int64_t>::max()));
}

/// Names the origin of `report`, and why it is infeasible if judge_memory() has found it so.
void name_origin(const Experiment& experiment, Report& report) {
  report.name = experiment.name;
  report.model = experiment.model.name;
  report.cluster = experiment.cluster.name;
  report.plan = experiment.plan;
  report.stack = experiment.stack;
  report.stack_reason = experiment.stack_reason;
  report.software = experiment.software;
  report.tensor_overlap = experiment.plan.hides_tensor_collectives() ? experiment.software.tensor_overlap : 0;
  report.communication_interference = communication_interference(experiment);
  report.data_parallel_sync = experiment.data_parallel_sync;
  report.workers = sync_workers(experiment).workers;
  if (!report.feasible) report.reasons.push_back(out_of_memory(experiment, report.stage_memory));
}

void expect_training(const Experiment& experiment, Report& report) {
  const Training& training = experiment.training;
  report.training_tokens =
      training.samples > 0 ? capped_product(training.samples, experiment.model.seq_length) : training.tokens;
}

void judge_range(const Experiment& experiment, const Figures& figures, Report& report) {
  if (!figures.range && !figures.origin) return;
  const StepTimeRange range = step_time_range(experiment);
  report.error_p10 = range.p10;
  report.error_p90 = range.p90;
  if (const std::string why = range_sentence(range, experiment.stack);
      figures.origin && figures.breakdown && !why.empty())
    report.warnings.push_back(why);
}

}  // namespace

ShortenedRun shortened_run(const Plan& plan, std::int64_t simulated) {
  return {plan.micro_batches(), simulated, plan.model_copies(), {}};
}

StepFacts::StepFacts(const SimulatedStep& step, ShortenedRun shortened)
    : multiplicity(step.expanded.representatives.multiplicity),
      ranks(multiplicity.size()),
      tasks(step.expanded.graph.tasks()),
      events(step.timeline.events) {
  if (step.layout == nullptr) return;
  if (step.periods != nullptr) shortened.part = step.periods->one;
  peak_memory = time_of_peak(step.view(), shortened);
}

Report report_on(const Experiment& experiment, const Workload& outlined, const StepFacts& facts,
                 const Traffic& traffic, const Totals& totals, const Figures& figures) {
  Report report = build_report(
      {outlined, static_cast<std::uint32_t>(experiment.plan.gpus()), facts.multiplicity, traffic, figures},
      totals);
  report.stats.tasks = facts.tasks;
  report.stats.events = facts.events;
  report.stats.ranks = facts.ranks;
  if (facts.peak_memory) report.peak_memory_at_ps = facts.peak_memory->at_ps;
  expect_training(experiment, report);
  report.peak_tflops_per_gpu = mean_peak_tflops(experiment.cluster, experiment.plan.precision);
  report.power_w = experiment.cluster.sum_over_gpus(&Gpu::power_w);
  report.usd_per_hour = experiment.cluster.sum_over_gpus(&Gpu::usd_per_hour);
  judge_memory(experiment, outlined, report);
  judge_range(experiment, figures, report);
  if (!figures.origin) return report;
  name_origin(experiment, report);
  report.assumptions = assumptions(experiment, report);
  if (report.feasible && figures.breakdown) {
    report.unlike_all_reduce = unlike_all_reduce(experiment);
    if (!report.unlike_all_reduce.empty()) report.warnings.push_back(report.unlike_all_reduce);
    for (std::string& warning : warnings(experiment, report)) report.warnings.push_back(std::move(warning));
  }
  return report;
}

namespace {

Run run_concrete(const Experiment& experiment, Memo& memo) {
  const CommunicatorLayout layout = communicator_layout_of(experiment, memo);
  const Outline outlined = outline(experiment, layout);
  Run run{simulate_step({experiment, layout, outlined}, {}, false, true, memo), {}};
  if (run.slows_passes) {
    Experiment layered = experiment;
    layered.simulation.detail = Detail::layer;
    return run_concrete(layered, memo);
  }
  if (is_asynchronous(experiment)) {
    run.report = report_on_meetings(experiment, outlined, run, {});
    return run;
  }
  const StepFacts facts(run, shortened_run(experiment.plan, experiment.plan.micro_batches()));
  run.report = report_on(experiment, outlined.workload, facts, run.traffic, run.taken->whole, {});
  return run;
}

}  // namespace

Run run(const Experiment& experiment) {
  if (experiment.inference)
    throw InputError("/inference", "found requests to serve, which have no step to look at");
  Memo memo;
  return with_resolved_plan(experiment, memo, [&](const Experiment& e) { return run_concrete(e, memo); });
}

Run run_in_layers(const Experiment& experiment) {
  if (experiment.simulation.detail == Detail::layer) return run(experiment);
  Experiment layered = experiment;
  layered.simulation.detail = Detail::layer;
  Run shown = run(layered);
  shown.report = simulate(experiment);
  return shown;
}

Report memory_report(const Experiment& experiment, const Workload& outlined, const Figures& figures) {
  Report report = outlined_report(outlined);
  expect_training(experiment, report);
  report.gpus = experiment.plan.gpus();
  report.steps = experiment.simulation.steps;
  report.peak_tflops_per_gpu = mean_peak_tflops(experiment.cluster, experiment.plan.precision);
  judge_memory(experiment, outlined, report);
  if (!figures.origin) return report;
  name_origin(experiment, report);
  report.assumptions = {memory_assumption(experiment)};
  return report;
}

Report account_memory(const Experiment& experiment, const Figures& figures) {
  Memo memo;
  return with_resolved_plan(experiment, memo, [&](const Experiment& e) {
    if (e.inference) return report_on_serving_memory(e, figures, memo);
    return memory_report(e, outline(e, communicator_layout_of(e, memo)).workload, figures);
  });
}

}  // namespace orrery
