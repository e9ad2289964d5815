#include "sim/run/sensitivity.hpp"

#include <algorithm>
#include <cmath>

#include "sim/run/asynchronous_run.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/task_path.hpp"
#include "sim/step/step.hpp"

namespace orrery {
namespace {

constexpr Figures kTimeAlone{false, false, false, false, false, false};

/// Prices are compared at values so far apart, as a share. They are sums of terms that do not depend on a
/// parameter and of terms in proportion to it (to one over a rate), so the difference is the derivative at
/// any distance at which the same terms are the largest; this one is far beyond the rounding to picoseconds.
constexpr double kStep = 1.0 / 256;
/// Shares of the step time below this are rounding.
constexpr double kLeastShare = 1e-7;
/// The largest speed-up of a parameter that is evaluated.
constexpr double kFarthest = 1000;

Experiment concrete(const Experiment& experiment, Memo& memo) {
  require_one_timeline(experiment);
  Experiment layered = with_resolved_plan(experiment, memo);
  layered.simulation.detail = Detail::layer;
  return layered;
}

}  // namespace

/// Values of a parameter are `slowness` here: 1 is that of the experiment, 1/2 is twice the rate or half the
/// time.
class Sensitivity::Implementation {
 public:
  explicit Implementation(const Experiment& experiment)
      : experiment_(concrete(experiment, memo_)), base_(simulate(experiment_)), path_(base_) {}

  [[nodiscard]] bool exact() const { return path_.exact(); }

  WhatIf of(const PriceParameter& parameter) {
    const double half = parameter.value > 0 ? std::max(0.5, fastest(parameter)) : 1;
    WhatIf result;
    result.value = parameter.value;
    result.better = value_at(parameter, half);
    result.better_makespan_ps = result.path_makespan_ps = base_.timeline.makespan_ps;
    const double share = parameter.value > 0 ? share_of(parameter) : 0;
    if (std::abs(share) < kLeastShare) return result;
    result.share = share;
    const Point twice = evaluate(parameter, half);
    result.better_makespan_ps = twice.makespan;
    result.path_makespan_ps = twice.path;
    if (const std::optional<double> end = end_of_path(parameter, twice, half))
      result.holds_until = value_at(parameter, *end);
    return result;
  }

 private:
  /// A simulation at another value.
  struct Point {
    double slowness = 1;
    Picoseconds makespan = 0;
    Picoseconds path = 0;  ///< length of the experiment's path; 0: unknown, since there are other tasks
    double other = 0;      ///< at the experiment's own value: length of the path that is longest here
  };

  static double value_at(const PriceParameter& parameter, double slowness) {
    return parameter.is_rate ? parameter.value / slowness : parameter.value * slowness;
  }
  static double fastest(const PriceParameter& parameter) {
    const double end =
        parameter.is_rate ? parameter.value / parameter.best : parameter.best / parameter.value;
    return std::clamp(end, 1 / kFarthest, 1.0);
  }
  [[nodiscard]] Experiment at(const PriceParameter& parameter, double slowness) const {
    Experiment changed = experiment_;
    parameter.set(changed, value_at(parameter, slowness));
    return changed;
  }
  SimulatedStep simulate(const Experiment& experiment) {
    const PreparedExperiment prepared(experiment, memo_);
    return simulate_step({prepared}, kTimeAlone, false, false, memo_);
  }

  /// Runs nothing: it asks the tasks of the path for their costs. Only if other prices distinguish ranks that
  /// were alike, so that there are other tasks, two steps are simulated.
  double share_of(const PriceParameter& parameter) {
    const auto length = [&](double slowness) {
      const Experiment changed = at(parameter, slowness);
      const PreparedExperiment prepared(changed, memo_);
      const SimulatedStep priced = price_step({prepared}, base_.shared, memo_);
      return has_same_tasks(priced) ? path_.length(priced.expanded.graph)
                                    : static_cast<double>(simulate(changed).timeline.makespan_ps);
    };
    const double difference = length(1 + kStep) - length(1 - kStep);
    return difference / (2 * kStep) / static_cast<double>(base_.timeline.makespan_ps);
  }
  [[nodiscard]] bool has_same_tasks(const SimulatedStep& step) const {
    return step.task_key == base_.task_key;
  }

  Point evaluate(const PriceParameter& parameter, double slowness) {
    const SimulatedStep step = simulate(at(parameter, slowness));
    Point point{slowness, step.timeline.makespan_ps};
    if (!has_same_tasks(step)) return point;
    point.path = static_cast<Picoseconds>(path_.length(step.expanded.graph) + 0.5);
    point.other = TaskPath(step).length(base_.expanded.graph);
    return point;
  }
  /// To the rounding of each task; where transfers of the path share links, to a thousandth.
  [[nodiscard]] bool holds(const Point& point) const {
    const double tolerance =
        exact() ? static_cast<double>(path_.tasks()) : static_cast<double>(point.makespan) / 1000;
    return std::abs(static_cast<double>(point.makespan - point.path)) <= tolerance;
  }

  /// The slowness at which another path becomes as long; nothing if none does. Lengths of paths are straight
  /// lines there as a rule, so the next guess is where the path of the experiment meets the one that is the
  /// longest now (Newton's method for parametric problems: Dinkelbach 1967); halves the way where that does
  /// not help.
  std::optional<double> end_of_path(const PriceParameter& parameter, const Point& half, double half_at) {
    constexpr int kMostSteps = 24;
    constexpr double kClose = 1e-4;
    double good = 1;
    Point bad = half;
    if (holds(half)) {
      good = half_at;
      bad = evaluate(parameter, fastest(parameter));
      if (holds(bad)) return {};
    }
    for (int step = 0; step < kMostSteps && good - bad.slowness > kClose * good; ++step) {
      const double meeting = meeting_of(bad);
      if (good == 1 && meeting > 1 - kClose) break;
      const bool within = bad.slowness < meeting && meeting < good;
      const Point next = evaluate(parameter, within ? meeting : std::sqrt(good * bad.slowness));
      if (!holds(next)) {
        bad = next;
        continue;
      }
      good = next.slowness;
      if (within) break;
    }
    return good;
  }
  /// Where the longest path of `point` is as long as that of the experiment, if both are straight.
  [[nodiscard]] double meeting_of(const Point& point) const {
    const double now = static_cast<double>(base_.timeline.makespan_ps) - point.other;
    const auto there = static_cast<double>(point.makespan - point.path);
    return point.slowness + (1 - point.slowness) * there / (there + now);
  }

  Memo memo_;
  Experiment experiment_;
  SimulatedStep base_;
  TaskPath path_;
};

Sensitivity::Sensitivity(const Experiment& experiment)
    : self_(std::make_unique<Implementation>(experiment)) {}
Sensitivity::~Sensitivity() = default;
Sensitivity::Sensitivity(Sensitivity&&) noexcept = default;

WhatIf Sensitivity::of(const PriceParameter& parameter) { return self_->of(parameter); }
bool Sensitivity::exact() const { return self_->exact(); }

}  // namespace orrery
