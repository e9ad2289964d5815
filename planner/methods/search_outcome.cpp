// Builds the outcome of a search: the best plans simulated in full, the Pareto front, and the counts of all
// others.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "planner/methods/search_run.hpp"

namespace orrery {

FoundPlan SearchRun::reported(const Trial& trial) {
  Experiment experiment = std::get<Point>(read(trial.index)).experiment;
  Figures all;
  all.capacity = figures_.capacity;
  all.long_run = figures_.long_run;
  return {trial, simulator_.simulate(experiment, all), std::move(experiment)};
}

/// Trials that have all values, than which none is better, or as good, in all.
void SearchRun::add_pareto(SearchResult& result) {
  const auto dominated = [this](const Trial& trial) {
    return std::ranges::any_of(trials_, [&trial](const Trial& other) {
      bool less = other.cost < trial.cost;
      if (other.cost > trial.cost) return false;
      for (std::size_t k = 0; k < trial.pareto.size(); ++k) {
        if (other.pareto[k] > trial.pareto[k]) return false;
        less = less || other.pareto[k] < trial.pareto[k];
      }
      return less;
    });
  };
  for (const Trial& trial : trials_)
    if (trial.has_values() && !dominated(trial)) result.pareto.push_back(reported(trial));
  for (const Trial& trial : trials_) {
    if (!trial.has_values()) continue;
    WeighedPlan plan{request_.objective.value_of_cost(trial.cost), {}};
    for (std::size_t k = 0; k < trial.pareto.size(); ++k)
      plan.figures.push_back(request_.pareto[k].value_of_cost(trial.pareto[k]));
    result.weighed.push_back(std::move(plan));
  }
}

SearchResult SearchRun::finish() {
  SearchResult result = std::move(counts_);
  const std::size_t top = std::min(request_.top, trials_.size());
  for (std::size_t k = 0; k < top; ++k) result.best.push_back(reported(trials_[k]));
  if (!request_.pareto.empty()) add_pareto(result);
  if (!trials_.empty() && std::isfinite(least_cost_)) {
    const double best = trials_.front().cost;
    result.gap = best > least_cost_ ? (best - least_cost_) / std::abs(best) : 0;
    result.optimal = *result.gap == 0;
  }
  if (result.beyond > 0) result.rejected["simulated, but beyond a limit"] = result.beyond;
  if (result.overloaded > 0)
    result.rejected["simulated, but the queue of requests grows"] = result.overloaded;
  if (result.infeasible > 0) result.rejected["do not fit into memory"] = result.infeasible;
  for (const auto& [by, refused] : refused_)
    result.rejected["could not be simulated, by " + Refusal{by, refused.message}.text()] = refused.points;
  if (trials_.size() > top) result.rejected["simulated, but worse"] = trials_.size() - top;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  return result;
}

}  // namespace orrery
