#include "sim/run/run.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/claims/assumptions.hpp"
#include "sim/claims/step_time_range.hpp"
#include "sim/claims/warnings.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/metrics/memory_fit.hpp"
#include "sim/metrics/memory_moment.hpp"
#include "sim/run/asynchronous_run.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/serving_run.hpp"
#include "sim/run/training_run.hpp"
#include "sim/step/replica_wire.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

void judge_memory(const PreparedExperiment& prepared, Report& report) {
  report.stage_memory = memory_by_stage(prepared.experiment.plan, prepared.outlined.workload);
  report.feasible = fits(prepared.experiment, report.stage_memory);
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

/// The reason is a sentence of the origin.
void tell_why_infeasible(const PreparedExperiment& prepared, Report& report) {
  if (!report.feasible) report.reasons.push_back(out_of_memory(prepared.experiment, report.stage_memory));
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

void add_experiment(const PreparedExperiment& prepared, const Figures& figures, Report& report) {
  const Experiment& experiment = prepared.experiment;
  const Training& training = experiment.training;
  report.gpus = experiment.plan.gpus();
  report.steps = experiment.simulation.steps;
  report.training_tokens =
      training.samples > 0 ? capped_product(training.samples, experiment.model.seq_length) : training.tokens;
  report.peak_tflops_per_gpu = mean_peak_tflops(experiment.cluster, experiment.plan.precision);
  const GpuMemory memory = smallest_gpu_memory(experiment.cluster);
  report.gpu_memory = memory.whole;
  report.gpu_usable_memory = memory.usable;
  if (!figures.origin) return;
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
}

Report report_on(const PreparedExperiment& prepared, const StepFacts& facts, const Traffic& traffic,
                 const Totals& totals, const Figures& figures) {
  const Experiment& experiment = prepared.experiment;
  Report report =
      build_report({prepared.outlined.workload, static_cast<std::uint32_t>(experiment.plan.gpus()),
                    facts.multiplicity, traffic, figures},
                   totals);
  report.stats.tasks = facts.tasks;
  report.stats.events = facts.events;
  report.stats.ranks = facts.ranks;
  if (facts.peak_memory) report.peak_memory_at_ps = facts.peak_memory->at_ps;
  add_experiment(prepared, figures, report);
  report.power_w = experiment.cluster.sum_over_gpus(&Gpu::power_w);
  report.usd_per_hour = experiment.cluster.sum_over_gpus(&Gpu::usd_per_hour);
  judge_memory(prepared, report);
  judge_range(experiment, figures, report);
  if (!figures.origin) return report;
  tell_why_infeasible(prepared, report);
  report.assumptions = assumptions(experiment, report);
  if (report.feasible && figures.breakdown) {
    report.unlike_all_reduce = unlike_all_reduce(experiment);
    if (!report.unlike_all_reduce.empty()) report.warnings.push_back(report.unlike_all_reduce);
    for (std::string& warning : warnings(experiment, report)) report.warnings.push_back(std::move(warning));
  }
  return report;
}

Run run(const PreparedExperiment& prepared, Memo& memo) {
  const Experiment& experiment = prepared.experiment;
  if (experiment.inference)
    throw InputError("/inference", "found requests to serve, which have no step to look at");
  Figures figures;
  figures.kernels = true;  // traces say them of each operation
  Run run{simulate_step({prepared}, figures, false, true, memo), {}};
  if (run.slows_passes) return orrery::run(in_layers(prepared, memo), memo);
  if (is_asynchronous(experiment)) {
    run.report = report_on_meetings(prepared, run, {});
    return run;
  }
  const StepFacts facts(run, shortened_run(experiment.plan, experiment.plan.micro_batches()));
  run.report = report_on(prepared, facts, run.traffic, run.taken->whole, {});
  return run;
}

Run run(const Experiment& experiment) {
  Memo memo;
  return run(prepare(experiment, memo), memo);
}

Run run_in_layers(const PreparedExperiment& prepared, Memo& memo) {
  if (prepared.experiment.simulation.detail == Detail::layer) return run(prepared, memo);
  Run shown = run(in_layers(prepared, memo), memo);
  shown.report = simulate_training(prepared, {}, memo);
  return shown;
}

Report memory_report(const PreparedExperiment& prepared, const Figures& figures) {
  Report report = training_report(prepared.outlined.workload);
  add_experiment(prepared, figures, report);
  judge_memory(prepared, report);
  if (!figures.origin) return report;
  tell_why_infeasible(prepared, report);
  report.assumptions = {memory_assumption(prepared.experiment)};
  return report;
}

Report account_memory(const PreparedExperiment& prepared, const Figures& figures, Memo& memo) {
  return prepared.experiment.inference ? report_on_serving_memory(prepared, figures, memo)
                                       : memory_report(prepared, figures);
}

Report account_memory(const Experiment& experiment, const Figures& figures) {
  Memo memo;
  return account_memory(prepare(experiment, memo), figures, memo);
}

}  // namespace orrery
