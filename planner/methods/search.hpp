// Searches for the best point of a space. A method is a file and a row of search_methods(), and works through
// SearchRun: it evaluates points, bounds them, and simulates them. SearchRun counts all that the search
// reports.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/menu.hpp"
#include "orrery/report.hpp"
#include "planner/methods/objective.hpp"
#include "planner/space/space.hpp"

namespace orrery {

/// Limits a search. nullopt: SearchMethod::usual_simulations.
struct Budget {
  std::optional<std::uint64_t> simulations;
  std::optional<double> seconds;  ///< a search that this ends depends on the machine
};

/// Reads "500" (simulations) or "30s". @throws InputError for anything else, and for 0.
[[nodiscard]] Budget parse_budget(std::string_view text);

struct SearchRequest {
  std::string method = "exhaustive";
  Objective objective{"step_time_s"};
  Budget budget{};
  std::size_t top = 5;              ///< best points to report
  std::vector<Objective> pareto{};  ///< figures that points are weighed by beside the objective; empty: none
  std::vector<Limit> limits{};      ///< plans that do not keep all of them are not found
  std::uint64_t seed = 0;
  unsigned threads = 1;
};

/// A point that was simulated.
struct Trial {
  std::vector<std::string> values;  ///< one per key of the space; "" where the key does nothing
  std::uint64_t index = 0;          ///< in the space; of values that are not in it, after all points
  double cost = 0;             ///< Objective::cost(); infinite beyond a limit, and where it cannot keep up
  std::vector<double> pareto;  ///< the same of SearchRequest::pareto
  std::int64_t makespan_ps = 0;
  bool is_within_limits = true;  ///< SearchRequest::limits
  bool is_stable = true;         ///< with the requests that arrive: their queue does not grow

  /// Returns true if the plan has values of the objective and of all figures it is weighed by.
  [[nodiscard]] bool has_values() const;
};

/// A point that is reported whole.
struct FoundPlan {
  Trial trial;
  Report report;
  Experiment experiment;  ///< layers of stages and the like may be left to the simulator
};

/// A simulated plan of a search that weighs figures.
struct WeighedPlan {
  double value = 0;             ///< of the objective
  std::vector<double> figures;  ///< of SearchRequest::pareto
};

/// Records when a search found a better point than before.
struct Improvement {
  std::uint64_t simulated = 0;  ///< so far
  double cost = 0;              ///< Objective::cost()
};

struct SearchResult {
  bool optimal = false;       ///< no point of the space is better than the best: proven
  std::optional<double> gap;  ///< (best - bound) / |best|: how much better a point might be; nothing: unknown
  std::uint64_t points = 0;   ///< of the space: Space::size()
  std::uint64_t evaluated = 0;   ///< points looked at
  std::uint64_t distinct = 0;    ///< of those, valid ones that differ
  std::uint64_t infeasible = 0;  ///< of those, ones that do not fit into memory
  std::uint64_t bounded = 0;     ///< simulated without contention only, as a bound
  std::uint64_t simulated = 0;   ///< under the network of the experiment
  std::uint64_t beyond = 0;      ///< of those, ones that do not keep all limits,
  std::uint64_t overloaded = 0;  ///< and ones that do not keep up with the requests that arrive
  std::uint64_t refused = 0;     ///< that could not be simulated, for the reasons in `rejected`
  std::uint64_t pruned = 0;      ///< not simulated, since they cannot be among the best
  /// Points removed, by the condition or key that stands against them.
  std::map<std::string, std::uint64_t> removed;
  /// Rejected points by the reason in words.
  std::map<std::string, std::uint64_t> rejected;
  std::vector<Improvement> improvements;
  std::vector<std::string> notes;    ///< findings of a method that belong to no point, a sentence each
  std::vector<FoundPlan> best;       ///< at most SearchRequest::top, the best first
  std::vector<FoundPlan> pareto;     ///< those than which none is better in all; by cost
  std::vector<WeighedPlan> weighed;  ///< all that were simulated and have values, where plans are weighed
  double seconds = 0;
};

/// Called as simulations are done, one call at a time.
using SearchProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Searches; there is no best point if plans are valid and none fits into memory.
/// @throws InputError for an unknown method, a space without a valid point (which says how many points each
/// reason removed), a method that cannot search the space, an objective or a figure to weigh it by that no
/// plan has, a budget too small for one, or plans none of which can be simulated. One among others that can
/// is counted, and the search goes on.
[[nodiscard]] SearchResult search(const Space& space, const SearchRequest& request,
                                  const SearchProgress& progress = {});

class SearchRun;

struct SearchMethod : MenuEntry {
  void (*run)(SearchRun& run) = nullptr;
  bool takes_intervals = false;         ///< keys that may have all numbers between two
  std::uint64_t usual_simulations = 0;  ///< the budget where none is given; 0: none
};
[[nodiscard]] std::span<const SearchMethod> search_methods();

void search_exhaustively(SearchRun& run);
void search_by_dynamic_programming(SearchRun& run);
void search_by_integer_programming(SearchRun& run);
void search_without_derivatives(SearchRun& run);
void search_by_evolution(SearchRun& run);
void search_by_reinforcement(SearchRun& run);

}  // namespace orrery
