#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "studies/calibrate/calibration_file.hpp"
#include "studies/calibrate/short_value.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kSameValue = 0.005;  ///< of a value and its parent's, which the parent alone gives then

/// The rows that take a variable, by table: "12 rows of mlperf, 3 of torchtitan".
std::string rows_behind(const JointProblem& problem, std::size_t variable) {
  std::string out;
  for (const std::string& table : problem.fit.tables) {
    const auto rows = std::ranges::count_if(
        problem.fit.rows, [&](const FitRow& row) { return row.table == table && row.takes[variable]; });
    if (rows == 0) continue;
    out += out.empty() ? fmt::format("{} row{} of {}", rows, rows == 1 ? "" : "s", table)
                       : fmt::format(", {} of {}", rows, table);
  }
  return out.empty() ? "rows of its heirs alone" : out;
}

/// The tables that have rows of `calibration`; all of them for a root, which has the rows of its heirs.
std::vector<std::string> tables_of(const JointProblem& problem, const std::string& calibration, bool root) {
  std::vector<std::string> out;
  for (const std::string& table : problem.fit.tables) {
    const auto is_behind = [&](const FitRow& row) {
      return row.table == table && (root || row.is_of(calibration, problem.fit.variables));
    };
    if (std::ranges::any_of(problem.fit.rows, is_behind)) out.push_back(table);
  }
  return out;
}

/// Returns true if the calibration has to state its fitted value because it differs from the inherited one.
bool differs(const JointProblem& problem, const JointFit& fit, std::size_t j) {
  const Prior& heritage = problem.heritage[j];
  if (heritage.is_root()) return true;
  const double parent = heritage.parent ? fit.values[*heritage.parent] : *heritage.parent_value;
  return std::abs(fit.values[j] / parent - 1) > kSameValue;
}

}  // namespace

std::map<std::string, std::string> calibration_texts(const Catalog& catalog, const JointProblem& problem,
                                                     const JointFit& fit) {
  std::map<std::string, OrderedJson> entries;
  for (std::size_t j = 0; j < fit.values.size(); ++j) {
    const FitVariable& v = problem.fit.variables[j];
    OrderedJson& entry =
        entries
            .try_emplace(v.base, OrderedJson::parse(catalog.text(CatalogKind::calibration, v.base), nullptr,
                                                    true, true))
            .first->second;
    OrderedJson& constants = entry["constants"];
    const std::string name(v.constant.name);
    if (!constants.contains(name) && !differs(problem, fit, j)) continue;
    constants[name]["value"] = short_value(fit.values[j], 5);
    constants[name]["source"] = fmt::format("fitted together with its kin (orrery calibrate --together): {}",
                                            rows_behind(problem, j));
    constants[name]["standard_error"] = short_value(fit.standard_errors[j], 3);
    entry["fit"] = {{"tables", tables_of(problem, v.base, problem.heritage[j].is_root())}};
  }
  std::map<std::string, std::string> out;
  for (const auto& [name, entry] : entries)
    out[name] = entry.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
  return out;
}

}  // namespace orrery
