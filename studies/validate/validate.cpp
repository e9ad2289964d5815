#include "studies/validate/validate.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "orrery/error.hpp"
#include "orrery/parallel.hpp"
#include "reports/writers.hpp"

namespace orrery {
namespace {

constexpr const char* kStepTime = "step_time_s";

/// Lists the figures that a result has a range of, beside the step time.
constexpr std::array<const char*, 3> kMemory{"memory.peak_gb", "memory.reserved_gb", "memory.device_gb"};

bool has_range(const std::string& key) {
  return key == kStepTime || std::ranges::find(kMemory, key) != kMemory.end();
}

/// Holds one row to simulate, and its result.
struct PredictionJob {
  const MeasuredTable* table = nullptr;
  const MeasuredRow* row = nullptr;
  Prediction prediction;
  std::exception_ptr error;

  /// Returns a size that the time to simulate grows with.
  [[nodiscard]] std::int64_t size() const { return simulation_size(row->experiment); }
};

std::vector<PredictionJob> jobs_of(const std::vector<MeasuredTable>& tables) {
  std::vector<PredictionJob> jobs;
  for (const MeasuredTable& table : tables) {
    for (const MeasuredRow& row : table.rows) {
      if (row.skipped_because.empty()) jobs.push_back({&table, &row, {}, {}});
    }
  }
  return jobs;
}

/// Predicts all rows, large ones first so that no thread is left with one at the end.
void predict_all(std::vector<PredictionJob>& jobs, unsigned threads, const Progress& progress) {
  std::vector<PredictionJob*> order;
  for (PredictionJob& job : jobs) order.push_back(&job);
  std::ranges::stable_sort(order, std::greater<>(), &PredictionJob::size);
  std::size_t done = 0;
  std::mutex counting;
  Simulator simulator;
  for_each_index(order.size(), threads, [&](std::size_t i) {
    try {
      order[i]->prediction = predict(order[i]->row->experiment, order[i]->table->keys, simulator);
    } catch (...) {
      order[i]->error = std::current_exception();
    }
    const std::lock_guard lock(counting);
    ++done;
    if (progress) progress(done, order.size());
  });
}

/// The diagnostics of a row that cannot be simulated, in its line of the table; none when all of them say
/// that something is not modelled yet: then the row is skipped.
std::vector<Diagnostic> problems_of(const PredictionJob& job, const InputError& error, TableResult& result) {
  std::vector<Diagnostic> diagnostics = error.diagnostics();
  if (std::ranges::all_of(diagnostics, &Diagnostic::not_modelled)) {
    result.skipped.push_back(
        {job.row->name, diagnostics.front().pointer + ": " + diagnostics.front().message});
    return {};
  }
  for (Diagnostic& diagnostic : diagnostics) {
    diagnostic.source = job.table->source;
    diagnostic.line = job.row->line;
    diagnostic.column = 1;
  }
  return diagnostics;
}

void compare(const MeasuredRow& row, const Prediction& prediction, TableResult& result) {
  if (row.failed) {
    ++result.failed;
    if (!prediction.feasible) ++result.failed_rightly;
    return;
  }
  if (!prediction.feasible) ++result.infeasible;
  const auto figure = [&](const char* key) -> std::optional<double> {
    const auto found = prediction.figures.find(key);
    return found == prediction.figures.end() ? std::nullopt : std::optional(found->second);
  };
  for (const Measurement& measured : row.measured) {
    const auto predicted = figure(measured.key.c_str());
    if (!predicted) continue;
    ComparedFigure compared{row.name, measured.key, prediction.gpus, prediction.feasible, {}, {},
                            {},       {},           row.kept_back};
    compared.pair = {*predicted, measured.value, row.model_key, std::nullopt, prediction.feasible};
    if (has_range(measured.key)) {
      compared.p10 = figure((measured.key + "_p10").c_str());
      compared.p90 = figure((measured.key + "_p90").c_str());
    }
    if (compared.p10 && compared.p90) {
      compared.pair.inside = *compared.p10 <= measured.value && measured.value <= *compared.p90;
    }
    result.figures.push_back(std::move(compared));
  }
}

template <class Counts>
std::map<std::string, ErrorStatistics> statistics_by_key(const std::vector<ComparedFigure>& figures,
                                                         Counts counts) {
  std::map<std::string, std::vector<Pair>> pairs;
  for (const ComparedFigure& figure : figures) {
    if (std::invoke(counts, figure)) pairs[figure.key].push_back(figure.pair);
  }
  std::map<std::string, ErrorStatistics> statistics;
  for (const auto& [key, list] : pairs) statistics[key] = error_statistics(list);
  return statistics;
}

/// The result of the table at `job`; leaves `job` at the first of the next one.
TableResult result_of(const MeasuredTable& table, const PredictionJob*& job,
                      std::vector<Diagnostic>& diagnostics) {
  TableResult result;
  result.table = table.name;
  const bool timed = std::ranges::find(table.keys, kStepTime) != table.keys.end();
  result.main_key = timed ? kStepTime : table.keys.front();
  for (const MeasuredRow& row : table.rows) {
    result.of_requests = result.of_requests || row.experiment.inference.has_value();
    if (!row.skipped_because.empty()) {
      result.skipped.push_back({row.name, row.skipped_because});
      continue;
    }
    const PredictionJob& done = *job++;
    try {
      if (done.error) std::rethrow_exception(done.error);
      compare(row, done.prediction, result);
    } catch (const InputError& error) {
      for (Diagnostic& diagnostic : problems_of(done, error, result))
        diagnostics.push_back(std::move(diagnostic));
    }
  }
  result.statistics = statistics_by_key(result.figures, [](const ComparedFigure&) { return true; });
  result.kept_back = statistics_by_key(result.figures, &ComparedFigure::kept_back);
  return result;
}

}  // namespace

std::vector<std::string> TableResult::key_figures() const {
  if (!of_requests || statistics.empty()) return {main_key};
  std::vector<std::string> keys;
  for (const auto& [key, s] : statistics) keys.push_back(key);
  return keys;
}

std::int64_t simulation_size(const Experiment& e) {
  return e.plan.pipeline_parallel * e.plan.micro_batches() * e.model.all_layers() + e.plan.gpus();
}

Prediction predict(const Experiment& experiment, std::span<const std::string> keys, Simulator& simulator) {
  std::vector<std::string> names(keys.begin(), keys.end());
  const auto has = [&](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); };
  const bool memory_alone =
      std::ranges::all_of(keys, [](const std::string& key) { return key.starts_with("memory."); });
  if (!memory_alone) names.insert(names.end(), {"step_time_s_p10", "step_time_s_p90"});
  for (const std::string key : kMemory) {
    if (has(key)) names.insert(names.end(), {key + "_p10", key + "_p90"});
  }
  const ResultSelection wanted(names);
  const Report report = memory_alone ? account_memory(experiment, wanted.figures())
                                     : simulator.simulate(experiment, wanted.figures());
  Prediction prediction{report.gpus, report.feasible, {}};
  for (const ResultFigure& figure : result_figures(report, wanted)) {
    if (figure.value) prediction.figures.emplace(figure.key, *figure.value);
  }
  return prediction;
}

std::vector<TableResult> validate(const std::vector<MeasuredTable>& tables, unsigned threads,
                                  const Progress& progress) {
  std::vector<PredictionJob> jobs = jobs_of(tables);
  predict_all(jobs, threads, progress);
  std::vector<Diagnostic> diagnostics;
  std::vector<TableResult> results;
  const PredictionJob* job = jobs.data();
  for (const MeasuredTable& table : tables) results.push_back(result_of(table, job, diagnostics));
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
  return results;
}

}  // namespace orrery
