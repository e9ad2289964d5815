#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/long_run/closed_forms.hpp"
#include "sim/long_run/long_run_result.hpp"

namespace orrery {
namespace {

constexpr std::uint64_t kPaceStream = 0x9ace;         ///< of random numbers
constexpr std::int64_t kSearchRepetitions = 21;       ///< for each interval that is tried
constexpr double kSearchedSpan = 8;                   ///< times Young's interval, and its reciprocal
constexpr double kSearchedRatio = 1.189207115002721;  ///< 2^(1/4), from one interval to the next

/// Returns the model with steps `pace` times as long.
RunModel at_pace(RunModel model, double pace) {
  const auto scaled = [pace](Picoseconds time) {
    return std::max<Picoseconds>(1, static_cast<Picoseconds>(static_cast<double>(time) * pace + 0.5));
  };
  for (StepLevel& level : model.levels) level.step_ps = scaled(level.step_ps);
  if (model.step_without)
    model.step_without = [scaled, of = model.step_without](std::size_t level, std::int64_t lost) {
      return scaled(of(level, lost));
    };
  return model;
}

/// Step times over the predicted one, spread over their stated range: evenly in probability by a logistic
/// distribution with its deciles, in random order.
std::vector<double> paces(const Report& step, std::int64_t repetitions, std::uint64_t seed) {
  const double middle = (step.error_p10 + step.error_p90) / 2;
  const double half = (step.error_p90 - step.error_p10) / 2;
  std::vector<double> out;
  for (std::int64_t r = 0; r < repetitions; ++r) {
    const double share = (static_cast<double>(r) + 0.5) / static_cast<double>(repetitions);
    const double odds = share / (1 - share);
    const double logit = odds >= 1 ? portable_log(odds) : -portable_log(1 / odds);
    out.push_back(std::max(0.1, 1 + middle + half * logit / portable_log(9)));
  }
  RandomStream random(seed, kPaceStream);
  for (std::size_t i = out.size(); i > 1; --i)
    std::swap(out[i - 1], out[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
  return out;
}

class LongRunStudy {
 public:
  LongRunStudy(const Experiment& experiment, PreparedRun prepared)
      : run_(*experiment.run), seed_(static_cast<std::uint64_t>(experiment.simulation.seed)) {
    result_.experiment = experiment;
    result_.prepared = std::move(prepared);
  }

  LongRunResult study() {
    if (result_.prepared.model.levels.empty()) return std::move(result_);
    choose_interval();
    repeat();
    return std::move(result_);
  }

 private:
  [[nodiscard]] RunModel& model() { return result_.prepared.model; }

  // --- interval -------------------------------------------------------------------------------------------

  void choose_interval() {
    CheckpointModel& checkpoint = model().checkpoint;
    const double rate = model().stops_per_ps();
    if (rate > 0) {
      const auto stall = static_cast<double>(checkpoint.stall_ps);
      result_.intervals.young_s = young_interval(stall, 1 / rate) * 1e-12;
      result_.intervals.daly_s = daly_interval(stall, 1 / rate) * 1e-12;
    }
    const CheckpointPolicy policy = run_.checkpoint.value_or(CheckpointPolicy{});
    if (policy.interval == CheckpointInterval::given || !result_.prepared.writes_checkpoints) return;
    checkpoint.interval_steps = rate > 0 ? steps_of(result_.intervals.young_s) : 0;
    if (policy.interval != CheckpointInterval::optimal || rate == 0) return;
    checkpoint.interval_steps = result_.intervals.optimal_steps = shortest_run();
  }

  /// Writes of one checkpoint end before the next one begins.
  [[nodiscard]] std::int64_t steps_of(double interval_s) {
    const auto step = static_cast<double>(model().levels.back().step_ps);
    const double least = static_cast<double>(model().checkpoint.first.save_ps) / step;
    const double steps = std::max(std::ceil(least), std::round(interval_s * 1e12 / step));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(steps, 1e15)), 1, model().steps());
  }

  std::int64_t shortest_run() {
    const double young =
        std::max(result_.intervals.young_s, 1e-12 * static_cast<double>(model().levels.back().step_ps));
    std::int64_t best = 0;
    LongPicoseconds best_time = 0;
    for (double interval = young / kSearchedSpan; interval < young * kSearchedSpan * 1.01;
         interval *= kSearchedRatio) {
      const std::int64_t steps = steps_of(interval);
      if (steps == model().checkpoint.interval_steps && best != 0) continue;
      model().checkpoint.interval_steps = steps;
      const LongPicoseconds time = time_of_repetitions();
      if (time == 0 || (best != 0 && time >= best_time)) continue;
      best = steps;
      best_time = time;
    }
    return best != 0 ? best : steps_of(young);
  }

  /// 0 if one of them never ends.
  [[nodiscard]] LongPicoseconds time_of_repetitions() {
    LongPicoseconds sum = 0;
    for (std::int64_t r = 0; r < kSearchRepetitions; ++r) {
      const RunOutcome outcome = simulate_run(model(), seed_, static_cast<std::uint64_t>(r));
      if (!outcome.ends) return 0;
      sum += outcome.wall_ps;
    }
    return sum;
  }

  // --- repetitions ----------------------------------------------------------------------------------------

  void repeat() {
    std::vector<std::pair<LongPicoseconds, std::int64_t>> walls;
    for (std::int64_t r = 0; r < run_.repetitions; ++r) {
      const RunOutcome outcome = simulate_run(model(), seed_, static_cast<std::uint64_t>(r));
      if (!outcome.ends) return give_up(outcome);
      result_.totals.add(outcome);
      walls.emplace_back(outcome.wall_ps, r);
    }
    std::ranges::sort(walls);
    const std::int64_t median = walls[walls.size() / 2].second;
    result_.shown = simulate_run(model(), seed_, static_cast<std::uint64_t>(median), true);
    for (const auto& [wall, repetition] : walls) result_.days.push_back(days_of(wall));
    if (run_.step_range && result_.prepared.step.has_spread()) repeat_with_range();
  }

  static double days_of(LongPicoseconds wall) { return static_cast<double>(wall) * 1e-12 / 86'400; }

  void repeat_with_range() {
    result_.days.clear();
    const std::vector<double> pace = paces(result_.prepared.step, run_.repetitions, seed_);
    for (std::size_t r = 0; r < pace.size(); ++r) {
      const RunOutcome outcome = simulate_run(at_pace(model(), pace[r]), seed_, r);
      result_.days.push_back(outcome.ends ? days_of(outcome.wall_ps) : HUGE_VAL);
    }
    std::ranges::sort(result_.days);
  }

  void give_up(const RunOutcome& outcome) {
    result_.totals = RunTotals{};
    result_.totals.add(outcome);
    result_.days.clear();
    const double hours = result_.mean_hours_between_stops();
    const CheckpointModel& checkpoint = model().checkpoint;
    const double minutes =
        (static_cast<double>(model().restart_ps) + static_cast<double>(checkpoint.first.load_ps)) / 60e12;
    const std::string interval =
        checkpoint.interval_steps > 0
            ? fmt::format("{:.4g} minutes of training from one checkpoint to the next",
                          static_cast<double>(checkpoint.interval_steps) *
                              static_cast<double>(model().levels.back().step_ps) / 60e12)
            : std::string("no checkpoints");
    result_.never_ends = fmt::format(
        "the run never ends: after {} interruptions it stands at step {:.0f} of {}. Something fails every "
        "{:.4g} "
        "minutes on average; a start takes {:.4g} minutes, and there are {}",
        outcome.interruptions, outcome.steps, model().steps(), hours * 60, minutes, interval);
  }

  const LongRun& run_;
  std::uint64_t seed_;
  LongRunResult result_;
};

}  // namespace

void RunTotals::add(const RunOutcome& outcome) {
  ++repetitions;
  wall_ps += outcome.wall_ps;
  for (std::size_t use = 0; use < kTimeUseCount; ++use) time_ps[use] += outcome.time_ps[use];
  interruptions += outcome.interruptions;
  checkpoints += outcome.checkpoints;
  failures.resize(outcome.failures.size());
  for (std::size_t kind = 0; kind < failures.size(); ++kind) failures[kind] += outcome.failures[kind];
}

double RunTotals::mean_s(LongPicoseconds sum) const {
  return static_cast<double>(sum) / static_cast<double>(repetitions) * 1e-12;
}

double LongRunResult::days_quantile(double share) const {
  const auto count = static_cast<double>(days.size());
  const auto rank = static_cast<std::size_t>(std::ceil(share * count));
  return days.at(std::max<std::size_t>(1, rank) - 1);
}

double LongRunResult::share(LongPicoseconds time) const {
  return static_cast<double>(time) / static_cast<double>(totals.wall_ps);
}

double LongRunResult::training_share() const {
  LongPicoseconds sum = 0;
  for (const TimeUse use : {TimeUse::useful, TimeUse::degraded, TimeUse::warm_up})
    sum += totals.time_ps[static_cast<std::size_t>(use)];
  return share(sum);
}

std::int64_t LongRunResult::nodes() const {
  const RunModel& model = prepared.model;
  return experiment.cluster.nodes + model.hot_spares + model.cold_spares;
}

double LongRunResult::cost_usd() const {
  const double spares = static_cast<double>(nodes()) / static_cast<double>(experiment.cluster.nodes);
  return prepared.step.usd_per_hour * spares * wall_s() / 3600;
}

double LongRunResult::energy_kwh() const {
  const double full = prepared.step.power_w;
  const double still = experiment.cluster.sum_over_gpus(&Gpu::static_power_w);
  const double idle = still > 0 ? std::min(full, still) : full;
  double computing = totals.seconds(TimeUse::lost_steps) + totals.seconds(TimeUse::evaluation);
  for (const TimeUse use : {TimeUse::useful, TimeUse::degraded, TimeUse::warm_up})
    computing += totals.seconds(use);
  return (full * computing + idle * (wall_s() - computing)) / 3.6e6;
}

double LongRunResult::mean_hours_between_stops() const {
  const double rate = prepared.model.stops_per_ps();
  return rate > 0 ? 1 / rate / kPicosecondsPerHour : 0;
}

LongRunResult simulate_long_run(const Experiment& experiment, const SimulateStep& simulate) {
  return LongRunStudy(experiment, prepare_run(experiment, simulate)).study();
}

LongRunFigures figures_of_long_run(const LongRunResult& result) {
  LongRunFigures figures;
  figures.ends = result.ends();
  const RunModel& model = result.prepared.model;
  if (model.levels.empty()) return figures;
  figures.checkpoint_interval_steps = model.checkpoint.interval_steps;
  figures.checkpoint_interval_s =
      static_cast<double>(model.checkpoint.interval_steps) * to_seconds(model.levels.back().step_ps);
  if (!figures.ends) return figures;
  figures.goodput = result.goodput();
  figures.effective_training_time_ratio = result.training_share();
  figures.days = result.mean_days();
  figures.days_p10 = result.days_quantile(0.1);
  figures.days_p50 = result.days_quantile(0.5);
  figures.days_p90 = result.days_quantile(0.9);
  figures.interruptions = result.totals.mean(result.totals.interruptions);
  figures.mfu = result.mfu();
  if (result.prepared.step.usd_per_hour > 0) figures.cost_usd = result.cost_usd();
  if (result.prepared.step.power_w > 0) figures.energy_kwh = result.energy_kwh();
  return figures;
}

}  // namespace orrery
