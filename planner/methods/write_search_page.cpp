// The page of a search (reports/page/assets/plan.js).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "planner/methods/write_search.hpp"
#include "reports/page/plan_table.hpp"

namespace orrery {
namespace {

using SearchPageJson = nlohmann::ordered_json;

/// The plans of a search, each once, and where those of its lists are.
class FoundPlans {
 public:
  explicit FoundPlans(const Space& space) : table_(keys_of(space)) {}

  SearchPageJson places(const std::vector<FoundPlan>& plans) {
    SearchPageJson list = SearchPageJson::array();
    for (const FoundPlan& plan : plans) list.push_back(place(plan));
    return list;
  }

  [[nodiscard]] const PlanTable& table() const { return table_; }

 private:
  static std::vector<PlanTableKey> keys_of(const Space& space) {
    std::vector<PlanTableKey> keys;
    for (const SpaceKey& key : space.keys()) keys.push_back({key.key});
    return keys;
  }

  std::size_t place(const FoundPlan& plan) {
    const auto known = std::ranges::find(values_, plan.trial.values);
    if (known != values_.end()) return static_cast<std::size_t>(known - values_.begin());
    values_.push_back(plan.trial.values);
    table_.add(plan.trial.values, PlanTable::State::feasible, "");
    table_.set_result(plan.report);
    return table_.size() - 1;
  }

  PlanTable table_;
  std::vector<std::vector<std::string>> values_;
};

SearchPageJson steps_of(const SearchResult& result, const Objective& objective) {
  SearchPageJson list = SearchPageJson::array();
  for (const Improvement& one : result.improvements)
    list.push_back({{"simulated", one.simulated}, {"value", objective.value_of_cost(one.cost)}});
  return list;
}

SearchPageJson weighed_by(const SearchRequest& request) {
  SearchPageJson keys = SearchPageJson::array();
  for (const Objective& objective : request.pareto)
    keys.push_back({{"key", objective.key()}, {"most", objective.most()}});
  return keys;
}

SearchPageJson limits_of(const SearchRequest& request) {
  SearchPageJson texts = SearchPageJson::array();
  for (const Limit& limit : request.limits) texts.push_back(limit.text());
  return texts;
}

}  // namespace

void write_search_page(const SearchResult& result, const Space& space, const SearchRequest& request,
                       const Sink& sink) {
  FoundPlans plans(space);
  const SearchPageJson best = plans.places(result.best);
  const SearchPageJson front = plans.places(result.pareto);
  const auto found = [&](const auto& value) { return value ? SearchPageJson(*value) : SearchPageJson(); };
  const std::string name = result.best.empty() ? space.base().source : result.best.front().report.name;
  SearchPageJson data{{"name", name},
                      {"method", request.method},
                      {"objective", {{"key", request.objective.key()}, {"most", request.objective.most()}}},
                      {"weighed_by", weighed_by(request)},
                      {"limits", limits_of(request)},
                      {"optimal", result.optimal},
                      {"gap", found(result.gap)},
                      {"points", space.continuous() ? SearchPageJson() : SearchPageJson(result.points)},
                      {"evaluated", result.evaluated},
                      {"distinct", result.distinct},
                      {"infeasible", result.infeasible},
                      {"bounded", result.bounded},
                      {"simulated", result.simulated},
                      {"removed", result.removed},
                      {"losers", result.rejected},
                      {"improvements", steps_of(result, request.objective)},
                      {"notes", result.notes},
                      {"best", best},
                      {"pareto", front}};
  data["plans"] = SearchPageJson::parse(plans.table().json());
  Page page;
  page.title = "Search: " + name;
  page.scripts = {"studies.js", "plans.js", "plan-views.js", "plan.js"};
  page.data = data.dump(-1, ' ', false, SearchPageJson::error_handler_t::replace);
  plans.table().add_columns(page);
  write_page(page, sink);
}

}  // namespace orrery
