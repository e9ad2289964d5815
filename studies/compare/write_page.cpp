// The page of a comparison (reports/page/assets/compare.js).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/page/plan_table.hpp"
#include "studies/compare/figures.hpp"
#include "studies/compare/writers.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::vector<PlanTableKey> keys_of(const Comparison& comparison) {
  std::vector<PlanTableKey> keys;
  if (comparison.several || comparison.keys.empty()) keys.push_back({"experiment", false});
  for (const std::string& key : comparison.keys) keys.push_back({key});
  if (comparison.solve) keys.push_back({comparison.solve->key});
  if (comparison.serves()) return keys;
  keys.push_back({"method", false});
  keys.push_back({"topology", false});
  return keys;
}

std::vector<std::string> values_of(const Comparison& comparison, const ComparedRow& row) {
  std::vector<std::string> values;
  if (comparison.several || comparison.keys.empty()) values.push_back(row.name);
  values.insert(values.end(), row.varied.begin(), row.varied.end());
  if (comparison.solve) values.push_back(row.solved);
  if (comparison.serves()) return values;
  values.push_back(row.sync.method);
  values.push_back(row.sync.topology);
  return values;
}

void add_row(const Comparison& comparison, const ComparedRow& row, PlanTable& table) {
  std::string reasons;
  for (const std::string& reason : row.reasons) reasons += (reasons.empty() ? "" : "; ") + reason;
  const auto state = row.feasible() ? PlanTable::State::feasible
                     : row.report   ? PlanTable::State::infeasible
                                    : PlanTable::State::failed;
  table.add(values_of(comparison, row), state, reasons);
  for (const NamedFigure& figure : own_figures(row)) table.set_figure(figure.name, figure.value);
  if (row.report) table.set_result(*row.report);
}

std::vector<std::string> sentences_of(const Comparison& comparison) {
  std::vector<std::string> sentences;
  for (const ComparedRow& row : comparison.rows) {
    for (const std::string& sentence : row.left_out) {
      if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
    }
  }
  return sentences;
}

}  // namespace

void write_comparison_page(const Comparison& comparison, const Sink& sink) {
  PlanTable table(keys_of(comparison));
  for (const ComparedRow& row : comparison.rows) add_row(comparison, row, table);
  const auto first = comparison.reference();
  const auto best = comparison.sweet_spot();
  OrderedJson data{{"title", comparison.rows.front().name},
                   {"several", comparison.several},
                   {"serves", comparison.serves()},
                   {"reference", first ? OrderedJson(*first) : OrderedJson()},
                   {"sweet_spot", best ? OrderedJson(*best) : OrderedJson()},
                   {"left_out", sentences_of(comparison)}};
  data["plans"] = OrderedJson::parse(table.json());
  Page page;
  page.title = comparison.several ? "Comparison of experiments" : comparison.rows.front().name;
  page.scripts = {"studies.js", "plans.js", "plan-views.js", "compare.js"};
  page.data = data.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  table.add_columns(page);
  write_page(page, sink);
}

}  // namespace orrery
