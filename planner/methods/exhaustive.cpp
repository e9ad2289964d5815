// All points, best first by proven bounds: those whose bound is no better than the best found are left out.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "planner/methods/search_run.hpp"

namespace orrery {
namespace {

/// Points that are bounded or simulated side by side; a fixed number, so that results do not depend on
/// threads.
constexpr std::size_t kBlock = 48;

class ExhaustiveSearch {
 public:
  explicit ExhaustiveSearch(SearchRun& run) : run_(run), candidates_(run.evaluate_bounds()) {
    for (Candidate& candidate : candidates_) open_.push_back(&candidate);
    std::ranges::make_heap(open_, later);
  }

  void run() {
    while (!open_.empty() && run_.time_left() && run_.budget_left()) work_on(next_block());
    while (!open_.empty() && run_.budget_left()) simulate({take()});  // until there is a plan to report
    set_lower_bound();
  }

 private:
  /// The smallest bound comes first, of equal ones the smallest index.
  static bool later(const Candidate* a, const Candidate* b) {
    return std::pair(a->bound, a->index) > std::pair(b->bound, b->index);
  }

  Candidate* take() {
    std::ranges::pop_heap(open_, later);
    Candidate* const first = open_.back();
    open_.pop_back();
    return first;
  }

  std::vector<Candidate*> next_block() {
    std::vector<Candidate*> block;
    while (!open_.empty() && block.size() < kBlock) {
      Candidate* const candidate = take();
      if (can_be_best(*candidate))
        block.push_back(candidate);
      else
        prune(*candidate);
    }
    return block;
  }

  /// Returns true if the candidate can be among the reported points or, if points are weighed by several
  /// figures, on the Pareto front.
  [[nodiscard]] bool can_be_best(const Candidate& candidate) const {
    if (candidate.bound < run_.cost_of(run_.request().top - 1)) return true;
    if (run_.request().pareto.empty()) return false;
    return std::ranges::none_of(run_.trials(), [&](const Trial& trial) {
      if (trial.cost > candidate.bound) return false;
      return std::ranges::equal(trial.pareto, candidate.pareto_bounds, std::ranges::less_equal());
    });
  }

  void prune(const Candidate& candidate) {
    switch (candidate.by) {
      case BoundBy::nothing:
        return run_.count_pruned(1, "left out: others are better in all that is weighed");
      case BoundBy::passes:
        return run_.count_pruned(1, "left out: passes alone take longer than the best step");
      case BoundBy::weights:
        return run_.count_pruned(1, "left out: weights and gradients alone travel longer than the best step");
      case BoundBy::schedule:
        return run_.count_pruned(
            1, "left out: passes in the order of the schedule take longer than the best step");
      case BoundBy::run_without_contention:
        return run_.count_pruned(1, "left out: longer than the best step even without contention");
    }
  }

  /// Bounds those more tightly that can be, simulates the others.
  void work_on(const std::vector<Candidate*>& block) {
    std::vector<Candidate*> loose;
    std::vector<Candidate*> tight;
    for (Candidate* candidate : block)
      (candidate->next != Tightening::none ? loose : tight).push_back(candidate);
    run_.tighten(loose);
    for (Candidate* candidate : loose) {
      open_.push_back(candidate);
      std::ranges::push_heap(open_, later);
    }
    simulate(tight);
  }

  void simulate(const std::vector<Candidate*>& candidates) {
    std::vector<std::uint64_t> indices;
    for (const Candidate* candidate : candidates) indices.push_back(candidate->index);
    const auto trials = run_.simulate(indices);
    for (std::size_t i = 0; i < trials.size(); ++i)
      if (!trials[i]) left_over_.push_back(candidates[i]);
  }

  /// Sets the lower bound: a plan that was not simulated may be as good as its own bound.
  void set_lower_bound() {
    double least = run_.cost_of(0);
    for (const Candidate* candidate : open_) least = std::min(least, candidate->bound);
    for (const Candidate* candidate : left_over_) least = std::min(least, candidate->bound);
    run_.set_lower_bound(least);
  }

  SearchRun& run_;
  std::vector<Candidate> candidates_;
  std::vector<Candidate*> open_;       ///< a heap
  std::vector<Candidate*> left_over_;  ///< for which the budget had no room
};

}  // namespace

void search_exhaustively(SearchRun& run) { ExhaustiveSearch(run).run(); }

}  // namespace orrery
