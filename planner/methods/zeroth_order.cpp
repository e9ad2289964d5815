// Searches that know values alone, no derivatives: where all keys are intervals the methods of NLopt, else
// evolution.
#include <algorithm>
#include <cmath>
#include <exception>
#include <nlopt.hpp>
#include <vector>

#include "planner/methods/genome.hpp"
#include "planner/methods/search_run.hpp"

namespace orrery {
namespace {

constexpr int kGlobalPerKey = 60;        ///< evaluations that divide the box, before the best one is refined
constexpr int kLocalPerKey = 400;        ///< at most
constexpr double kFirstStep = 0.05;      ///< of the refinement, in shares
constexpr double kSmallestShare = 1e-6;  ///< it ends there

/// The objective as NLopt calls it: shares of the keys that are intervals.
class BoxObjective {
 public:
  explicit BoxObjective(SearchRun& run) : run_(run), breeder_(run.space()) {
    for (std::size_t k = 0; k < run.space().keys().size(); ++k)
      if (run.space().keys()[k].interval) free_.push_back(k);
    best_.assign(free_.size(), 0.5);
  }

  [[nodiscard]] std::size_t dimensions() const { return free_.size(); }
  [[nodiscard]] const std::vector<double>& best() const { return best_; }
  [[nodiscard]] const std::exception_ptr& error() const { return error_; }

  static double call(const std::vector<double>& shares, std::vector<double>& /*gradient*/, void* self) {
    auto& objective = *static_cast<BoxObjective*>(self);
    try {
      return objective.cost(shares);
    } catch (const nlopt::forced_stop&) {
      throw;
    } catch (...) {
      objective.error_ = std::current_exception();
      throw nlopt::forced_stop();
    }
  }

 private:
  /// Returns the cost; infinity for a point that is no experiment or does not fit.
  double cost(const std::vector<double>& shares) {
    if (!run_.budget_left()) throw nlopt::forced_stop();
    Genome genome(run_.space().keys().size(), 0);
    for (std::size_t i = 0; i < free_.size(); ++i) genome[free_[i]] = std::clamp(shares[i], 0.0, 1.0);
    const std::vector<std::vector<std::string>> values{breeder_.values(genome)};
    const std::optional<Trial> trial = run_.simulate(values).front();
    if (!trial) return HUGE_VAL;
    if (trial->cost < least_) {
      least_ = trial->cost;
      best_ = shares;
    }
    return trial->cost;
  }

  SearchRun& run_;
  Breeder breeder_;
  std::vector<std::size_t> free_;
  std::vector<double> best_;  ///< shares
  double least_ = HUGE_VAL;
  std::exception_ptr error_;
};

void minimize(nlopt::algorithm method, BoxObjective& objective, int evaluations) {
  nlopt::opt optimizer(method, static_cast<unsigned>(objective.dimensions()));
  optimizer.set_lower_bounds(0.0);
  optimizer.set_upper_bounds(1.0);
  optimizer.set_initial_step(kFirstStep);
  optimizer.set_xtol_abs(kSmallestShare);
  optimizer.set_maxeval(evaluations * static_cast<int>(objective.dimensions()));
  optimizer.set_min_objective(&BoxObjective::call, &objective);
  std::vector<double> at = objective.best();
  double value = 0;
  try {
    optimizer.optimize(at, value);
  } catch (const nlopt::roundoff_limited&) {  // as near as numbers allow
  } catch (const nlopt::forced_stop&) {
  }
  if (objective.error()) std::rethrow_exception(objective.error());
}

/// Division of the box by DIRECT-L (Gablonsky and Kelley 2001), which leaves out points that have no value,
/// then subplex (Rowan 1990) from the best point.
void search_box(SearchRun& run) {
  BoxObjective objective(run);
  minimize(nlopt::GN_ORIG_DIRECT_L, objective, kGlobalPerKey);
  if (run.budget_left()) minimize(nlopt::LN_SBPLX, objective, kLocalPerKey);
}

}  // namespace

void search_without_derivatives(SearchRun& run) {
  const std::vector<SpaceKey>& keys = run.space().keys();
  const auto is_list = [](const SpaceKey& key) { return !key.interval && key.values.size() > 1; };
  const bool box = run.space().continuous() && std::ranges::none_of(keys, is_list);
  if (box)
    search_box(run);
  else
    search_by_evolution(run);
}

}  // namespace orrery
