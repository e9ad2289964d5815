#include "studies/calibrate/joint_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "config/schema/overrides.hpp"
#include "orrery/error.hpp"
#include "studies/calibrate/calibration_file.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 4> kParts{"software", "gpu", "node", "fabric"};

std::string key_of(std::string_view part, std::string_view constant) {
  return fmt::format("{}{}.{}", part == "software" ? "" : "cluster.", part, constant);
}

/// Holds the constants to learn of one calibration.
struct Lineage {
  std::string name, parent;
  nlohmann::json constants;

  [[nodiscard]] bool pins(std::string_view constant) const {
    const auto found = constants.find(constant);
    return found != constants.end() && found->value("pinned", false);
  }
  /// The `spread`, `minimum` or `maximum` of a constant.
  [[nodiscard]] std::optional<double> number(std::string_view constant, const char* of) const {
    const auto found = constants.find(constant);
    if (found == constants.end() || !found->contains(of)) return std::nullopt;
    return found->at(of).get<double>();
  }
};

class JointMaker {
 public:
  explicit JointMaker(const TableContext& context) : context_(context) {}

  JointProblem make(const std::vector<TableText>& tables) {
    for (const TableText& text : tables) read(read_measured_table(text.text, text.source, context_));
    if (out_.fit.rows.empty()) refuse("found no row with a measured step time or rate");
    for (const auto& [part, name] : named_) add_chain(part, name);
    if (out_.fit.variables.empty())
      refuse("found no constant with a spread in the calibrations of these rows");
    for (std::size_t j = 0; j < out_.fit.variables.size(); ++j) out_.heritage.push_back(heritage_of(j));
    for (FitRow& row : out_.fit.rows) mark(row);
    return std::move(out_);
  }

 private:
  [[noreturn]] static void refuse(const char* message) {
    throw InputError({Diagnostic{kCommandLine, 0, 0, "", message}});
  }

  void read(const MeasuredTable& table) {
    const std::size_t before = out_.fit.rows.size();
    for (const MeasuredRow& row : table.rows) {
      for (FitRow& fit : timed_rows({table.name, row.name, row.experiment, row.model_key, "", 0, {}}, row)) {
        for (const std::string_view part : kParts) {
          const std::string& name = calibration_of(fit.experiment, part);
          if (!name.empty()) named_.emplace(part, name);
        }
        out_.fit.rows.push_back(std::move(fit));
      }
    }
    if (out_.fit.rows.size() > before) out_.fit.tables.push_back(table.name);
  }

  const Lineage& lineage(const std::string& name) {
    const auto known = lineages_.find(name);
    if (known != lineages_.end()) return known->second;
    const auto entry =
        nlohmann::json::parse(context_.catalog.text(CatalogKind::calibration, name), nullptr, true, true);
    return lineages_.emplace(name, Lineage{name, entry.value("inherits", ""), entry.at("constants")})
        .first->second;
  }

  /// `name` and those it inherits from, the root last.
  std::vector<const Lineage*> chain_of(const std::string& name) {
    std::vector<const Lineage*> chain;
    for (std::string next = name; context_.catalog.contains(CatalogKind::calibration, next);
         next = chain.back()->parent)
      chain.push_back(&lineage(next));
    return chain;
  }

  /// The variables of `name` and of those it inherits from.
  void add_chain(std::string_view part, const std::string& name) {
    const std::vector<const Lineage*> chain = chain_of(name);
    std::set<std::string> learned;
    for (const Lineage* ancestor : chain) {
      for (const auto& [constant, value] : ancestor->constants.items())
        if (value.contains("spread")) learned.insert(constant);
    }
    for (const std::string& constant : learned) {
      for (const Lineage* ancestor : chain) add_variable(*ancestor, constant_named(key_of(part, constant)));
    }
  }

  void add_variable(const Lineage& of, const Constant& constant) {
    if (of.pins(constant.name) || index_of(of.name, constant)) return;
    const CalibratedValue value = calibrated_value(context_.catalog, of.name, constant);
    if (!(value.value > 0)) return;
    Bounds bounds{std::max(constant.minimum, value.value / kWidest),
                  std::min(constant.maximum, value.value * kWidest)};
    for (const Lineage* ancestor : chain_of(of.name)) {
      bounds.low = std::max(bounds.low, ancestor->number(constant.name, "minimum").value_or(bounds.low));
      bounds.high = std::min(bounds.high, ancestor->number(constant.name, "maximum").value_or(bounds.high));
    }
    out_.fit.variables.push_back({of.name, constant, value.value, bounds, true});
    if (std::ranges::find(out_.fit.bases, of.name) == out_.fit.bases.end()) out_.fit.bases.push_back(of.name);
  }

  [[nodiscard]] std::optional<std::size_t> index_of(const std::string& name, const Constant& constant) const {
    const auto& all = out_.fit.variables;
    const auto found = std::ranges::find_if(
        all, [&](const FitVariable& v) { return v.base == name && v.constant.key == constant.key; });
    if (found == all.end()) return std::nullopt;
    return static_cast<std::size_t>(found - all.begin());
  }

  /// After the nearest ancestor in which the effect is present.
  Prior heritage_of(std::size_t j) {
    const FitVariable& variable = out_.fit.variables[j];
    const std::vector<const Lineage*> chain = chain_of(variable.base);
    Prior out;
    for (std::size_t i = 1; i < chain.size(); ++i) {
      if (const auto spread = chain[i]->number(variable.constant.name, "spread"); spread && out.spread == 0)
        out.spread = *spread;
      if (!out.is_root()) continue;
      out.parent = index_of(chain[i]->name, variable.constant);
      const double value = calibrated_value(context_.catalog, chain[i]->name, variable.constant).value;
      if (!out.parent && value > 0) out.parent_value = value;
    }
    return out.spread > 0 ? out : Prior{};
  }

  /// The variables that `row` takes from the calibrations it names.
  void mark(FitRow& row) const {
    row.takes.assign(out_.fit.variables.size(), false);
    for (std::size_t j = 0; j < row.takes.size(); ++j) {
      const FitVariable& v = out_.fit.variables[j];
      row.takes[j] = calibration_of(row.experiment, v.constant.part) == v.base &&
                     v.constant.get(row.experiment) == v.base_value;
    }
  }

  static constexpr double kWidest = 100;  ///< a fit stays within a hundredfold of where it starts

  const TableContext& context_;
  JointProblem out_;
  std::set<std::pair<std::string_view, std::string>> named_;
  std::map<std::string, Lineage> lineages_;
};

}  // namespace

const std::string& calibration_of(const Experiment& experiment, std::string_view part) {
  if (part == "software") return experiment.stack;
  if (part == "gpu") return experiment.cluster.gpu.calibration;
  return part == "node" ? experiment.cluster.node.calibration : experiment.cluster.fabric.calibration;
}

JointProblem make_joint_problem(const std::vector<TableText>& tables, const TableContext& context) {
  return JointMaker(context).make(tables);
}

}  // namespace orrery
