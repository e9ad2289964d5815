#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "reports/page/page.hpp"
#include "reports/text/csv_field.hpp"
#include "studies/validate/writers.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson or_null(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

OrderedJson row_json(const ComparedFigure& figure) {
  OrderedJson row{{"name", figure.row},
                  {"key", figure.key},
                  {"gpus", figure.gpus},
                  {"feasible", figure.feasible},
                  {"predicted", figure.pair.predicted},
                  {"measured", figure.pair.measured},
                  {"error", figure.pair.error()}};
  if (figure.p10) row["p10"] = *figure.p10;
  if (figure.p90) row["p90"] = *figure.p90;
  for (const auto& [way, predicted] : figure.left_out) row["left_out"][way] = predicted;
  return row;
}

void add_statistics(OrderedJson& out, const ErrorStatistics* statistics) {
  const ErrorStatistics s = statistics == nullptr ? ErrorStatistics{} : *statistics;
  const auto known = [&](double value) { return statistics == nullptr ? OrderedJson() : OrderedJson(value); };
  out["rows_compared"] = s.rows;
  out["mean_abs_error"] = known(s.mean_abs_error);
  out["median_abs_error"] = known(s.median_abs_error);
  out["p90_abs_error"] = known(s.p90_abs_error);
  out["max_abs_error"] = known(s.max_abs_error);
  out["bias"] = known(s.bias);
  out["rank_correlation"] = or_null(s.rank_correlation);
  out["rank_correlation_within_model"] = or_null(s.rank_correlation_within_model);
  out["lowest_rank_correlation_within_model"] = or_null(s.lowest_within_model);
  out["kendall_tau_within_model"] = or_null(s.kendall_within_model);
  out["lowest_kendall_tau_within_model"] = or_null(s.lowest_kendall_within_model);
  out["regret_within_model"] = or_null(s.regret_within_model);
  out["largest_regret_within_model"] = or_null(s.largest_regret_within_model);
  out["inside_p10_p90"] = or_null(s.inside_p10_p90);
}

OrderedJson table_json(const TableResult& result) {
  OrderedJson table{{"table", result.table},
                    {"fitted", result.fitted},
                    {"key", result.main_key},
                    {"rows", OrderedJson::array()}};
  for (const ComparedFigure& figure : result.figures) table["rows"].push_back(row_json(figure));
  add_statistics(table, result.main());
  table["infeasible"] = result.infeasible;
  table["failed"] = result.failed;
  table["failed_and_infeasible"] = result.failed_rightly;
  table["keys"] = OrderedJson::object();
  for (const auto& [key, statistics] : result.statistics) {
    if (key != result.main_key) add_statistics(table["keys"][key], &statistics);
  }
  for (const auto& [key, statistics] : result.kept_back) add_statistics(table["kept_back"][key], &statistics);
  for (const auto& [way, statistics] : result.left_out) add_statistics(table["left_out"][way], &statistics);
  table["skipped"] = OrderedJson::array();
  for (const SkippedRow& row : result.skipped) {
    table["skipped"].push_back({{"name", row.name}, {"reason", row.reason}});
  }
  return table;
}

std::string json_of(const std::vector<TableResult>& results, int indent) {
  OrderedJson out{{"tables", OrderedJson::array()}};
  for (const TableResult& result : results) out["tables"].push_back(table_json(result));
  return out.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace

void write_validation_json(const std::vector<TableResult>& results, const TextSink& sink) {
  sink(json_of(results, 2) + "\n");
}

void write_validation_html(const std::vector<TableResult>& results, const TextSink& sink) {
  Page page;
  page.title = "Predictions beside measured runs";
  page.scripts = {"studies.js", "validate.js"};
  page.data = json_of(results, -1);
  write_page(page, sink);
}

void write_validation_csv(const std::vector<TableResult>& results, const TextSink& sink) {
  sink("table,name,key,gpus,feasible,predicted,measured,error,skipped\n");
  for (const TableResult& result : results) {
    const std::string table = csv_field(result.table);
    for (const ComparedFigure& f : result.figures) {
      sink(fmt::format("{},{},{},{},{},{},{},{},\n", table, csv_field(f.row), f.key, f.gpus, f.feasible,
                       f.pair.predicted, f.pair.measured, f.pair.error()));
    }
    for (const SkippedRow& row : result.skipped) {
      sink(fmt::format("{},{},,,,,,,{}\n", table, csv_field(row.name), csv_field(row.reason)));
    }
  }
}

}  // namespace orrery
