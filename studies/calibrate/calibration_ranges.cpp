#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "studies/calibrate/domain_json.hpp"
#include "studies/calibrate/left_out.hpp"
#include "studies/calibrate/short_value.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

void add(OrderedJson& constants, const std::string& kind, const Deciles& range, const std::string& source) {
  constants["error_p10_" + kind] = {{"value", short_value(range.p10)}, {"source", source}};
  constants["error_p90_" + kind] = {{"value", short_value(range.p90)}, {"source", source}};
}

/// Ranges of one calibration from the rows that `wanted` lets through.
class Ranges {
 public:
  Ranges(const JointProblem& problem, const std::vector<LeftOutRows>& rows)
      : problem_(problem), rows_(rows) {}

  /// Adds the ranges of rows on one node and on many, with other models of the stack left out; where a kind
  /// has too few rows, the range is that of all of them.
  void add_own(OrderedJson& constants, const std::string& stack) const {
    const auto mine = [&](const FitRow& row) { return stack.empty() || row.experiment.stack == stack; };
    const auto all = of(LeftOut::model, mine);
    for (const bool one_node : {true, false}) {
      const auto own = of(LeftOut::model, [&](const FitRow& row) {
        return mine(row) && (row.experiment.cluster.nodes == 1) == one_node;
      });
      if (!own && !all) return;
      add(constants, one_node ? "one_node" : "many_nodes", own ? *own : *all,
          fmt::format("rows {}, each predicted by a fit without those of its model",
                      own ? (one_node ? "on one node" : "on several nodes") : "on one and on several nodes"));
    }
  }

  void add_new(OrderedJson& constants, LeftOut by) const {
    const std::string name(kLeftOutNames[static_cast<std::size_t>(by)]);
    if (const auto range = of(by, [](const FitRow&) { return true; }))
      add(constants, "new_" + name, *range,
          fmt::format("rows predicted by a fit without those of their {}", name));
  }

 private:
  template <class Wanted>
  [[nodiscard]] std::optional<Deciles> of(LeftOut by, Wanted wanted) const {
    const auto found = std::ranges::find(rows_, by, &LeftOutRows::by);
    if (found == rows_.end()) return std::nullopt;
    std::vector<double> deviations;
    for (std::size_t i = 0; i < found->ratios.size(); ++i) {
      if (!found->groups[i].empty() && wanted(problem_.fit.rows[i]))
        deviations.push_back(found->deviation(i));
    }
    return deciles(std::move(deviations));
  }

  const JointProblem& problem_;
  const std::vector<LeftOutRows>& rows_;
};

}  // namespace

std::map<std::string, std::string> with_ranges(std::map<std::string, std::string> texts,
                                               const JointProblem& problem,
                                               const std::vector<LeftOutRows>& rows) {
  const Ranges ranges(problem, rows);
  for (auto& [name, text] : texts) {
    OrderedJson entry = OrderedJson::parse(text, nullptr, true, true);
    if (entry["part"] != "software") continue;
    const bool root = !entry.contains("inherits");
    CalibrationDomain domain;
    for (const FitRow& row : problem.fit.rows)
      if (root || row.experiment.stack == name) include(domain, row.experiment);
    if (!domain.empty()) {
      entry["domain"] = OrderedJson::parse(domain_text(domain));
      ranges.add_own(entry["constants"], root ? "" : name);
    }
    if (root) {
      for (const LeftOut by : {LeftOut::stack, LeftOut::gpu, LeftOut::fabric})
        ranges.add_new(entry["constants"], by);
    }
    text = entry.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
  }
  return texts;
}

}  // namespace orrery
