#include "reports/page/plan_table.hpp"

#include <limits>
#include <utility>

#include "orrery/write.hpp"
#include "reports/step_difference.hpp"
#include "reports/text/json_text.hpp"

namespace orrery {
namespace {

void add_texts(const std::vector<std::string>& texts, JsonText& json) {
  json.begin('[');
  for (const std::string& text : texts) {
    json.element();
    json.value(std::string_view(text));
  }
  json.end(']');
}

}  // namespace

std::uint32_t PlanTable::Texts::number(std::string_view text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  numbers_.emplace(text, number);
  return number;
}

void PlanTable::Columns::set(std::string_view name, std::size_t row, double value) {
  auto place = places_.find(name);
  if (place == places_.end()) {
    place = places_.emplace(name, names_.size()).first;
    names_.emplace_back(name);
    columns_.emplace_back();
  }
  std::vector<double>& column = columns_[place->second];
  column.resize(row + 1, std::numeric_limits<double>::quiet_NaN());
  column[row] = value;
}

void PlanTable::Columns::add_to(Page& page, const std::string& part, std::size_t rows) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::vector<double> column = columns_[i];
    column.resize(rows, std::numeric_limits<double>::quiet_NaN());
    page.add_column(part + "." + names_[i], column);
  }
}

PlanTable::PlanTable(std::vector<PlanTableKey> keys)
    : keys_(std::move(keys)), values_(keys_.size()), value_numbers_(keys_.size()) {}

void PlanTable::add(const std::vector<std::string>& values, State state, std::string_view reason) {
  for (std::size_t k = 0; k < keys_.size(); ++k) value_numbers_[k].push_back(values_[k].number(values[k]));
  states_.push_back(static_cast<std::uint8_t>(state));
  reason_numbers_.push_back(reasons_.number(reason));
}

void PlanTable::set_figure(std::string_view name, std::optional<double> value) {
  if (value) figures_.set(name, size() - 1, *value);
}

void PlanTable::set_result(const Report& report) {
  for (const ResultFigure& figure : result_figures(report, {}))
    if (!figure.key.starts_with("stats.")) set_figure(figure.key, figure.value);
  const StepParts parts = step_parts(report);
  const auto add_parts = [this](const StepTerms& terms, Columns& columns) {
    for (const StepTerm& term : terms) columns.set(term.name, size() - 1, static_cast<double>(term.value));
  };
  add_parts(parts.breakdown, breakdown_);
  add_parts(parts.critical_path, critical_path_);
  add_parts(parts.memory, memory_);
}

std::string PlanTable::json() const {
  JsonText json(-1);
  json.begin('{');
  json.key("count");
  json.value(static_cast<std::int64_t>(size()));
  json.key("keys");
  json.begin('[');
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    json.element();
    json.begin('{');
    json.key("key");
    json.value(std::string_view(keys_[k].key));
    json.key("of_experiment");
    json.value(keys_[k].of_experiment);
    json.key("values");
    add_texts(values_[k].all(), json);
    json.end('}');
  }
  json.end(']');
  json.key("reasons");
  add_texts(reasons_.all(), json);
  json.key("figures");
  add_texts(figures_.names(), json);
  json.key("parts");
  json.begin('{');
  for (const auto& [name, columns] :
       {std::pair("breakdown", &breakdown_), std::pair("critical_path", &critical_path_),
        std::pair("memory", &memory_)}) {
    json.key(name);
    add_texts(columns->names(), json);
  }
  json.end('}');
  json.end('}');
  return json.take();
}

void PlanTable::add_columns(Page& page) const {
  for (std::size_t k = 0; k < keys_.size(); ++k)
    page.add_column("key." + std::to_string(k), value_numbers_[k]);
  page.add_column("state", states_);
  page.add_column("reason", reason_numbers_);
  figures_.add_to(page, "figure", size());
  breakdown_.add_to(page, "breakdown", size());
  critical_path_.add_to(page, "critical_path", size());
  memory_.add_to(page, "memory", size());
}

}  // namespace orrery
