// Holds the state that a search method works with. Internal to planner/methods/.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "planner/methods/search.hpp"
#include "planner/space/points.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/prepared_experiment.hpp"

namespace orrery {

/// Names the calculation behind a bound.
enum class BoundBy : std::uint8_t { nothing, passes, weights, schedule, run_without_contention };

/// A search tightens a bound in this order, from the quickest way to the slowest.
enum class Tightening : std::uint8_t { schedule, run_without_contention, none };

/// Says why a point cannot be simulated, if only simulating it shows that.
struct Refusal {
  std::string by;  ///< the key that stands against it
  std::string message;

  [[nodiscard]] std::string text() const { return by + " (" + message + ")"; }
};

/// A point that is an experiment which fits into memory.
struct Candidate {
  std::uint64_t index = 0;
  ContentHash content;
  double bound = -std::numeric_limits<double>::infinity();  ///< no cost of it is less
  std::vector<double> pareto_bounds;                        ///< the same of SearchRequest::pareto
  BoundBy by = BoundBy::nothing;
  Tightening next = Tightening::none;
};

/// Safe for threads where it says so; methods are called on one.
class SearchRun {
 public:
  SearchRun(const Space& space, const SearchRequest& request, SearchProgress progress);
  ~SearchRun();

  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] const SearchRequest& request() const { return request_; }

  /// Returns the index of a point with a value per key of the space. If some values are not in the space, it
  /// is a number above those of its points, equal for equal values.
  [[nodiscard]] std::uint64_t index_of(const std::vector<std::string>& values);

  /// Evaluates all points on all threads: returns those that fit into memory, each content once, with bounds,
  /// by index.
  [[nodiscard]] std::vector<Candidate> evaluate_bounds();

  /// Evaluates some points. Points that are no experiments or do not fit give nullopt and are counted once.
  [[nodiscard]] std::vector<std::optional<Candidate>> evaluate(std::span<const std::uint64_t> indices);

  /// Simulates points on all threads in order, as the budget allows. Points that are no experiments, do not
  /// fit or cannot be simulated have no trial and are counted; points beyond the budget have none either. A
  /// content is simulated once.
  std::vector<std::optional<Trial>> simulate(std::span<const std::uint64_t> indices);
  /// Simulates points that need not be in the space, with a value per key of it.
  std::vector<std::optional<Trial>> simulate(std::span<const std::vector<std::string>> values);

  /// Tightens the bounds of candidates by the next kind of bound for each, on all threads.
  void tighten(std::span<Candidate*> candidates);

  /// True while simulations of the budget are left and its time is, or nothing was simulated yet: a search
  /// always has a plan to report.
  [[nodiscard]] bool budget_left() const;
  [[nodiscard]] bool time_left() const;

  /// Sets a cost that no point is below.
  void set_lower_bound(double least_cost) { least_cost_ = least_cost; }
  /// Counts a point that cannot be simulated; the search goes on without it.
  void refuse(const Refusal& refusal);
  /// Adds a sentence about a finding that belongs to no point.
  void note(std::string sentence) { counts_.notes.push_back(std::move(sentence)); }
  void count_pruned(std::uint64_t points, const std::string& because);

  /// The k-th best cost so far; infinite where there are fewer.
  [[nodiscard]] double cost_of(std::size_t k) const;
  [[nodiscard]] const std::vector<Trial>& trials() const { return trials_; }
  /// Returns true if a simulated point has no value of the objective, such as cost if no rent is known.
  [[nodiscard]] bool lacks_value() const { return lacks_value_; }

  [[nodiscard]] SearchResult finish();

 private:
  using ReaderLease = std::unique_ptr<PointReader, std::function<void(PointReader*)>>;
  struct Evaluations;
  struct Evaluated;

  [[nodiscard]] ReaderLease lease_reader();
  [[nodiscard]] PointOrRemoval read(std::uint64_t index);
  [[nodiscard]] Evaluated evaluated(std::uint64_t index, bool as_candidate);
  void count(std::uint64_t index, const Evaluated& looked);
  std::uint64_t evaluate_point(std::uint64_t index, std::uint64_t end, PointReader& reader,
                               Evaluations& found);
  void raise_bounds(const Report& least, BoundBy by, Candidate& candidate) const;
  void schedule_passes(Candidate& candidate);
  void run_without_contention(Candidate& candidate);
  [[nodiscard]] Candidate candidate_of(const Point& point, const PreparedExperiment& prepared,
                                       const Report& memory);
  [[nodiscard]] std::vector<Candidate> merged(std::vector<Evaluations>& evaluations);
  [[nodiscard]] std::vector<std::optional<Point>> fitting_points(std::span<const std::uint64_t> indices);
  [[nodiscard]] std::vector<const Point*> new_points(const std::vector<std::optional<Point>>& points);
  struct Attempt;
  [[nodiscard]] Trial trial_of(const Point& point);
  [[nodiscard]] Attempt attempt(const Point& point);
  void keep(const Point& point, const Attempt& attempt);
  [[nodiscard]] std::vector<double> pareto_of(const Report& report) const;
  [[nodiscard]] bool is_within_limits(const Report& report) const;
  [[nodiscard]] FoundPlan reported(const Trial& trial);
  void add_pareto(SearchResult& result);

  const Space& space_;
  const SearchRequest& request_;
  SearchProgress progress_;
  Simulator simulator_;
  Memo memo_;
  Figures figures_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PointReader>> idle_readers_;
  std::map<std::vector<std::string>, std::uint64_t>
      outside_;                                           ///< indices of values that are not in the space
  std::vector<std::vector<std::string>> outside_values_;  ///< the same, by index
  bool surveyed_ = false;
  std::unordered_set<std::uint64_t> counted_;  ///< indices, beside those of evaluate_bounds()
  std::unordered_set<ContentHash, ContentHasher> contents_;
  std::unordered_map<ContentHash, std::optional<Trial>, ContentHasher>
      known_;                  ///< no trial for refused points
  std::vector<Trial> trials_;  ///< by cost, then by index
  struct Refused {
    std::uint64_t points = 0;
    std::string message;  ///< of the first one
  };
  std::map<std::string, Refused> refused_;  ///< by the key that stands against them
  SearchResult counts_;
  std::atomic<bool> lacks_value_ = false;
  double least_cost_ = -std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Does `work`; returns the reason if it fails: a plan too large to simulate, one whose ranks deadlock, or
/// one that ends after simulated time.
template <class Work>
[[nodiscard]] std::optional<Refusal> refusal_of(Work work) {
  try {
    work();
    return {};
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    return Refusal{key_of(first.pointer), first.message};
  } catch (const RunError& error) {
    return Refusal{"plan", error.what()};
  } catch (const std::overflow_error& error) {
    return Refusal{"plan", error.what()};
  }
}

}  // namespace orrery
