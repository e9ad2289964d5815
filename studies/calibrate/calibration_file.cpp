#include "studies/calibrate/calibration_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "studies/calibrate/domain_json.hpp"
#include "studies/calibrate/fit_errors.hpp"
#include "studies/calibrate/optimizer.hpp"
#include "studies/calibrate/short_value.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson parsed(const Catalog& catalog, const std::string& calibration) {
  return OrderedJson::parse(catalog.text(CatalogKind::calibration, calibration), nullptr, true, true);
}

std::string joined_by_comma(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

OrderedJson summary_json(const ErrorSummary& s) {
  return {{"mean", short_value(s.mean)}, {"worst", short_value(s.worst)}, {"bias", short_value(s.bias)}};
}

OrderedJson errors_json(const FitErrors& errors) {
  OrderedJson out{{"rows", errors.rows},
                  {"base", summary_json(errors.base)},
                  {"fitted", summary_json(errors.fitted)},
                  {"held_out", nullptr}};
  if (errors.held_out) out["held_out"] = summary_json(*errors.held_out);
  return out;
}

OrderedJson range_json(const std::optional<ResidualRange>& range) {
  if (!range) return nullptr;
  return {{"rows", range->rows}, {"p10", short_value(range->p10)}, {"p90", short_value(range->p90)}};
}

OrderedJson origin_json(const FitOrigin& origin) {
  OrderedJson out = OrderedJson::object();
  if (origin.version.empty()) return out;
  out["orrery"] = origin.version;
  out["files"] = OrderedJson::array();
  for (const FitFile& file : origin.files)
    out["files"].push_back(
        {{"file", file.name}, {"bytes", file.bytes}, {"crc32", fmt::format("{:08x}", file.crc32)}});
  return out;
}

/// Writes the account of one fit for one of its bases.
class Account {
 public:
  Account(const std::string& base, const Fit& fit) : base_(base), fit_(fit) {
    for (const FitRow& row : fit.problem.rows) {
      if (!mine(row)) continue;
      ++rows_;
      if (std::ranges::find(tables_, row.table) == tables_.end()) tables_.push_back(row.table);
    }
  }

  [[nodiscard]] std::string source() const {
    return fmt::format("fitted on {} ({} row{})", joined_by_comma(tables_), rows_, rows_ == 1 ? "" : "s");
  }

  void add_constants(OrderedJson& constants) const {
    for (const FittedConstant& c : fit_.constants) {
      if (c.variable.base != base_) continue;
      OrderedJson& constant = constants[std::string(c.variable.constant.name)];
      constant["value"] = c.value;
      constant["source"] = source() + (c.identifiable ? "" : "; not identifiable from them");
    }
  }

  /// The deciles that a prediction's range is made of.
  void add_residuals(OrderedJson& constants) const {
    if (fit_.problem.of_memory) return add_memory_range(constants);
    add_range(constants, "one_node", one_node());
    add_range(constants, "many_nodes", many_nodes());
  }

  [[nodiscard]] CalibrationDomain domain() const {
    CalibrationDomain out;
    for (const FitRow& row : fit_.problem.rows)
      if (mine(row)) include(out, row.experiment);
    return out;
  }

  [[nodiscard]] OrderedJson json() const {
    OrderedJson out{{"base", base_},
                    {"tables", tables_},
                    {"rows", OrderedJson::array()},
                    {"seed", fit_.options.seed},
                    {"folds", fit_.options.folds},
                    {"starts", fit_.options.starts},
                    {"method", kMinimizer},
                    {"evaluations", fit_.evaluations},
                    {"most_evaluations", fit_.options.evaluations},
                    {"base_loss", short_value(fit_.base_loss)},
                    {"loss", short_value(fit_.loss)},
                    {"constants", OrderedJson::object()},
                    {"singular_values", OrderedJson::array()},
                    {"errors", errors_json(fit_errors(fit_, filter()))},
                    {"errors_by_table", OrderedJson::object()}};
    for (const FitRow& row : fit_.problem.rows) {
      if (mine(row)) out["rows"].push_back(row.table + ": " + row.name);
    }
    for (const FittedConstant& c : fit_.constants) {
      const std::string key = c.variable.base == base_ ? c.variable.constant.key
                                                       : c.variable.base + ": " + c.variable.constant.key;
      out["constants"][key] = constant_json(c);
    }
    for (const double value : fit_.singular_values) out["singular_values"].push_back(short_value(value));
    for (const std::string& table : tables_) {
      const auto in_table = [&](const FitRow& row) { return row.table == table && mine(row); };
      out["errors_by_table"][table] = errors_json(fit_errors(fit_, in_table));
    }
    out["residuals"] = {{"one_node", range_json(residual_range(fit_, one_node()))},
                        {"many_nodes", range_json(residual_range(fit_, many_nodes()))},
                        {"all", range_json(residual_range(fit_, filter()))}};
    return out;
  }

 private:
  [[nodiscard]] bool mine(const FitRow& row) const { return row.is_of(base_, fit_.problem.variables); }

  [[nodiscard]] RowFilter filter() const {
    return [this](const FitRow& row) { return mine(row); };
  }
  [[nodiscard]] RowFilter one_node() const {
    return [this](const FitRow& row) { return mine(row) && row.experiment.cluster.nodes == 1; };
  }
  [[nodiscard]] RowFilter many_nodes() const {
    return [this](const FitRow& row) { return mine(row) && row.experiment.cluster.nodes > 1; };
  }

  void add_memory_range(OrderedJson& constants) const {
    const auto range = residual_range(fit_, filter());
    if (!range) return;
    const std::string text =
        fmt::format("held-out residuals of {} peaks of {}", range->rows, joined_by_comma(tables_));
    constants["memory_error_p10"] = {{"value", short_value(range->p10)}, {"source", text}};
    constants["memory_error_p90"] = {{"value", short_value(range->p90)}, {"source", text}};
  }

  /// A kind with too few rows takes the deciles of all; too few of those leave the base's.
  void add_range(OrderedJson& constants, const std::string& kind, const RowFilter& rows) const {
    const auto own = residual_range(fit_, rows);
    const auto range = own ? own : residual_range(fit_, filter());
    if (!range) return;
    const std::string text = fmt::format("held-out residuals of {} {}rows of {}", range->rows,
                                         own ? "" : "one- and many-node ", joined_by_comma(tables_));
    constants["error_p10_" + kind] = {{"value", short_value(range->p10)}, {"source", text}};
    constants["error_p90_" + kind] = {{"value", short_value(range->p90)}, {"source", text}};
  }

  [[nodiscard]] static OrderedJson constant_json(const FittedConstant& c) {
    return {{"base", c.variable.base_value},
            {"fitted", c.value},
            {"unit", c.variable.constant.unit},
            {"minimum", c.variable.bounds.low},
            {"maximum", c.variable.bounds.high},
            {"standard_error", short_value(c.standard_error)},
            {"largest_effect_of_a_tenth", short_value(c.largest_effect)},
            {"identifiable", c.identifiable}};
  }

  const std::string& base_;
  const Fit& fit_;
  std::vector<std::string> tables_;
  std::size_t rows_ = 0;
};

}  // namespace

CalibratedValue calibrated_value(const Catalog& catalog, const std::string& calibration,
                                 const Constant& constant) {
  std::set<std::string> seen;
  for (std::string name = calibration;
       catalog.contains(CatalogKind::calibration, name) && seen.insert(name).second;) {
    const OrderedJson entry = parsed(catalog, name);
    if (const auto found = entry["constants"].find(constant.name); found != entry["constants"].end()) {
      CalibratedValue out{found->at("value").get<double>(), std::nullopt, std::nullopt};
      if (found->contains("minimum")) out.minimum = found->at("minimum").get<double>();
      if (found->contains("maximum")) out.maximum = found->at("maximum").get<double>();
      return out;
    }
    name = entry.value("inherits", "");
  }
  return {constant.get(Experiment{}), std::nullopt, std::nullopt};
}

Catalog with_constants(const Catalog& catalog, const std::string& calibration,
                       const std::map<std::string, double>& values) {
  OrderedJson entry = parsed(catalog, calibration);
  entry.erase("name");
  for (const auto& [name, value] : values) {
    entry["constants"][name]["value"] = value;
    if (!entry["constants"][name].contains("source")) entry["constants"][name]["source"] = "set";
  }
  return catalog.with_calibration(entry.dump(), calibration, calibration).first;
}

std::string calibration_text(const Catalog& catalog, const std::string& base, const Fit& fit,
                             const FitOrigin& origin) {
  OrderedJson entry = parsed(catalog, base);
  const Account account(base, fit);
  entry.erase("name");
  entry.erase("fit");
  entry["source"] = fmt::format("orrery calibrate from {}, {}", base, account.source());
  account.add_constants(entry["constants"]);
  if (entry["part"] == "software") {
    account.add_residuals(entry["constants"]);
    if (!fit.problem.of_memory) entry["domain"] = OrderedJson::parse(domain_text(account.domain()));
  }
  entry["fit"] = origin_json(origin);
  entry["fit"].update(account.json());
  return entry.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace orrery
