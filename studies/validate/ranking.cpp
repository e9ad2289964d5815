#include "studies/validate/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "orrery/error.hpp"
#include "orrery/parallel.hpp"

namespace orrery {
namespace {

constexpr std::size_t kChosen = 3;
const std::string kTime = "step_time_s";

std::optional<double> measured_time(const MeasuredRow& row) {
  const auto found = std::ranges::find(row.measured, kTime, &Measurement::key);
  return found == row.measured.end() ? std::nullopt : std::optional(found->value);
}

bool was_tried(const MeasuredRow& row) {
  return row.skipped_because.empty() && (row.failed || measured_time(row));
}

/// A row under each network model.
struct TriedRow {
  const MeasuredTable* table = nullptr;
  const MeasuredRow* row = nullptr;
  std::array<Prediction, kRankedNetworks.size()> predictions;
  std::exception_ptr error;
};

void predict_row(TriedRow& tried, Simulator& simulator) {
  const std::array<std::string, 1> keys{kTime};
  for (std::size_t i = 0; i < kRankedNetworks.size(); ++i) {
    Experiment experiment = tried.row->experiment;
    experiment.simulation.network = static_cast<Network>(i);
    tried.predictions[i] = predict(experiment, keys, simulator);
  }
}

std::vector<TriedRow> predict_rows(const std::vector<MeasuredTable>& tables, unsigned threads,
                                   const Progress& progress) {
  std::vector<TriedRow> rows;
  for (const MeasuredTable& table : tables)
    for (const MeasuredRow& row : table.rows)
      if (was_tried(row)) rows.push_back({&table, &row, {}, {}});
  Simulator simulator;
  std::mutex counting;
  std::size_t done = 0;
  for_each_index(rows.size(), threads, [&](std::size_t i) {
    try {
      predict_row(rows[i], simulator);
    } catch (...) {
      rows[i].error = std::current_exception();
    }
    const std::lock_guard lock(counting);
    if (progress) progress(++done, rows.size());
  });
  return rows;
}

/// Throws all errors of the rows, each on its line.
void stop_if_wrong(const std::vector<TriedRow>& rows) {
  std::vector<Diagnostic> all;
  for (const TriedRow& tried : rows) {
    try {
      if (tried.error) std::rethrow_exception(tried.error);
    } catch (const InputError& error) {
      for (Diagnostic diagnostic : error.diagnostics()) {
        diagnostic.source = tried.table->source;
        diagnostic.line = tried.row->line;
        diagnostic.column = 1;
        all.push_back(std::move(diagnostic));
      }
    }
  }
  if (!all.empty()) throw InputError(std::move(all));
}

std::string case_of(const MeasuredRow& row) {
  if (!row.case_name.empty()) return row.case_name;
  const Model& model = row.experiment.model;
  return model.name.empty() ? fmt::format("{} layers of {}", model.all_layers(), model.hidden) : model.name;
}

using Rows = std::vector<const TriedRow*>;

/// Rows of one case, cases in the order of their first rows.
std::vector<Rows> by_case(const std::vector<TriedRow>& rows) {
  std::vector<Rows> cases;
  for (const TriedRow& tried : rows) {
    const auto same = [&](const Rows& known) {
      const MeasuredRow& first = *known.front()->row;
      return known.front()->table == tried.table && first.case_name == tried.row->case_name &&
             (!first.case_name.empty() || first.model_key == tried.row->model_key);
    };
    const auto found = std::ranges::find_if(cases, same);
    found == cases.end() ? cases.push_back({&tried}) : found->push_back(&tried);
  }
  return cases;
}

void count_outcomes(const Rows& rows, RankedCase& out) {
  for (const TriedRow* tried : rows) {
    const bool fits = tried->predictions[0].feasible;
    const auto measured = measured_time(*tried->row);
    if (!measured) {
      ++out.failed;
      out.failed_rightly += fits ? 0 : 1;
      continue;
    }
    ++out.ran;
    out.misjudged += fits ? 0 : 1;
    if (!out.best.empty() && *measured >= out.best_s) continue;
    out.best = tried->row->name;
    out.best_s = *measured;
  }
}

PlanOrder by_network(const Rows& rows, std::size_t network) {
  std::vector<TriedPlan> plans;
  for (const TriedRow* tried : rows) {
    const Prediction& prediction = tried->predictions[network];
    plans.push_back({tried->row->name, prediction.figures.find(kTime)->second, measured_time(*tried->row),
                     prediction.feasible});
  }
  return order_plans(std::string(kRankedNetworks[network]), plans);
}

/// Nothing where no planner has predicted anything. A planner says nothing of memory.
std::optional<PlanOrder> by_planner(const Rows& rows) {
  std::vector<TriedPlan> plans;
  for (const TriedRow* tried : rows)
    if (tried->row->planner_step_s)
      plans.push_back({tried->row->name, *tried->row->planner_step_s, measured_time(*tried->row), true});
  if (plans.empty()) return std::nullopt;
  const std::string& planner = rows.front()->row->planner;
  return order_plans(planner.empty() ? "planner" : planner, plans);
}

RankedCase rank_case(const Rows& rows) {
  RankedCase out;
  out.table = rows.front()->table->name;
  out.name = case_of(*rows.front()->row);
  out.gpus = rows.front()->predictions[0].gpus;
  count_outcomes(rows, out);
  for (const Network network : {Network::flow, Network::alpha_beta})
    out.orders.push_back(by_network(rows, static_cast<std::size_t>(network)));
  if (auto order = by_planner(rows)) out.orders.push_back(*std::move(order));
  return out;
}

}  // namespace

PlanOrder order_plans(std::string by, std::span<const TriedPlan> plans) {
  PlanOrder order;
  order.by = std::move(by);
  std::vector<double> predicted;
  std::vector<double> measured;
  std::vector<const TriedPlan*> choices;
  for (const TriedPlan& plan : plans) {
    if (plan.fits) choices.push_back(&plan);
    if (!plan.measured_s) continue;
    predicted.push_back(plan.predicted_s);
    measured.push_back(*plan.measured_s);
  }
  if (measured.size() >= kSmallestGroup) order.tau = kendall_tau(predicted, measured);
  if (measured.empty() || choices.empty()) return order;
  std::ranges::stable_sort(choices, {}, &TriedPlan::predicted_s);
  choices.resize(std::min(choices.size(), kChosen));
  const double best = std::ranges::min(measured);
  order.chosen = choices.front()->name;
  if (choices.front()->measured_s) order.regret = *choices.front()->measured_s / best - 1;
  for (const TriedPlan* plan : choices) {
    if (!plan->measured_s) continue;
    const double regret = *plan->measured_s / best - 1;
    order.regret_of_3 = std::min(order.regret_of_3.value_or(regret), regret);
  }
  return order;
}

std::vector<RankedCase> rank_plans(const std::vector<MeasuredTable>& tables, unsigned threads,
                                   const Progress& progress) {
  const std::vector<TriedRow> rows = predict_rows(tables, threads, progress);
  stop_if_wrong(rows);
  std::vector<RankedCase> cases;
  for (const Rows& of_case : by_case(rows)) cases.push_back(rank_case(of_case));
  return cases;
}

}  // namespace orrery
