#include "sim/run/training_run.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "orrery/simulate.hpp"
#include "sim/metrics/memory_fit.hpp"
#include "sim/network/network_model.hpp"
#include "sim/run/asynchronous_run.hpp"
#include "sim/run/run.hpp"
#include "sim/step/step.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

/// Holds the times of a step, for all experiments that come to the same step.
struct MeasuredStep {
  Experiment experiment;  ///< with the micro-batches simulated
  std::optional<StepAndPeriod> taken;
  StepFacts facts;
  TrafficCounts traffic;
  bool slows_passes = false;  ///< SimulatedStep::slows_passes: nothing else is known then

  [[nodiscard]] std::size_t bytes() const {
    constexpr std::size_t kNames = 1000;  // lists and names of an experiment, mostly
    std::size_t graph = 0;
    if (experiment.cluster.graph)
      graph = experiment.cluster.graph->links.size() * 2 * sizeof(GraphLink) +
              experiment.cluster.graph->vertices.size() * 2 * sizeof(std::string);
    for (const auto& neighbours : experiment.data_parallel_sync.neighbours)
      graph += (neighbours.size() + 3) * sizeof(std::int64_t);
    return sizeof *this + kNames + graph + traffic.bytes() +
           facts.multiplicity.size() * (sizeof(std::uint32_t) + 2 * sizeof(ClassTimes));
  }
};

/// Throws where a run that is told from a shorter one ends after simulated time does.
void check_time(Picoseconds run, Picoseconds part, std::int64_t more) {
  if (Int128{run} + Int128{part} * more > kTimeLimit)
    throw std::overflow_error("the step finishes later than 2^62 ps (53 days), the end of simulated time");
}

class TrainingRun {
 public:
  TrainingRun(const PreparedExperiment& prepared, const Figures& figures, Memo& memo)
      : prepared_(prepared), figures_(figures), memo_(memo) {}

  Report run() {
    if (!figures_.of_infeasible &&
        !fits(experiment_, memory_by_stage(experiment_.plan, prepared_.outlined.workload)))
      return memory_report(prepared_, figures_);
    if (is_asynchronous(experiment_)) return run_meetings();
    if (may_repeat()) {
      if (std::optional<Report> report = run_until_steady()) return *std::move(report);
    }
    const auto step = measured(experiment_, false);
    return step->slows_passes ? simulate_in_layers() : report(*step, step->taken->whole, 0);
  }

 private:
  Report run_meetings() {
    const SimulatedStep step = simulate_step({prepared_}, figures_, false, false, memo_);
    if (step.slows_passes) return simulate_in_layers();
    return report_on_meetings(prepared_, step, figures_);
  }

  /// Passes are no operations of their tensor groups alone.
  Report simulate_in_layers() { return simulate_training(in_layers(prepared_, memo_), figures_, memo_); }

  /// Replicas with unequal batches have no period in common.
  [[nodiscard]] bool may_repeat() const {
    return experiment_.simulation.folding == Folding::automatic && experiment_.simulation.steps == 1 &&
           experiment_.plan.replica_batch_sizes.empty();
  }

  /// Folding in time: micro-batches that only repeat what those before them did are not simulated. A step of
  /// m micro-batches is one of fewer, with the last period repeated: all that is counted or adds up is linear
  /// in the periods, so times are those of the whole run to the picosecond. Nothing where that does not pay
  /// or the step does not come to a steady state, which is waited for longer where the whole step would be
  /// too long to write.
  std::optional<Report> run_until_steady() {
    const std::int64_t all = experiment_.plan.micro_batches();
    const std::int64_t copies = experiment_.plan.model_copies();
    const auto [period, warm_up, alike] = steady_state_of(experiment_.plan);
    const std::int64_t usual = 6 * alike;
    const std::int64_t longest = 9 * usual;
    for (std::int64_t settling = 2 * alike; settling <= longest; settling *= 3) {
      if (settling > usual && can_be_written(experiment_, prepared_.layout, prepared_.outlined)) return {};
      const std::int64_t fewest = copies * (warm_up + settling * period);
      const std::int64_t simulated = fewest + (all - fewest) % (copies * period);
      if (2 * simulated > all) return {};  // tried in vain costs half as much again at most
      const auto step = measured(with_micro_batches(experiment_, simulated), true);
      if (step->slows_passes) return simulate_in_layers();
      if (!step->taken) continue;
      const std::int64_t times = (all - simulated) / (copies * period);
      Totals totals = step->taken->whole;
      check_time(totals.makespan_ps, step->taken->part.makespan_ps, times);
      totals.add(step->taken->part, times);
      Report result = report(*step, totals, times);
      if (figures_.origin)
        result.assumptions.push_back(fmt::format(
            "the {} micro-batches of a replica are simulated up to the {}th; the others repeat the last {}",
            all, simulated, copies * period));
      return result;
    }
    return {};
  }

  [[nodiscard]] Report report(const MeasuredStep& step, const Totals& totals, std::int64_t more) const {
    Report result =
        report_on(prepared_, step.facts,
                  figures_.traffic ? step.traffic.traffic(static_cast<std::uint64_t>(more)) : Traffic{},
                  totals, figures_);
    if (more > 0 && step.facts.peak_memory && step.facts.peak_memory->after_part)
      *result.peak_memory_at_ps += more * step.taken->part.makespan_ps;
    return result;
  }

  /// Returns the part of the key that tells when the run has its peak of memory.
  [[nodiscard]] ContentHash peak_key(const ShortenedRun& shortened) const {
    const auto peak = place_of_peak(prepared_.outlined.workload.stage_memory, shortened);
    if (!peak) return {};
    const PeakMoment& moment = peak->moment;
    return content_of(peak->program, moment.pass, moment.chunk, moment.layer, moment.at_end, peak->from_begin,
                      peak->from_end);
  }

  /// Known by all of the experiment, compared key by key, and by the figures asked for.
  std::shared_ptr<const MeasuredStep> measured(Experiment simulated, bool repeats) {
    simulated.name.clear();  // changes nothing
    simulated.training = {0, 0, simulated.training.data};
    simulated.accuracy = {};
    simulated.problem = {};
    const ShortenedRun shortened = shortened_run(experiment_.plan, simulated.plan.micro_batches());
    const ContentHash key = content_of(simulated, repeats, figures_.breakdown, figures_.critical_path,
                                       figures_.traffic, figures_.kernels, peak_key(shortened));
    auto known = memo_.find<MeasuredStep>(MemoKind::step, key);
    if (known != nullptr && known->experiment == simulated) return known;
    SimulatedStep step = simulate_step({prepared_, simulated}, figures_, repeats, false, memo_);
    const auto made = std::make_shared<const MeasuredStep>(
        MeasuredStep{std::move(simulated), std::move(step.taken), StepFacts(step, shortened),
                     std::move(step.traffic_counts), step.slows_passes});
    memo_.put<MeasuredStep>(MemoKind::step, key, made);
    return made;
  }

  const PreparedExperiment& prepared_;
  const Experiment& experiment_ = prepared_.experiment;
  Figures figures_;
  Memo& memo_;
};

}  // namespace

Report simulate_training(const PreparedExperiment& prepared, const Figures& figures, Memo& memo) {
  return TrainingRun(prepared, figures, memo).run();
}

}  // namespace orrery
