#include "studies/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

#include "config/experiment/read_experiment.hpp"
#include "orrery/error.hpp"
#include "orrery/parallel.hpp"
#include "orrery/simulate.hpp"
#include "planner/space/points.hpp"
#include "sim/claims/not_simulated.hpp"
#include "studies/compare/solve_row.hpp"
#include "studies/compare/sync_summary.hpp"
#include "studies/compare/target.hpp"

namespace orrery {
namespace {

/// One row while it is worked on.
struct Job {
  const ExperimentText* experiment = nullptr;
  std::vector<std::string> overrides;  ///< of the request, then one per variation
  std::int64_t gpus = 0;               ///< a measure of the time to simulate
  bool serves = false;                 ///< requests, in place of steps
  std::vector<Diagnostic> diagnostics;
  std::exception_ptr error;
  ComparedRow row;

  [[nodiscard]] bool fails() const { return !diagnostics.empty() || error; }
};

/// Returns the combinations of one experiment: those of all candidate values that pass the conditions.
std::vector<std::vector<std::string>> combinations_of(const ExperimentText& experiment,
                                                      const ComparisonRequest& request, std::size_t most) {
  const Space space({request.variations, request.conditions, "", ""},
                    {experiment.source, experiment.text, request.overrides}, request.catalog, request.menus);
  const bool all = request.conditions.empty();
  const std::size_t count = count_combinations(space.keys(), all ? most : kMostPoints);
  std::optional<PointReader> reader;
  if (!all) reader.emplace(space);
  std::vector<std::vector<std::string>> combinations;
  for (std::size_t i = 0; i < count; ++i) {
    if (all || reader->broken_at(i) == nullptr) combinations.push_back(combination(space.keys(), i));
    if (combinations.size() > most) static_cast<void>(count_combinations(space.keys(), most));  // throws
  }
  return combinations;
}

std::vector<Job> jobs_of(const ComparisonRequest& request) {
  const std::size_t most = kMostComparedRows / std::max<std::size_t>(1, request.experiments.size());
  std::vector<Job> jobs;
  for (const ExperimentText& experiment : request.experiments) {
    for (std::vector<std::string>& varied : combinations_of(experiment, request, most)) {
      Job job;
      job.experiment = &experiment;
      job.row.varied = std::move(varied);
      jobs.push_back(std::move(job));
    }
  }
  if (jobs.empty())
    throw InputError(
        {Diagnostic{"command line", 0, 0, "", "no combination satisfies all conditions of --where"}});
  return jobs;
}

std::vector<std::string> overrides_of(const std::vector<std::string>& varied,
                                      const ComparisonRequest& request) {
  std::vector<std::string> overrides = request.overrides;
  std::ranges::move(orrery::overrides_of(request.variations, varied), std::back_inserter(overrides));
  return overrides;
}

/// Reads the job's experiment and hands it to `use`; keeps its errors.
template <class Use>
void read(Job& job, const ComparisonRequest& request, Use use) {
  try {
    read_experiment_text(job.experiment->text, job.experiment->source, job.overrides, request.catalog,
                         request.menus)
        .apply(use);
  } catch (const InputError& error) {
    job.diagnostics = error.diagnostics();
  } catch (const RunError& error) {
    job.diagnostics.push_back({job.experiment->source, 0, 0, "", error.what()});
  } catch (...) {
    job.error = std::current_exception();
  }
}

void describe(Job& job, const Experiment& experiment) {
  job.serves = experiment.inference.has_value();
  job.gpus = experiment.plan.gpus();
  job.row.name = experiment.name;
  if (!job.serves) job.row.sync = summary_of(experiment);
}

void read_first(Job& job, const ComparisonRequest& request) {
  do {
    job.diagnostics.clear();
    job.overrides = overrides_of(job.row.varied, request);
    read(job, request, [&job](const Experiment& experiment) { describe(job, experiment); });
  } while (drop_idle(job.diagnostics, request.variations, job.row.varied));
}

/// Steps and requests have no figure in common.
void refuse_mixture(std::span<const Job> jobs) {
  const auto read = std::ranges::find_if(jobs, [](const Job& job) { return !job.fails(); });
  const auto other =
      std::ranges::find_if(jobs, [&](const Job& job) { return !job.fails() && job.serves != read->serves; });
  if (other == jobs.end()) return;
  const Job& serving = other->serves ? *other : *read;
  throw InputError({Diagnostic{serving.experiment->source, 0, 0, "/inference",
                               "found requests to serve beside steps of training, allowed one of them in all "
                               "rows"}});
}

/// Keeps the first of each set of equal rows.
void drop_repeats(std::vector<Job>& jobs) {
  std::set<std::pair<const ExperimentText*, std::vector<std::string>>> seen;
  std::erase_if(jobs, [&](const Job& job) { return !seen.insert({job.experiment, job.overrides}).second; });
}

/// Finds the value of the key in the row, which it has from then on.
void solve_job(Job& job, const ComparisonRequest& request) {
  try {
    job.row.solved = solve_row(request, *job.experiment, job.overrides);
    job.overrides.push_back(request.solve->key + "=" + job.row.solved);
  } catch (const InputError& error) {
    job.diagnostics = error.diagnostics();
  } catch (...) {
    job.error = std::current_exception();
  }
}

void simulate_into(Job& job, const Experiment& experiment, bool why) {
  Figures figures;
  figures.kernels = why;
  figures.long_run = experiment.run != nullptr;
  job.row.report = simulate(experiment, figures);
  job.row.reasons = job.row.report->reasons;
  job.row.left_out = not_simulated(experiment);
  job.row.target = target_of(experiment, *job.row.report);
}

/// Simulates the jobs that could be read, large ones first so that no thread is left with one at the end.
void simulate_all(std::vector<Job>& jobs, const ComparisonRequest& request, unsigned threads,
                  const ComparisonProgress& progress) {
  std::vector<Job*> order;
  for (Job& job : jobs) {
    if (!job.fails()) order.push_back(&job);
  }
  std::ranges::stable_sort(order, std::greater<>(), &Job::gpus);
  std::size_t done = 0;
  std::mutex counting;
  for_each_index(order.size(), threads, [&](std::size_t i) {
    Job& job = *order[i];
    if (request.solve) solve_job(job, request);
    if (!job.fails())
      read(job, request, [&](const Experiment& experiment) { simulate_into(job, experiment, request.why); });
    const std::lock_guard lock(counting);
    ++done;
    if (progress) progress(done, order.size());
  });
}

/// The diagnostics that every one of some jobs has.
std::vector<Diagnostic> common_problems(std::span<const Job> jobs) {
  std::vector<Diagnostic> common = jobs.front().diagnostics;
  for (const Job& job : jobs.subspan(1)) {
    std::erase_if(common, [&job](const Diagnostic& diagnostic) {
      const auto same = [&](const Diagnostic& other) { return other.text() == diagnostic.text(); };
      return std::ranges::none_of(job.diagnostics, same);
    });
  }
  return common;
}

void add_new(const std::vector<Diagnostic>& more, std::vector<Diagnostic>& diagnostics,
             std::set<std::string>& seen) {
  constexpr std::size_t kMost = 100;
  for (const Diagnostic& diagnostic : more) {
    if (diagnostics.size() < kMost && seen.insert(diagnostic.text()).second)
      diagnostics.push_back(diagnostic);
  }
}

/// Throws errors that stop the whole comparison: a fault of the program, an error in all variants of an
/// experiment, and everything if no row is left.
void stop_if_hopeless(std::span<const Job> jobs) {
  for (const Job& job : jobs) {
    if (job.error) std::rethrow_exception(job.error);
  }
  std::vector<Diagnostic> diagnostics;
  std::set<std::string> seen;
  for (std::size_t begin = 0; begin < jobs.size();) {
    std::size_t end = begin;
    while (end < jobs.size() && jobs[end].experiment == jobs[begin].experiment) ++end;
    add_new(common_problems(jobs.subspan(begin, end - begin)), diagnostics, seen);
    begin = end;
  }
  if (diagnostics.empty() && std::ranges::all_of(jobs, &Job::fails)) {
    for (const Job& job : jobs) add_new(job.diagnostics, diagnostics, seen);
  }
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
}

/// Experiments with one name are told apart by their files.
void name_rows(std::vector<Job>& jobs) {
  std::map<std::string, std::set<const ExperimentText*>> owners;
  for (const Job& job : jobs) owners[job.row.name].insert(job.experiment);
  for (Job& job : jobs) {
    if (job.row.name.empty() || owners[job.row.name].size() > 1) job.row.name = job.experiment->source;
  }
}

/// Returns true if two reports count the same unit of work: tokens, or samples that have none, such as
/// images.
bool counts_alike(const Report& a, const Report& b) {
  const auto has_tokens = [](const Report& r) { return r.tokens_per_step > r.samples_per_step; };
  return has_tokens(a) == has_tokens(b);
}

/// Returns the ratios of tokens, prompts and outputs together.
Ratios served_ratios(const Report& report, const Report& first) {
  const double ratio = report.serving->tokens_per_s() / first.serving->tokens_per_s();
  return {std::nullopt, ratio, ratio * static_cast<double>(first.gpus) / static_cast<double>(report.gpus)};
}

/// Returns the ratios of tokens, since samples of models with other sequence lengths hold more or fewer
/// tokens.
Ratios ratios_of(const Report& report, const Report& first) {
  const auto per_gpu = [](const Report& r) { return r.tokens_per_s() / static_cast<double>(r.gpus); };
  if (report.serving) return served_ratios(report, first);
  Ratios ratios{report.step_time_s() / first.step_time_s(), std::nullopt, std::nullopt};
  if (!counts_alike(report, first)) return ratios;
  ratios.speed_up = report.tokens_per_s() / first.tokens_per_s();
  ratios.scaling_efficiency = per_gpu(report) / per_gpu(first);
  return ratios;
}

void set_ratios(std::vector<ComparedRow>& rows) {
  const Report* first = nullptr;
  for (ComparedRow& row : rows) {
    if (!row.is_timed()) continue;
    if (first == nullptr) first = &*row.report;
    row.ratios = ratios_of(*row.report, *first);
  }
}

}  // namespace

double ComparedRow::communication_s() const {
  const double shares = static_cast<double>(report->gpus) * static_cast<double>(report->steps);
  const Int128 sum_ps = report->breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)];
  return static_cast<double>(sum_ps) * 1e-12 / shares;
}

double ComparedRow::data_bytes() const {
  return report->bytes_per_gpu[static_cast<std::size_t>(Dimension::data)];
}

std::optional<std::size_t> Comparison::reference() const {
  const auto first = std::ranges::find_if(rows, &ComparedRow::is_timed);
  if (first == rows.end()) return std::nullopt;
  return static_cast<std::size_t>(first - rows.begin());
}

std::optional<StepDifference> Comparison::difference(std::size_t row) const {
  const auto first = reference();
  if (!first || row == *first || !rows[row].is_timed()) return std::nullopt;
  return step_difference(*rows[*first].report, *rows[row].report);
}

std::optional<std::size_t> Comparison::sweet_spot() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::optional<TargetSummary>& target = rows[i].target;
    if (!rows[i].feasible() || !target || !target->steps || !std::isfinite(target->time_s)) continue;
    if (!best || target->time_s < rows[*best].target->time_s) best = i;
  }
  return best;
}

std::optional<std::size_t> Comparison::practical_spot() const {
  std::optional<std::size_t> best;
  const auto most_s = [this](std::size_t row) { return rows[row].target->practice->most_s; };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::optional<TargetSummary>& target = rows[i].target;
    if (!rows[i].feasible() || !target || !target->practice || !std::isfinite(most_s(i))) continue;
    if (!best || most_s(i) < most_s(*best)) best = i;
  }
  return best;
}

Comparison compare(const ComparisonRequest& request, unsigned threads, const ComparisonProgress& progress) {
  if (request.solve) check_solved_key(request);
  std::vector<Job> jobs = jobs_of(request);
  for_each_index(jobs.size(), threads, [&](std::size_t i) { read_first(jobs[i], request); });
  stop_if_hopeless(jobs);
  refuse_mixture(jobs);
  drop_repeats(jobs);
  simulate_all(jobs, request, threads, progress);
  stop_if_hopeless(jobs);
  name_rows(jobs);
  Comparison comparison;
  for (const SpaceKey& variation : request.variations) comparison.keys.push_back(variation.key);
  comparison.solve = request.solve;
  comparison.why = request.why;
  comparison.several = request.experiments.size() > 1;
  for (Job& job : jobs) {
    for (const Diagnostic& diagnostic : job.diagnostics) {
      job.row.reasons.push_back((diagnostic.pointer.empty() ? "" : diagnostic.pointer + ": ") +
                                diagnostic.message);
    }
    comparison.rows.push_back(std::move(job.row));
  }
  set_ratios(comparison.rows);
  return comparison;
}

}  // namespace orrery
