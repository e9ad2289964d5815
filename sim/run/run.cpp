#include "sim/run/run.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/engine/engine.hpp"
#include "sim/metrics/memory_fit.hpp"
#include "sim/network/flow_network.hpp"
#include "sim/run/assumptions.hpp"
#include "sim/run/contention.hpp"
#include "sim/run/replica_graph.hpp"
#include "sim/tasks/expand.hpp"
#include "topologies/topologies.hpp"
#include "workloads/sync/sync_layout.hpp"

namespace orrery {
namespace {

void judge_memory(const Experiment& experiment, Report& report) {
  report.gpu_memory = smallest_gpu_memory(experiment.cluster);
  report.feasible = fits(experiment, report.stage_memory);
}

/// Mean over the GPUs of a mixed cluster.
double mean_peak_tflops(const Cluster& cluster, Precision precision) {
  const auto peak = [&](std::size_t gpu_class) {
    return cluster.gpu_of_class(gpu_class).peak_tflops[static_cast<std::size_t>(precision)];
  };
  if (cluster.gpu_classes() == 1) return peak(0);
  double sum = 0;
  for (const NodeGroup& group : cluster.groups)
    sum += static_cast<double>(group.nodes) * peak(group.gpu_class);
  return sum / static_cast<double>(cluster.nodes);
}

Timeline run_engine(const TaskGraph& graph, std::span<const LinkId> links, const Topology& topology) {
  if (graph.legs.empty()) return run_contention_free(graph);
  std::vector<std::int64_t> bytes_per_s;
  for (const LinkId link : links) bytes_per_s.push_back(topology.link(link).bytes_per_s);
  FlowNetwork network(bytes_per_s);
  return run(graph, network);
}

/// Who meets whom, and in which order tasks are laid out: the same for every folding.
struct Meetings {
  const Channels& channels;
  const Families& families;
};

void simulate_tasks(const Folded& folded, const Meetings& meetings, Run& run) {
  run.expanded = {};  // of the run before
  run.timeline = {};
  run.expanded = expand(run.workload, meetings.channels, meetings.families, run.prices, folded);
  run.timeline = run_engine(run.expanded.graph, folded.links, *run.topology);
}

/// Simulates one rank per class, as if no transfers met on links.
void simulate_without_links(const Meetings& meetings, Run& run) {
  simulate_tasks(fold(run.workload, meetings.channels, run.prices, *run.topology, {}), meetings, run);
}

/// The same with the links that transfers overload: finds them in run after run, until there are no
/// others. Links that are never overloaded change nothing, but would tell ranks apart. Takes all links
/// that could be overloaded where most of them are, or where new ones keep turning up.
void simulate_with_links(const Meetings& meetings, Run& run) {
  constexpr int kMostRuns = 6;
  const Topology& topology = *run.topology;
  const Channels& channels = meetings.channels;
  Contention contention(run.workload, channels, run.prices, topology);
  std::vector<LinkId> shared;
  for (int runs = 1;; ++runs) {
    const Folded folded = fold(run.workload, channels, run.prices, topology,
                               share_links(channels, run.prices, topology, shared));
    simulate_tasks(folded, meetings, run);
    std::vector<LinkId> more = contention.overloaded(folded, run.expanded, run.timeline);
    if (more.empty()) return;
    const bool most = 2 * more.size() > contention.possible().size();
    if (most || runs == kMostRuns) more = contention.possible();
    std::vector<LinkId> both;
    std::ranges::set_union(shared, more, std::back_inserter(both));
    shared = std::move(both);
  }
}

void simulate_every_rank(const Meetings& meetings, bool flows, Run& run) {
  SharedLinks shared;
  if (flows) shared = share_all_links(meetings.channels, run.prices, *run.topology);
  simulate_tasks(unfolded(run.workload, std::move(shared)), meetings, run);
}

std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(std::min<Int128>(Int128{a} * b, std::numeric_limits<std::int64_t>::max()));
}

/// What `report` is of, and why it is infeasible where judge_memory() has found it so.
void name_origin(const Experiment& experiment, Report& report) {
  report.name = experiment.name;
  report.model = experiment.model.name;
  report.cluster = experiment.cluster.name;
  report.plan = experiment.plan;
  report.data_parallel_sync = experiment.data_parallel_sync;
  report.workers = sync_workers(experiment).workers;
  if (!report.feasible) report.reasons.push_back(out_of_memory(experiment, report.stage_memory));
}

void expect_training(const Experiment& experiment, Report& report) {
  const Training& training = experiment.training;
  report.training_tokens =
      training.samples > 0 ? capped_product(training.samples, experiment.model.seq_length) : training.tokens;
  const Software& software = experiment.software;
  const bool one_node = experiment.cluster.nodes == 1;
  report.error_p10 = one_node ? software.error_p10_one_node : software.error_p10_many_nodes;
  report.error_p90 = one_node ? software.error_p90_one_node : software.error_p90_many_nodes;
}

}  // namespace

RunView Run::view() const {
  return {workload, layout, expanded, timeline, *topology, prices.works, prices.passes, prices.traffic};
}

Report report_on(const Experiment& experiment, const Totals& totals, const RunView& view) {
  Report report = build_report(view, totals);
  expect_training(experiment, report);
  report.peak_tflops_per_gpu = mean_peak_tflops(experiment.cluster, experiment.plan.precision);
  judge_memory(experiment, report);
  if (!view.figures.origin) return report;
  name_origin(experiment, report);
  report.assumptions = assumptions(experiment, report);
  return report;
}

const Workload& FreshRunner::outline(const Experiment& experiment) {
  experiment_ = &experiment;
  run_ = {};
  run_.topology = build_topology(experiment.cluster);
  layout_.emplace(experiment, placed_replica_graph(experiment, *run_.topology));
  outlined_ = orrery::outline(experiment, *layout_);
  return outlined_.workload;
}

void FreshRunner::write(std::int64_t micro_batches) {
  written_ = with_micro_batches(*experiment_, micro_batches);
  run_.workload = write_workload(written_, *layout_, outlined_);
  channels_ = match_channels(run_.workload);
  periods_.reset();
}

const Periods& FreshRunner::periods() {
  if (!periods_) periods_ = find_periods(run_.workload, written_.plan);
  return *periods_;
}

const std::optional<WholeAndPart>& FreshRunner::run(std::int64_t more, const Figures& figures) {
  const Families families = make_families(run_.workload, channels_);
  if (more > 0) {
    const std::vector<std::uint64_t> in_period = calls_in_period(run_.workload, periods(), channels_);
    for (std::size_t c = 0; c < in_period.size(); ++c)
      channels_.calls[c].operations += static_cast<std::uint64_t>(more) * in_period[c];
  }
  run_.prices = price(run_.workload, channels_, *run_.topology, *experiment_);
  const Meetings meetings{channels_, families};
  const bool flows = experiment_->simulation.network == Network::flow;
  if (experiment_->simulation.folding == Folding::off) {
    simulate_every_rank(meetings, flows, run_);
  } else if (flows) {
    simulate_with_links(meetings, run_);
  } else {
    simulate_without_links(meetings, run_);
  }
  run_.layout = figures.breakdown ? RunLayout(run_.workload, run_.expanded) : RunLayout{};
  figures_ = figures;
  if (more == 0) return taken_ = measure_all(view());
  return taken_ = measure_period(view(), periods(), period_tasks(run_.workload, periods(), run_.expanded));
}

RunView FreshRunner::view() const {
  RunView view = run_.view();
  view.figures = figures_;
  return view;
}

Run run(const Experiment& experiment) {
  FreshRunner runner;
  runner.outline(experiment);
  runner.write(experiment.plan.micro_batches());
  const Totals& totals = runner.run(0, {})->whole;
  runner.made().report = report_on(experiment, totals, runner.view());
  return std::move(runner.made());
}

Report memory_report(const Experiment& experiment, const Workload& outlined, const Figures& figures) {
  Report report = outlined_report(outlined);
  expect_training(experiment, report);
  report.gpus = experiment.plan.gpus();
  judge_memory(experiment, report);
  if (!figures.origin) return report;
  name_origin(experiment, report);
  report.assumptions = {memory_assumption(experiment.plan)};
  return report;
}

Report account_memory(const Experiment& experiment) {
  FreshRunner runner;
  return memory_report(experiment, runner.outline(experiment));
}

}  // namespace orrery
