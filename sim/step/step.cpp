#include "sim/step/step.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "orrery/content_hash.hpp"
#include "sim/engine/engine.hpp"
#include "sim/matching/task_groups.hpp"
#include "sim/network/flow_network.hpp"
#include "sim/step/communicator_prices.hpp"
#include "sim/step/contention.hpp"
#include "sim/step/program_set.hpp"
#include "sim/symmetry/class_positions.hpp"
#include "sim/symmetry/fold.hpp"
#include "sim/tasks/expand.hpp"
#include "sim/tasks/interference.hpp"

namespace orrery {
namespace {

/// Channels of programs and communicators that meet, and how often calls are made in a period.
struct MatchedChannels {
  Channels channels;
  std::vector<std::uint64_t> calls_in_period;  ///< empty: no period is known

  [[nodiscard]] std::size_t bytes() const {
    return sizeof *this + channels.calls.size() * (sizeof(Call) + sizeof(std::uint64_t)) +
           channels.channels.size() * sizeof(Channel) +
           (channels.channel_of.size() + channels.channel_group.size() + channels.group_place.size()) *
               sizeof(std::uint32_t);
  }
};

/// Ranks that are simulated, where they are among those of their program.
struct RankClasses {
  Folded folded;
  ClassPositions positions;
  ContentHash shape;

  [[nodiscard]] std::size_t bytes() const {
    return sizeof *this +
           (2 * folded.ranks.class_of.size() + folded.groups.class_of.size()) * sizeof(std::uint32_t) +
           positions.representatives.transfers.size() * sizeof(Representatives::Transfer) +
           positions.group_position.size() * sizeof(std::uint32_t);
  }
};

/// Tasks without costs.
struct TaskSet {
  ExpandedGraph expanded;

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = sizeof *this + expanded.graph.cost.bytes() + expanded.graph.pred_begin.bytes() +
                      expanded.graph.preds.bytes() + expanded.task_groups.bytes() + expanded.issued.bytes() +
                      expanded.issued_passes.bytes() + expanded.group_position.bytes();
    for (const auto& ops : expanded.ops) sum += ops.size() * sizeof(ExpandedGraph::OpTasks);
    return sum;
  }
};

Timeline run_engine(const TaskGraph& graph, std::span<const LinkId> links, const Topology& topology) {
  if (graph.legs.empty()) return run_contention_free(graph);
  std::vector<std::int64_t> bytes_per_s;
  for (const LinkId link : links) bytes_per_s.push_back(topology.link(link).bytes_per_s);
  FlowNetwork network(bytes_per_s);
  return run(graph, network);
}

class StepSimulation {
 public:
  StepSimulation(const StepInput& input, const Figures& figures, bool repeats, bool own_programs, Memo& memo)
      : experiment_(input.experiment), repeats_(repeats), memo_(memo) {
    step_.figures = figures;
    step_.machine = input.prepared.machine;
    program_key_ = write_programs_of(input, own_programs, memo, step_.workload);
    communicator_key_ = join_communicators(input.prepared.layout, memo, step_.workload);
  }

  SimulatedStep run() {
    find_periods_if_asked();
    if (repeats_ && !step_.periods->found()) return std::move(step_);
    match();
    price_calls();
    simulate();
    if (!step_.slows_passes) measure_step();
    return std::move(step_);
  }

  /// With these links shared; nothing is run.
  SimulatedStep price_tasks(const std::vector<LinkId>& shared) {
    match();
    price_calls();
    if (experiment_.simulation.folding == Folding::off) {
      set_tasks(classes_of(unfolded(step_.workload, all_links())));
    } else {
      set_tasks(shared.empty() ? *folded_without_links() : *folded_with(shared));
    }
    return std::move(step_);
  }

 private:
  [[nodiscard]] bool flows() const { return experiment_.simulation.network == Network::flow; }
  [[nodiscard]] const Topology& topology() const { return *step_.machine->topology; }

  void find_periods_if_asked() {
    if (!repeats_) return;
    step_.periods = memo_.get<Periods>(MemoKind::periods, program_key_,
                                       [&] { return find_periods(step_.workload, experiment_.plan); });
  }

  void match() {
    ContentHash key = program_key_;
    key.append(communicator_key_);
    key.append(repeats_ ? 1 : 0);
    matched_ = memo_.get<MatchedChannels>(MemoKind::channels, key, [&] {
      const auto grouped = grouped_channels(step_.workload, communicator_key_, memo_);
      MatchedChannels made{match_channels(step_.workload, grouped->channels), {}};
      if (repeats_) made.calls_in_period = calls_in_period(step_.workload, *step_.periods, made.channels);
      return made;
    });
    step_.channels = {matched_, &matched_->channels};
  }

  void price_calls() {
    CachedChannelPrices prices(experiment_, *step_.machine, step_.workload, *step_.channels,
                               communicator_key_, memo_);
    step_.prices =
        price(step_.workload, *step_.channels, experiment_, flows() || step_.figures.traffic, prices);
    if (step_.figures.kernels) step_.kernels = workload_kernels(step_.workload, experiment_);
  }

  void simulate() {
    if (experiment_.simulation.folding == Folding::off) return simulate_every_rank();
    if (flows()) return simulate_with_links();
    simulate_tasks(*folded_without_links());
  }

  void simulate_every_rank() {
    if (flows() && !step_.workload.passes.empty()) return simulate_every_pass();
    simulate_tasks(classes_of(unfolded(step_.workload, all_links())));
  }

  /// Simulates every rank, with fused passes: all links except those of the passes are shared.
  void simulate_every_pass() {
    Contention contention(step_.workload, *step_.channels, step_.prices, topology());
    const RankClasses classes =
        classes_of(unfolded(step_.workload, share_links(*step_.channels, step_.prices, topology(),
                                                        contention.possible_beside_passes())));
    simulate_tasks(classes);
    step_.slows_passes =
        contention.slow_passes(contention.overloaded(classes.folded, step_.expanded, step_.timeline));
  }

  [[nodiscard]] SharedLinks all_links() const {
    return flows() ? share_all_links(*step_.channels, step_.prices, topology()) : SharedLinks{};
  }

  /// Simulates one rank per class with the links that transfers overload: begins with the likely ones, and
  /// finds the others in run after run, until there are none. Links that are never overloaded change nothing,
  /// but would distinguish ranks. Takes all links that could be overloaded if most of them are, or if new
  /// ones keep turning up.
  void simulate_with_links() {
    constexpr int kMostRuns = 6;
    const Channels& channels = *step_.channels;
    Contention contention(step_.workload, channels, step_.prices, topology());
    step_.slows_passes = contention.slow_passes({});
    if (step_.slows_passes) return;
    std::vector<LinkId> shared = step_.shared = contention.between_stages();
    for (int runs = 1;; ++runs) {
      std::shared_ptr<const RankClasses> classes =
          shared.empty() ? folded_without_links() : folded_with(shared);
      simulate_tasks(*classes);
      std::vector<LinkId> more = contention.overloaded(classes->folded, step_.expanded, step_.timeline);
      step_.slows_passes = contention.slow_passes(more);
      contention.erase_those_of_passes(more);
      if (more.empty()) return;
      const bool most = 2 * more.size() > contention.possible().size();
      if (most || runs == kMostRuns) more = contention.possible_beside_passes();
      std::vector<LinkId> both;
      std::ranges::set_union(shared, more, std::back_inserter(both));
      shared = step_.shared = std::move(both);
    }
  }

  [[nodiscard]] std::shared_ptr<const RankClasses> folded_with(const std::vector<LinkId>& links) {
    SharedLinks shared = share_links(*step_.channels, step_.prices, topology(), links);
    return std::make_shared<const RankClasses>(
        classes_of(fold(step_.workload, *step_.channels, step_.prices, topology(), std::move(shared))));
  }

  /// Known by the communicators and by which of them are priced alike, where all ranks compute alike.
  [[nodiscard]] std::shared_ptr<const RankClasses> folded_without_links() {
    const auto make = [&] {
      return classes_of(fold(step_.workload, *step_.channels, step_.prices, topology(), {}));
    };
    if (!step_.prices.rank_speeds.even()) return std::make_shared<const RankClasses>(make());
    ContentHash key = program_key_;
    key.append(communicator_key_);
    for (std::uint32_t c = 0; c < step_.prices.calls.size(); ++c) append_pattern(c, key);
    return memo_.get<RankClasses>(MemoKind::classes, key, make);
  }

  /// Which communicators of a call take equally long, where not all do.
  void append_pattern(std::uint32_t call, ContentHash& key) const {
    const CallPrice& price = step_.prices.calls[call];
    std::vector<std::uint32_t> time_of(price.costs.size());
    bool even = true;
    for (std::uint32_t at = 0; at < time_of.size(); ++at) {
      std::uint32_t like = 0;
      while (price.costs[like].duration_ps != price.costs[at].duration_ps ||
             price.lead(like) != price.lead(at))
        ++like;
      time_of[at] = like;
      even = even && like == 0;
    }
    if (even) return;
    key.append(call);
    for (const std::uint32_t at : price.of_place) key.append(time_of[at]);
  }

  [[nodiscard]] RankClasses classes_of(Folded folded) const {
    RankClasses classes{std::move(folded), {}, {}};
    classes.positions = class_positions(step_.workload, *step_.channels, classes.folded);
    classes.shape = classes.positions.shape(*step_.channels);
    return classes;
  }

  void simulate_tasks(const RankClasses& classes) {
    set_tasks(classes);
    step_.timeline = run_engine(step_.expanded.graph, classes.folded.links, topology());
  }

  void set_tasks(const RankClasses& classes) {
    step_.task_key = program_key_;
    step_.task_key.append(classes.shape);
    step_.expanded = {};  // of the run before
    step_.timeline = {};
    step_.expanded =
        memo_
            .get<TaskSet>(
                MemoKind::tasks, step_.task_key,
                [&] {
                  const TaskGroups task_groups = make_task_groups(step_.workload, *step_.channels);
                  return TaskSet{expand(step_.workload, *step_.channels, task_groups, classes.positions)};
                })
            ->expanded;
    step_.expanded.representatives = classes.positions.representatives;
    if (!interference_) interference_.emplace(step_.workload, *step_.channels, step_.prices, orders());
    set_costs(step_.workload, *step_.channels, step_.prices, classes.folded, *interference_, step_.expanded);
  }

  /// Known by the programs.
  [[nodiscard]] std::shared_ptr<const InterferenceOrders> orders() {
    if (step_.prices.interference == 0) return nullptr;
    return memo_.get<InterferenceOrders>(MemoKind::interference, program_key_,
                                         [&] { return interference_orders(step_.workload); });
  }

  void measure_step() {
    const Figures& figures = step_.figures;
    step_.layout = figures.breakdown
                       ? memo_.get<RunLayout>(MemoKind::layouts, step_.task_key,
                                              [&] { return RunLayout(step_.workload, step_.expanded); })
                       : std::make_shared<const RunLayout>();
    if (figures.traffic) {
      step_.traffic_counts =
          TrafficCounts(step_.workload, *step_.channels, step_.prices, topology(), matched_->calls_in_period);
      step_.traffic = step_.traffic_counts.traffic(0);
    }
    if (!repeats_) {
      step_.taken = measure_all(step_.view());
      return;
    }
    const auto tasks = memo_.get<PeriodTasks>(MemoKind::period_tasks, step_.task_key, [&] {
      return period_tasks(step_.workload, *step_.periods, step_.expanded);
    });
    step_.taken = measure_period(step_.view(), *step_.periods, *tasks);
  }

  const Experiment& experiment_;
  bool repeats_;
  Memo& memo_;
  SimulatedStep step_;
  ContentHash program_key_;
  ContentHash communicator_key_;
  std::shared_ptr<const MatchedChannels> matched_;
  std::optional<Interference> interference_;  ///< of all runs of the step
};

}  // namespace

RunView SimulatedStep::view() const {
  return {workload,      *layout, expanded, timeline, *machine->topology, prices.kernel_sequences,
          prices.passes, traffic, figures,  kernels};
}

SimulatedStep simulate_step(const StepInput& input, const Figures& figures, bool repeats, bool own_programs,
                            Memo& memo) {
  return StepSimulation(input, figures, repeats, own_programs, memo).run();
}

SimulatedStep price_step(const StepInput& input, const std::vector<LinkId>& shared, Memo& memo) {
  constexpr Figures kNoFigures{false, false, false, false, false, false};
  return StepSimulation(input, kNoFigures, false, false, memo).price_tasks(shared);
}

}  // namespace orrery
