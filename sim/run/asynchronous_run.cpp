#include "sim/run/asynchronous_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "orrery/error.hpp"
#include "sim/asynchronous/exchanges.hpp"
#include "sim/run/run.hpp"
#include "sim/step/replica_graph.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

/// Bytes of a parameter as it travels.
constexpr Bytes kParameterBytes = 4;

std::vector<std::int64_t> trained_by_stage(const Outline& outlined) {
  std::vector<std::int64_t> values;
  for (const Stage& stage : outlined.stages.list()) values.push_back(stage.trained());
  return values;
}

/// Spreads servers evenly over workers, as for a parameter server.
std::vector<std::uint32_t> server_workers(std::int64_t servers, std::int64_t workers) {
  std::vector<std::uint32_t> result;
  for (std::int64_t s = 0; s < servers; ++s)
    result.push_back(static_cast<std::uint32_t>(s * workers / servers));
  return result;
}

class MeetingSimulation {
 public:
  MeetingSimulation(const Experiment& experiment, const Outline& outlined, const SimulatedStep& local)
      : experiment_(experiment),
        sync_(experiment.data_parallel_sync),
        method_(sync_method(sync_.method)),
        local_(local),
        grid_(experiment.plan),
        values_(trained_by_stage(outlined)),
        steps_(local_steps(local.view(), grid_)) {}

  [[nodiscard]] const std::vector<LocalSteps>& steps() const { return steps_; }

  [[nodiscard]] ExchangeRun run() const {
    check_size();
    const Topology& topology = *local_.machine->topology;
    const bool pairs = method_.meets == Meets::in_pairs;
    ModelRoutes routes(experiment_, topology, bytes_of(pairs ? 1 : sync_.servers));
    const ExchangeInput input{
        steps_,   experiment_.simulation.steps,
        topology, experiment_.simulation.network == Network::flow,
        routes,   kernels(method_.merge_bytes(sync_, Departure::To::neighbours, 1, kParameterBytes))};
    return pairs ? average_in_pairs(input, pair_rules(placed_replica_graph(experiment_, topology)))
                 : run_parameter_server(input, centre_rules());
  }

 private:
  /// Some seconds where few messages share links.
  void check_size() const {
    constexpr double kMostMessages = 1e7;
    const bool pairs = method_.meets == Meets::in_pairs;
    const double each =
        pairs ? 2.0 : 2.0 * static_cast<double>(sync_.servers) / static_cast<double>(sync_.period);
    const double messages = each * static_cast<double>(experiment_.simulation.steps) *
                            static_cast<double>(experiment_.plan.gpus());
    if (messages > kMostMessages)
      throw InputError("/simulation/steps",
                       fmt::format("found {} steps of workers that exchange about {:.2g} messages in all, "
                                   "allowed {:.2g}",
                                   experiment_.simulation.steps, messages, kMostMessages));
  }

  /// Returns, per stage, the parameters in one of `parts` equal parts.
  [[nodiscard]] std::vector<std::int64_t> parts_of(std::int64_t parts) const {
    std::vector<std::int64_t> part;
    for (const std::int64_t all : values_) part.push_back(divide_up(all, parts));
    return part;
  }

  [[nodiscard]] std::vector<Bytes> bytes_of(std::int64_t parts) const {
    std::vector<Bytes> bytes = parts_of(parts);
    for (Bytes& one : bytes) one *= kParameterBytes;
    return bytes;
  }

  [[nodiscard]] std::vector<Picoseconds> kernels(Bytes bytes_each) const {
    return kernel_times(experiment_, values_, bytes_each);
  }

  [[nodiscard]] PairRules pair_rules(GossipGraph graph) const {
    return {std::move(graph), static_cast<std::uint64_t>(experiment_.simulation.seed),
            sync_.overlap == SyncOverlap::combine_while_computing};
  }

  [[nodiscard]] CentreRules centre_rules() const {
    return {sync_.period, server_workers(sync_.servers, std::ssize(steps_)), kernels(method_.prepare_bytes),
            kernel_times(experiment_, parts_of(sync_.servers), method_.centre_bytes)};
  }

  const Experiment& experiment_;
  const DataParallelSync& sync_;
  const SyncMethodRow& method_;
  const SimulatedStep& local_;
  RankGrid grid_;
  std::vector<std::int64_t> values_;  ///< per stage: parameters that a rank exchanges
  std::vector<LocalSteps> steps_;
};

Asynchrony asynchrony(const ExchangeRun& run) {
  Asynchrony out;
  out.fewest_steps = std::ranges::min(run.steps);
  out.most_steps = std::ranges::max(run.steps);
  out.meetings = std::ssize(run.exchanges);
  if (run.updates > 0)
    out.mean_staleness = static_cast<double>(run.staleness) / static_cast<double>(run.updates);
  out.most_staleness = run.most_stale;
  return out;
}

/// Returns the traffic of the local steps and of the exchanges. For the busiest link it is an upper bound, as
/// if the same link were the busiest in both, at the worker that does most steps.
Traffic traffic_of_exchanges(const SimulatedStep& local, const ExchangeRun& run) {
  Traffic traffic = local.traffic;
  traffic.sent[static_cast<std::size_t>(Dimension::data)] += static_cast<double>(run.bytes);
  const auto steps = static_cast<std::uint64_t>(local.workload.steps);
  const auto most_steps = static_cast<std::uint64_t>(std::ranges::max(run.steps));
  const std::vector<LinkTraffic> exchanged = traffic_of(local.machine->topology->links(), run.link_bytes);
  for (std::size_t kind = 0; kind < exchanged.size(); ++kind) {
    LinkTraffic& all = traffic.links[kind];
    all.bytes += exchanged[kind].bytes;
    all.most = capped_bytes((all.most + steps - 1) / steps, most_steps);
    add_bytes(all.most, exchanged[kind].most);
  }
  return traffic;
}

}  // namespace

void require_one_timeline(const Experiment& experiment) {
  if (experiment.inference)
    throw InputError("/inference",
                     "found requests to serve, allowed steps of training, which have a timeline");
  if (!is_asynchronous(experiment)) return;
  const auto method = static_cast<std::size_t>(experiment.data_parallel_sync.method);
  throw InputError("/data_parallel_sync/method",
                   fmt::format("found \"{}\", whose workers have no timeline in common, allowed methods "
                               "whose workers keep step with "
                               "each other; traces, pictures, recorded runs and what-if need one",
                               kSyncMethodNames[method]));
}

Report report_on_meetings(const PreparedExperiment& prepared, const SimulatedStep& local,
                          const Figures& figures) {
  const Experiment& experiment = prepared.experiment;
  const MeetingSimulation simulation(experiment, prepared.outlined, local);
  const ExchangeRun run = simulation.run();
  StepFacts facts(local, shortened_run(experiment.plan, experiment.plan.micro_batches()));
  facts.events += run.events;
  Totals totals;
  totals.makespan_ps = run.makespan;
  if (figures.breakdown) {
    WorkerClasses classes =
        times_of_workers(local.view(), RankGrid(experiment.plan), local.taken->whole.classes,
                         simulation.steps(), run.busy, run.makespan);
    totals.classes = std::move(classes.times);
    facts.multiplicity = std::move(classes.multiplicity);
  }
  const Traffic traffic = figures.traffic ? traffic_of_exchanges(local, run) : Traffic{};
  Report report = report_on(prepared, facts, traffic, totals, figures);
  report.asynchrony = asynchrony(run);
  return report;
}

}  // namespace orrery
