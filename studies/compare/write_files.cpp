// The JSON and CSV of a comparison.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/difference_causes.hpp"
#include "reports/text/csv_field.hpp"
#include "studies/compare/figures.hpp"
#include "studies/compare/writers.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string dump(const OrderedJson& json, int indent) {
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

/// A varied value: a number, flag, list or object as JSON has it, else text.
OrderedJson varied_json(const std::string& text) {
  OrderedJson value = OrderedJson::parse(text, nullptr, false);
  return value.is_discarded() ? OrderedJson(text) : value;
}

/// Counts as integers, which they are.
OrderedJson number(const std::optional<double>& value) {
  constexpr double kExact = 9007199254740992.0;
  if (!value || !std::isfinite(*value)) return {};
  const bool whole = std::abs(*value) < kExact && std::trunc(*value) == *value;
  return whole ? OrderedJson(static_cast<std::int64_t>(*value)) : OrderedJson(*value);
}

OrderedJson result_of(const ComparedRow& row) {
  if (!row.report) return {};
  std::string text;
  write_json(*row.report, {}, -1, [&text](std::string_view part) { text += part; });
  return OrderedJson::parse(text);
}

OrderedJson row_json(const ComparedRow& row, const std::vector<std::string>& keys) {
  OrderedJson vary = OrderedJson::object();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!row.varied[i].empty()) vary[keys[i]] = varied_json(row.varied[i]);
  }
  OrderedJson out{{"name", row.name},       {"vary", std::move(vary)},   {"feasible", row.feasible()},
                  {"reasons", row.reasons}, {"method", row.sync.method}, {"topology", row.sync.topology},
                  {"wire", row.sync.wire}};
  if (!row.solved.empty()) out["solved"] = varied_json(row.solved);
  OrderedJson ratio = OrderedJson::object();
  for (const NamedFigure& figure : own_figures(row)) {
    const bool is_ratio =
        figure.name == "speed_up" || figure.name == "scaling_efficiency" || figure.name == "step_time_ratio";
    if (is_ratio)
      ratio[figure.name == "step_time_ratio" ? "step_time" : figure.name] = number(figure.value);
    else
      out[figure.name] = number(figure.value);
  }
  if (row.target && row.target->steps) out["linear_speed_up"] = row.target->steps->linear_speed_up;
  out["ratio"] = row.ratios ? std::move(ratio) : OrderedJson();
  out["result"] = result_of(row);
  return out;
}

OrderedJson terms_json(const DifferenceTerms& terms, double unit) {
  OrderedJson list = OrderedJson::array();
  for (const DifferenceTerm& term : terms)
    list.push_back({{"term", term.name},
                    {"first", static_cast<double>(term.first) * unit},
                    {"row", static_cast<double>(term.second) * unit},
                    {"difference", static_cast<double>(term.difference()) * unit}});
  return list;
}

/// Returns the causes with their shares of the difference, the largest first.
OrderedJson causes_json(const StepDifference& difference) {
  OrderedJson list = OrderedJson::array();
  for (const Cause& cause : causes_of(difference))
    list.push_back(
        {{"cause", cause.name},
         {"difference_s", to_seconds(cause.more_ps)},
         {"share", static_cast<double>(cause.more_ps) / static_cast<double>(difference.step_time_ps())}});
  return difference.step_time_ps() == 0 ? OrderedJson::array() : list;
}

OrderedJson why_json(const Comparison& comparison, std::size_t row) {
  const std::optional<StepDifference> difference = comparison.difference(row);
  if (!difference) return {};
  constexpr double kSecondsPerPicosecond = 1e-12;
  constexpr double kGigabytesPerByte = 1e-9;
  return {{"first", *comparison.reference()},
          {"step_time_s", to_seconds(difference->step_time_ps())},
          {"causes", causes_json(*difference)},
          {"breakdown_s", terms_json(difference->breakdown, kSecondsPerPicosecond)},
          {"kernels_s", terms_json(difference->kernels, kSecondsPerPicosecond)},
          {"critical_path_s", terms_json(difference->critical_path, kSecondsPerPicosecond)},
          {"memory_gb", terms_json(difference->memory, kGigabytesPerByte)}};
}

std::string joined_reasons(const std::vector<std::string>& reasons) {
  std::string out;
  for (const std::string& reason : reasons) out += (out.empty() ? "" : "; ") + reason;
  return out;
}

/// The names of all rows' figures, each once.
std::vector<std::string> figure_names(const std::vector<ComparedRow>& rows) {
  std::vector<std::string> names;
  for (const ComparedRow& row : rows) {
    for (const NamedFigure& figure : all_figures(row)) {
      if (std::ranges::find(names, figure.name) == names.end()) names.push_back(figure.name);
    }
  }
  return names;
}

std::string csv_row(const ComparedRow& row, const std::vector<std::string>& names, bool solves) {
  std::string line = csv_field(row.name);
  for (const std::string& value : row.varied) line += "," + csv_field(value);
  if (solves) line += "," + csv_field(row.solved);
  line +=
      "," + csv_field(row.sync.method) + "," + csv_field(row.sync.topology) + "," + csv_field(row.sync.wire);
  line += row.feasible() ? ",true," : ",false,";
  line += csv_field(joined_reasons(row.reasons));
  const std::vector<NamedFigure> figures = all_figures(row);
  for (const std::string& name : names) {
    const auto found = std::ranges::find(figures, name, &NamedFigure::name);
    line += ',';
    if (found != figures.end() && found->value) line += dump(number(found->value), -1);
  }
  return line + "\n";
}

}  // namespace

void write_comparison_json(const Comparison& comparison, const Sink& sink) {
  OrderedJson rows = OrderedJson::array();
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    rows.push_back(row_json(comparison.rows[i], comparison.keys));
    if (comparison.why) rows.back()["why"] = why_json(comparison, i);
  }
  const auto best = comparison.sweet_spot();
  OrderedJson out{{"vary", comparison.keys}, {"sweet_spot", best ? OrderedJson(*best) : OrderedJson()}};
  if (const auto& solve = comparison.solve)
    out["solve"] = {{"key", solve->key}, {"figure", solve->figure}, {"value", solve->value}};
  out["rows"] = std::move(rows);
  sink(dump(out, 2) + "\n");
}

void write_comparison_csv(const Comparison& comparison, const Sink& sink) {
  std::string header = "name";
  for (const std::string& key : comparison.keys) header += "," + csv_field(key);
  if (comparison.solve) header += "," + csv_field(comparison.solve->key);
  header += ",method,topology,wire,feasible,reasons";
  const std::vector<std::string> names = figure_names(comparison.rows);
  for (const std::string& name : names) header += "," + csv_field(name);
  sink(header + "\n");
  for (const ComparedRow& row : comparison.rows) sink(csv_row(row, names, comparison.solve.has_value()));
}

}  // namespace orrery
