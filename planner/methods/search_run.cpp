#include "planner/methods/search_run.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "orrery/error.hpp"
#include "orrery/parallel.hpp"
#include "sim/bounds/step_time_bound.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

void add_figures(const Figures& more, Figures& all) {
  all.breakdown = all.breakdown || more.breakdown;
  all.critical_path = all.critical_path || more.critical_path;
  all.traffic = all.traffic || more.traffic;
  all.range = all.range || more.range;
  all.capacity = all.capacity || more.capacity;
  all.long_run = all.long_run || more.long_run;
}

/// Returns the figures that all objectives and limits need together.
Figures figures_for(const SearchRequest& request) {
  Figures all = request.objective.figures();
  for (const Objective& objective : request.pareto) add_figures(objective.figures(), all);
  for (const Limit& limit : request.limits) add_figures(limit.figure().figures(), all);
  all.origin = all.process = false;
  all.of_infeasible = false;
  return all;
}

/// For the memory of plans alone.
constexpr Figures kMemoryAlone{false, false, false, false, false, false, false};

bool better(const Trial& a, const Trial& b) {
  return std::pair(a.cost, a.index) < std::pair(b.cost, b.index);
}

/// Calls `work` with each index on several threads; throws the first exception of any of them, by index.
template <class Work>
void for_each_or_throw(std::size_t count, unsigned threads, Work work) {
  std::vector<std::exception_ptr> errors(count);
  for_each_index(count, threads, [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace

SearchRun::SearchRun(const Space& space, const SearchRequest& request, SearchProgress progress)
    : space_(space), request_(request), progress_(std::move(progress)), figures_(figures_for(request)) {
  counts_.points = space.size();
}

SearchRun::~SearchRun() = default;

SearchRun::ReaderLease SearchRun::lease_reader() {
  std::unique_ptr<PointReader> reader;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_readers_.empty()) {
      reader = std::move(idle_readers_.back());
      idle_readers_.pop_back();
    }
  }
  if (!reader) reader = std::make_unique<PointReader>(space_);
  return {reader.release(), [this](PointReader* done) {
            const std::lock_guard lock(mutex_);
            idle_readers_.emplace_back(done);
          }};
}

PointOrRemoval SearchRun::read(std::uint64_t index) {
  const ReaderLease reader = lease_reader();
  if (index < space_.size()) return reader->read(index);
  PointOrRemoval found = reader->read(outside_values_[static_cast<std::size_t>(index - space_.size())]);
  if (auto* const point = std::get_if<Point>(&found)) point->index = index;
  return found;
}

std::uint64_t SearchRun::index_of(const std::vector<std::string>& values) {
  std::uint64_t index = 0;
  bool inside = true;
  for (std::size_t k = 0; k < values.size() && inside; ++k) {
    const std::vector<std::string>& choices = space_.keys()[k].values;
    const auto found = std::ranges::find(choices, values[k]);
    index = index * choices.size() + static_cast<std::uint64_t>(found - choices.begin());
    inside = found != choices.end();
  }
  if (inside) return index;
  const auto added = outside_.emplace(values, space_.size() + outside_.size());
  if (added.second) outside_values_.push_back(values);
  return added.first->second;
}

/// Holds the results of one thread for its share of the points.
struct SearchRun::Evaluations {
  std::vector<Candidate> candidates;
  std::vector<ContentHash> without_room;
  std::map<std::string, std::uint64_t> removed;
  std::unordered_set<ContentHash, ContentHasher> known;
};

/// The points from `index` on that were looked at, below `end`.
std::uint64_t SearchRun::evaluate_point(std::uint64_t index, std::uint64_t end, PointReader& reader,
                                        Evaluations& found) {
  const PointOrRemoval read = reader.read(index);
  if (const auto* removal = std::get_if<Removal>(&read)) {
    const std::uint64_t alike = std::min(removal->alike, end - index);
    found.removed[removal->by] += alike;
    return alike;
  }
  const Point& point = std::get<Point>(read);
  if (!found.known.insert(point.content).second) return 1;
  const auto refusal = refusal_of([&] {  // what only building it finds, such as a tree without enough leaves
    const PreparedExperiment prepared = prepare(point.experiment, memo_);
    const Report memory = account_memory(prepared, kMemoryAlone, memo_);
    if (memory.feasible)
      found.candidates.push_back(candidate_of(point, prepared, memory));
    else
      found.without_room.push_back(point.content);
  });
  if (refusal) ++found.removed[refusal->text()];
  return 1;
}

Candidate SearchRun::candidate_of(const Point& point, const PreparedExperiment& prepared,
                                  const Report& memory) {
  Candidate candidate;
  candidate.index = point.index;
  candidate.content = point.content;
  if (point.experiment.inference) {  // nothing is known of requests before they are served
    candidate.pareto_bounds.assign(request_.pareto.size(), candidate.bound);
    return candidate;
  }
  const StepTimeBound least = least_makespan(prepared, memo_);
  candidate.pareto_bounds.assign(request_.pareto.size(), candidate.bound);
  Report bound = memory;
  bound.makespan_ps = std::max<Picoseconds>(least.most(), 1);
  raise_bounds(bound, least.weights > least.passes ? BoundBy::weights : BoundBy::passes, candidate);
  if (request_.objective.follows_time()) candidate.next = Tightening::schedule;
  return candidate;
}

/// @param least  its memory, and times that are no longer than its own
void SearchRun::raise_bounds(const Report& least, BoundBy by, Candidate& candidate) const {
  const auto raised = [&least](const Objective& objective, double bound) {
    const bool known = objective.follows_time() || objective.needs_no_run();
    return known && objective.value(least) ? std::max(bound, objective.cost(least)) : bound;
  };
  const double bound = raised(request_.objective, candidate.bound);
  if (bound > candidate.bound && request_.objective.follows_time()) candidate.by = by;
  candidate.bound = bound;
  for (std::size_t k = 0; k < request_.pareto.size(); ++k)
    candidate.pareto_bounds[k] = raised(request_.pareto[k], candidate.pareto_bounds[k]);
}

std::vector<Candidate> SearchRun::evaluate_bounds() {
  constexpr std::uint64_t kShare = 512;  // points of one thread in a row: neighbours are read quickly
  const std::uint64_t shares = (space_.size() + kShare - 1) / kShare;
  std::vector<Evaluations> evaluations(static_cast<std::size_t>(shares));
  for_each_or_throw(evaluations.size(), request_.threads, [&](std::size_t share) {
    const ReaderLease reader = lease_reader();
    const std::uint64_t end = std::min<std::uint64_t>(space_.size(), (share + 1) * kShare);
    for (std::uint64_t index = share * kShare; index < end;)
      index += evaluate_point(index, end, *reader, evaluations[share]);
  });
  return merged(evaluations);
}

/// Counts the findings of all shares; of candidates with one content it keeps the first.
std::vector<Candidate> SearchRun::merged(std::vector<Evaluations>& evaluations) {
  std::vector<Candidate> candidates;
  std::unordered_set<ContentHash, ContentHasher> seen;
  for (Evaluations& found : evaluations) {
    for (const auto& [by, count] : found.removed) counts_.removed[by] += count;
    for (Candidate& candidate : found.candidates)
      if (seen.insert(candidate.content).second) candidates.push_back(std::move(candidate));
    for (const ContentHash& content : found.without_room)
      counts_.infeasible += seen.insert(content).second ? 1 : 0;
  }
  counts_.evaluated = space_.size();
  counts_.distinct = seen.size();
  contents_ = std::move(seen);
  surveyed_ = true;
  return candidates;
}

/// A point that was read.
struct SearchRun::Evaluated {
  std::optional<Point> point;
  std::string removed_by;  ///< of a point that is no experiment
  Report memory;
  std::optional<Candidate> candidate;  ///< where it was asked for

  [[nodiscard]] bool fits() const { return point && memory.feasible; }
};

SearchRun::Evaluated SearchRun::evaluated(std::uint64_t index, bool as_candidate) {
  Evaluated looked;
  PointOrRemoval found = read(index);
  if (auto* const removal = std::get_if<Removal>(&found)) {
    looked.removed_by = std::move(removal->by);
    return looked;
  }
  Point& point = std::get<Point>(found);
  const auto refusal = refusal_of([&] {
    const PreparedExperiment prepared = prepare(point.experiment, memo_);
    looked.memory = account_memory(prepared, kMemoryAlone, memo_);
    if (as_candidate && looked.memory.feasible)
      looked.candidate = candidate_of(point, prepared, looked.memory);
    looked.point = std::move(point);
  });
  if (refusal) looked.removed_by = refusal->text();
  return looked;
}

void SearchRun::count(std::uint64_t index, const Evaluated& looked) {
  if ((surveyed_ && index < space_.size()) || !counted_.insert(index).second) return;
  ++counts_.evaluated;
  if (!looked.point) {
    ++counts_.removed[looked.removed_by];
  } else if (contents_.insert(looked.point->content).second) {
    ++counts_.distinct;
    if (!looked.fits()) ++counts_.infeasible;
  }
}

std::vector<std::optional<Candidate>> SearchRun::evaluate(std::span<const std::uint64_t> indices) {
  std::vector<Evaluated> looked(indices.size());
  std::vector<std::optional<Candidate>> candidates(indices.size());
  for_each_or_throw(indices.size(), request_.threads,
                    [&](std::size_t i) { looked[i] = evaluated(indices[i], true); });
  for (std::size_t i = 0; i < indices.size(); ++i) {
    count(indices[i], looked[i]);
    candidates[i] = std::move(looked[i].candidate);
  }
  return candidates;
}

bool SearchRun::budget_left() const {
  const Budget& budget = request_.budget;
  if (budget.simulations && counts_.simulated >= *budget.simulations) return false;
  return counts_.simulated == 0 || time_left();
}

bool SearchRun::time_left() const {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
  return !request_.budget.seconds || taken.count() < *request_.budget.seconds;
}

std::vector<double> SearchRun::pareto_of(const Report& report) const {
  std::vector<double> costs;
  for (const Objective& objective : request_.pareto) costs.push_back(objective.cost(report));
  return costs;
}

bool SearchRun::is_within_limits(const Report& report) const {
  return std::ranges::all_of(request_.limits, [&](const Limit& limit) { return limit.kept_by(report); });
}

Trial SearchRun::trial_of(const Point& point) {
  const Report report = simulator_.simulate(point.experiment, figures_);
  Trial trial{point.values, point.index, request_.objective.cost(report), pareto_of(report),
              report.makespan_ps};
  if (std::isinf(trial.cost)) lacks_value_ = true;
  trial.is_within_limits = is_within_limits(report);
  trial.is_stable = figures_.capacity || !report.serving || report.serving->unstable != true;
  if (!trial.is_within_limits || !trial.is_stable) trial.cost = std::numeric_limits<double>::infinity();
  return trial;
}

std::vector<std::optional<Point>> SearchRun::fitting_points(std::span<const std::uint64_t> indices) {
  std::vector<Evaluated> looked(indices.size());
  for_each_or_throw(indices.size(), request_.threads,
                    [&](std::size_t i) { looked[i] = evaluated(indices[i], false); });
  std::vector<std::optional<Point>> points(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    count(indices[i], looked[i]);
    if (looked[i].fits()) points[i] = std::move(looked[i].point);
  }
  return points;
}

/// Returns the points not simulated before, each content once, as many as the budget allows.
std::vector<const Point*> SearchRun::new_points(const std::vector<std::optional<Point>>& points) {
  constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t room = request_.budget.simulations.value_or(kUnlimited) - counts_.simulated;
  if (!time_left()) room = std::min<std::uint64_t>(room, counts_.simulated == 0 ? 1 : 0);
  std::unordered_set<ContentHash, ContentHasher> begun;
  std::vector<const Point*> fresh;
  for (const std::optional<Point>& point : points) {
    if (fresh.size() >= room) break;
    if (point && !known_.contains(point->content) && begun.insert(point->content).second)
      fresh.push_back(&*point);
  }
  return fresh;
}

/// A trial, or why there is none.
struct SearchRun::Attempt {
  Trial trial;
  std::optional<Refusal> refusal;
};

SearchRun::Attempt SearchRun::attempt(const Point& point) {
  Attempt made;
  made.refusal = refusal_of([&] { made.trial = trial_of(point); });
  return made;
}

void SearchRun::refuse(const Refusal& refusal) {
  Refused& refused = refused_[refusal.by];
  if (refused.points++ == 0) refused.message = refusal.message;
  ++counts_.refused;
}

void SearchRun::keep(const Point& point, const Attempt& attempt) {
  if (attempt.refusal) {
    known_.emplace(point.content, std::nullopt);
    return refuse(*attempt.refusal);
  }
  const Trial& trial = attempt.trial;
  if (++counts_.simulated; trial.cost < cost_of(0))
    counts_.improvements.push_back({counts_.simulated, trial.cost});
  known_.emplace(point.content, trial);
  if (!trial.is_within_limits || !trial.is_stable) {
    ++(trial.is_stable ? counts_.beyond : counts_.overloaded);
    return;
  }
  trials_.insert(std::ranges::upper_bound(trials_, trial, better), trial);
}

std::vector<std::optional<Trial>> SearchRun::simulate(std::span<const std::uint64_t> indices) {
  const std::vector<std::optional<Point>> points = fitting_points(indices);
  const std::vector<const Point*> fresh = new_points(points);
  std::vector<std::optional<Attempt>> made(fresh.size());
  for_each_or_throw(fresh.size(), request_.threads, [&](std::size_t i) {
    if (i == 0 || time_left()) made[i] = attempt(*fresh[i]);
  });
  for (std::size_t i = 0; i < fresh.size(); ++i)
    if (made[i]) keep(*fresh[i], *made[i]);
  if (progress_) progress_(counts_.simulated, 0);
  std::vector<std::optional<Trial>> found(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (!points[i]) continue;
    if (const auto known = known_.find(points[i]->content); known != known_.end()) found[i] = known->second;
  }
  return found;
}

std::vector<std::optional<Trial>> SearchRun::simulate(std::span<const std::vector<std::string>> values) {
  std::vector<std::uint64_t> indices;
  for (const std::vector<std::string>& one : values) indices.push_back(index_of(one));
  return simulate(indices);
}

void SearchRun::tighten(std::span<Candidate*> candidates) {
  std::atomic<std::uint64_t> runs = 0;
  for_each_or_throw(candidates.size(), request_.threads, [&](std::size_t i) {
    if (!time_left()) return;
    if (candidates[i]->next == Tightening::schedule) return schedule_passes(*candidates[i]);
    run_without_contention(*candidates[i]);
    ++runs;
  });
  counts_.bounded += runs;
}

void SearchRun::schedule_passes(Candidate& candidate) {
  const Experiment experiment = std::get<Point>(read(candidate.index)).experiment;
  const bool meets = experiment.simulation.network != Network::alpha_beta;
  candidate.next = meets ? Tightening::run_without_contention : Tightening::none;
  const PreparedExperiment prepared = prepare(experiment, memo_);
  Report least = account_memory(prepared, kMemoryAlone, memo_);
  least.makespan_ps = std::max<Picoseconds>(least_scheduled_makespan(prepared, memo_), 1);
  raise_bounds(least, BoundBy::schedule, candidate);
}

void SearchRun::run_without_contention(Candidate& candidate) {
  candidate.next = Tightening::none;
  Experiment experiment = std::get<Point>(read(candidate.index)).experiment;
  experiment.simulation.network = Network::alpha_beta;
  Report report;
  if (refusal_of([&] { report = simulator_.simulate(experiment, figures_); }))
    return;  // which its own run tells again, and counts
  raise_bounds(report, BoundBy::run_without_contention, candidate);
  if (const double cost = request_.objective.cost(report); std::isinf(cost)) {
    lacks_value_ = true;
    candidate.bound = cost;
  }
}

void SearchRun::count_pruned(std::uint64_t points, const std::string& because) {
  if (points == 0) return;
  counts_.pruned += points;
  counts_.rejected[because] += points;
}

double SearchRun::cost_of(std::size_t k) const {
  return k < trials_.size() ? trials_[k].cost : std::numeric_limits<double>::infinity();
}

}  // namespace orrery
