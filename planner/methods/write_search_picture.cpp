// The charts of a search: what its plans weigh, and how it got to the best one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/methods/write_search.hpp"
#include "reports/chart/key_label.hpp"
#include "reports/chart/scene_axes.hpp"

namespace orrery {
namespace {

std::string search_conditions(const SearchResult& result, const SearchRequest& request) {
  std::string text = fmt::format("{} of {} points simulated", result.simulated, result.points);
  if (result.infeasible > 0) text += fmt::format(", {} do not fit into memory", result.infeasible);
  text += fmt::format("; search: {}", request.method);
  if (result.optimal) text += ", the best is proven";
  for (const Limit& limit : request.limits) text += "; " + limit.text();
  if (!result.best.empty()) text += fmt::format("; {} GPUs", result.best.front().report.gpus);
  return text + ".";
}

std::string searched_name(const SearchResult& result, const Space& space) {
  return result.best.empty() ? space.base().source : result.best.front().report.name;
}

double objective_of(const FoundPlan& plan, const Objective& objective) {
  return objective.value_of_cost(plan.trial.cost);
}

struct BriefKey {
  std::string_view key;
  std::string_view name;
};
/// Keys that a label beside a point has room for.
constexpr std::array<BriefKey, 7> kBriefKeys{{{"plan.tensor_parallel", "tp"},
                                              {"plan.pipeline_parallel", "pp"},
                                              {"plan.context_parallel", "cp"},
                                              {"plan.expert_parallel", "ep"},
                                              {"plan.zero_stage", "ZeRO"},
                                              {"plan.micro_batch_size", "mbs"},
                                              {"plan.recompute", "recompute"}}};

/// Returns the values of plans in the brief keys that they differ in.
std::vector<std::string> brief_names(const std::vector<FoundPlan>& plans, const Space& space) {
  std::vector<std::string> texts(plans.size());
  for (std::size_t k = 0; k < space.keys().size(); ++k) {
    const auto* const brief = std::ranges::find(kBriefKeys, space.keys()[k].key, &BriefKey::key);
    const bool alike = std::ranges::all_of(
        plans, [&](const FoundPlan& plan) { return plan.trial.values[k] == plans.front().trial.values[k]; });
    if (brief == kBriefKeys.end() || alike) continue;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const std::string& value = plans[i].trial.values[k];
      if (!value.empty())
        texts[i] += fmt::format("{}{} {}", texts[i].empty() ? "" : ", ", brief->name, value);
    }
  }
  return texts;
}

ChartScene weighed_scene(const SearchResult& result, const Space& space, const SearchRequest& request) {
  const Objective& weight = request.pareto.front();
  std::vector<double> xs;
  std::vector<double> ys;
  SceneSeries all{fmt::format("{} simulated plans", result.weighed.size()), SeriesMark::cloud, {}};
  for (const WeighedPlan& plan : result.weighed) {
    xs.push_back(plan.figures.front());
    ys.push_back(plan.value);
    all.points.emplace_back(xs.back(), ys.back());
  }
  std::vector<FoundPlan> front = result.pareto;
  std::ranges::stable_sort(front, {}, [](const FoundPlan& plan) { return plan.trial.pareto.front(); });
  SceneSeries best{"none is better in both", SeriesMark::line_with_points, {}};
  if (request.pareto.size() > 1) best = {"none is better in all", SeriesMark::points, {}};
  for (const FoundPlan& plan : front)
    best.points.emplace_back(weight.value_of_cost(plan.trial.pareto.front()),
                             objective_of(plan, request.objective));
  ChartScene scene{searched_name(result, space), search_conditions(result, request),
                   axis_of_figure(key_label(weight.key()), xs, true),
                   axis_of_figure(key_label(request.objective.key()), ys, true)};
  // The two ends of the front are named: the best plan, and the one that weighs least.
  const std::vector<std::string> names = brief_names(front, space);
  for (const std::size_t i : {std::size_t{0}, front.size() - 1}) {
    if (front.empty() || (i == 0 && front.size() == 1)) continue;
    scene.labels.push_back({best.points[i].first, best.points[i].second, names[i]});
  }
  scene.series = {std::move(all), std::move(best)};
  return scene;
}

ChartScene progress_scene(const SearchResult& result, const Space& space, const SearchRequest& request) {
  SceneSeries steps{"", SeriesMark::steps, {}};
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Improvement& one : result.improvements) {
    xs.push_back(static_cast<double>(std::max<std::uint64_t>(1, one.simulated)));
    ys.push_back(request.objective.value_of_cost(one.cost));
    steps.points.emplace_back(xs.back(), ys.back());
  }
  if (!ys.empty()) {
    xs.push_back(static_cast<double>(std::max<std::uint64_t>(1, result.simulated)));
    steps.points.emplace_back(xs.back(), ys.back());
  }
  ChartScene scene{searched_name(result, space), search_conditions(result, request),
                   axis_along("simulated plans", xs),
                   axis_of_figure("best " + key_label(request.objective.key()), ys, false)};
  scene.x.ticks.clear();
  if (!ys.empty()) scene.labels.push_back({xs.back(), ys.back(), fmt::format("{:.4g}", ys.back())});
  scene.series.push_back(std::move(steps));
  return scene;
}

}  // namespace

ChartScene search_scene(const SearchResult& result, const Space& space, const SearchRequest& request,
                        SearchPicture picture) {
  return picture == SearchPicture::pareto ? weighed_scene(result, space, request)
                                          : progress_scene(result, space, request);
}

}  // namespace orrery
