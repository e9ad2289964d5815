#include "studies/compare/target.hpp"

#include <algorithm>
#include <cmath>

#include "config/catalog/practice.hpp"
#include "sim/step/replica_graph.hpp"
#include "studies/compare/practice.hpp"
#include "studies/converge/rates.hpp"
#include "topologies/gossip/analysis.hpp"
#include "topologies/gossip/gossip.hpp"

namespace orrery {
namespace {

/// Rounds drawn of graphs that are random anew in each step: their product's gap is steady within a few
/// percent.
constexpr std::uint32_t kRandomRounds = 64;

std::optional<double> gap_of(const Experiment& experiment, const SyncWorkers& workers) {
  if (!experiment.data_parallel_sync.gossips() || workers.workers < 2) return std::nullopt;
  const GossipGraph graph = build_gossip_graph(
      experiment.data_parallel_sync,
      {workers.workers, workers.workers_per_node, kRandomRounds, experiment.simulation.seed});
  const auto exact_after = averaging_period(graph);
  if (exact_after) return gap_of_exact_period(*exact_after);
  return spectral_gap(graph);
}

/// Standard deviation of the gradient that one worker makes in a step.
double worker_noise(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  auto averaged = static_cast<double>(sync_workers(experiment).replicas_per_worker);
  if (experiment.accuracy.noise_of == NoiseOf::sample) {
    averaged *= static_cast<double>(plan.global_batch_size) / static_cast<double>(plan.data_parallel);
  }
  return experiment.accuracy.noise / std::sqrt(averaged);
}

/// Returns the smallest side of the model's matrices; tensor parallelism is not taken into account.
double smaller_side(const Model& model) {
  if (model.widths.empty()) return static_cast<double>(std::max<std::int64_t>(1, model.hidden));
  return static_cast<double>(*std::ranges::min_element(model.widths));
}

/// Published runs say how the steps of methods compare, not how many there are, so all-reduce's come from its
/// bound.
void add_practice(const Experiment& experiment, const RateSetting& setting, double step_time_s,
                  TargetSummary& summary) {
  constexpr const char* kTable = "steps-to-accuracy";
  const Practice practice =
      practice_of(experiment.data_parallel_sync, static_cast<std::int64_t>(setting.workers),
                  read_published_runs(embedded_practice().at(kTable), kTable));
  summary.published_runs = practice.runs;
  summary.unpublished = practice.unpublished;
  const std::optional<Rate> all_reduce = rate_of(DataParallelSync{}, setting);
  if (!practice.range || !all_reduce) return;
  const double all_reduce_s = all_reduce->iterations(experiment.accuracy.target) * step_time_s;
  summary.practice = {practice.range->least * all_reduce_s, practice.range->most * all_reduce_s};
}

}  // namespace

std::optional<TargetSummary> target_of(const Experiment& experiment, const Report& report) {
  if (!experiment.accuracy.wanted()) return std::nullopt;
  const SyncWorkers workers = sync_workers(experiment);
  TargetSummary summary;
  summary.noise = experiment.accuracy.noise;
  summary.noise_of_sample = experiment.accuracy.noise_of == NoiseOf::sample;
  summary.heterogeneity = experiment.accuracy.heterogeneity;
  summary.gap = gap_of(experiment, workers);
  const RateSetting setting{static_cast<double>(workers.workers), worker_noise(experiment),
                            experiment.accuracy.heterogeneity, summary.gap, smaller_side(experiment.model)};
  add_practice(experiment, setting, report.step_time_s(), summary);
  const std::optional<Rate> rate = rate_of(experiment.data_parallel_sync, setting);
  if (!rate) {
    summary.no_steps = reason_for_no_rate(experiment.data_parallel_sync.method);
    return summary;
  }
  const double target = experiment.accuracy.target;
  summary.steps = TargetSummary::Steps{rate->iterations(target), rate->transient_iterations(),
                                       rate->has_linear_speed_up(target)};
  summary.time_s = summary.steps->iterations * report.step_time_s();
  return summary;
}

}  // namespace orrery
