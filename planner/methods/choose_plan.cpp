#include "planner/methods/choose_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/json.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/usual_space.hpp"
#include "planner/space/space.hpp"

namespace orrery {
namespace {

class PlanChoice {
 public:
  PlanChoice(const std::string& experiment, const Catalog& catalog)
      : experiment_(Json::parse(experiment)), catalog_(catalog) {
    const auto plan = experiment_.find("plan");
    asked_ = plan != experiment_.end();
    if (!asked_) return;
    if (plan->is_object()) given_ = *plan;
    given_.erase("base");
    *plan = given_;
  }

  std::optional<ChosenPlan> chosen() const {
    if (!asked_ && fits_or_is_wrong()) return std::nullopt;
    if (!is_sound()) return ChosenPlan{given_.dump(), ""};
    try {
      return best_of_usual_space();
    } catch (const InputError& error) {
      if (!asked_) return std::nullopt;
      throw InputError("/plan", error.diagnostics().front().message);
    }
  }

 private:
  [[nodiscard]] std::optional<ChosenPlan> best_of_usual_space() const {
    const BaseExperiment base{"", experiment_.dump()};
    SpaceDescription usual = usual_space(base, catalog_, menus());
    std::erase_if(usual.keys, [this](const SpaceKey& key) {
      constexpr std::string_view kPlan = "plan.";
      return !key.key.starts_with(kPlan) || given_.contains(key.key.substr(kPlan.size()));
    });
    const Space space(std::move(usual), base, catalog_, menus());
    SearchRequest request;
    request.objective = Objective(usual_objective(space));
    request.top = 1;
    request.threads = std::max(1U, std::thread::hardware_concurrency());
    add_own_limits(space, request);
    const SearchResult found = search(space, request);
    if (!found.best.empty()) return ChosenPlan{plan_of(space, found), reason(space, request, found)};
    if (!asked_) return std::nullopt;
    throw InputError("/plan",
                     fmt::format("found auto, but of {} plans {} do not fit into memory and {} break a limit "
                                 "of inference.slo",
                                 found.distinct, found.infeasible, found.beyond));
  }

  /// Returns true for a wrong experiment too, whose reader reports its errors.
  [[nodiscard]] bool fits_or_is_wrong() const {
    try {
      const std::string text = experiment_.dump();
      return account_memory(read_experiment_text(text, "", {}, catalog_, menus()).experiment).feasible;
    } catch (const InputError&) {
      return true;
    }
  }

  [[nodiscard]] bool is_sound() const {
    try {
      static_cast<void>(experiment_of_any_plan({"", experiment_.dump()}, catalog_, menus()));
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  [[nodiscard]] std::string plan_of(const Space& space, const SearchResult& found) const {
    Json whole{{"plan", given_}};
    std::vector<std::string> values;
    for (std::size_t k = 0; k < space.keys().size(); ++k)
      if (const std::string& value = found.best.front().trial.values[k]; !value.empty() && value != "null")
        values.push_back(space.keys()[k].key + "=" + value);
    std::vector<Diagnostic> none;
    apply_overrides(whole, values, none);
    return whole["plan"].dump();
  }

  [[nodiscard]] std::string reason(const Space& space, const SearchRequest& request,
                                   const SearchResult& found) const {
    std::string values;
    for (std::size_t k = 0; k < space.keys().size(); ++k) {
      const std::string& value = found.best.front().trial.values[k];
      if ((space.keys()[k].values.size() < 2 && space.keys()[k].key != "plan.global_batch_size") ||
          value.empty() || value == "null")
        continue;
      values += fmt::format("{}{} {}", values.empty() ? "" : ", ", space.keys()[k].key.substr(5), value);
    }
    return fmt::format("{}: {}, the best in {} of {} plans{} (orrery plan shows the others)",
                       asked_ ? "the plan is chosen" : "no plan is given, and the simplest does not fit",
                       values.empty() ? "the only one" : values, request.objective.key(), found.distinct,
                       found.optimal ? ", proven" : "");
  }

  Json experiment_;
  Json given_ = Json::object();  ///< keys of the plan that it gives
  const Catalog& catalog_;
  bool asked_ = false;  ///< it gives "auto"
};

}  // namespace

Menus menus_that_choose_plans() {
  Menus all = menus();
  all.choose_plan = [](const std::string& experiment, const Catalog& catalog) {
    return PlanChoice(experiment, catalog).chosen();
  };
  return all;
}

}  // namespace orrery
