#include "reports/chart/serving_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/chart/key_label.hpp"
#include "reports/chart/scene_axes.hpp"

namespace orrery {
namespace {

/// The points of a curve of shares: more are not seen.
constexpr std::size_t kMostShares = 400;

/// Shares of requests with at most a latency, one point for each of the least values.
SceneSeries shares_of(std::string name, std::vector<double> values) {
  std::ranges::sort(values);
  SceneSeries series{std::move(name), SeriesMark::line, {}};
  const std::size_t stride = 1 + values.size() / kMostShares;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % stride != 0 && i + 1 != values.size()) continue;
    series.points.emplace_back(values[i],
                               100.0 * static_cast<double>(i + 1) / static_cast<double>(values.size()));
  }
  return series;
}

std::string served_conditions(const Report& report) {
  const Serving& serving = *report.serving;
  std::string text = fmt::format("{} requests on {} GPUs", serving.requests, report.gpus);
  text += serving.arrivals_per_s > 0 ? fmt::format(", {:.4g} a second arrive", serving.arrivals_per_s)
                                     : std::string(", a new one comes as one ends");
  if (!report.model.empty()) text += "; " + report.model;
  return text + ".";
}

/// Limits that the experiment sets, with their figures.
std::vector<ServiceLimit> set_limits(const ServiceLevel& slo) {
  std::vector<ServiceLimit> limits;
  for (const ServiceLimit& limit : kServiceLimits)
    if (slo.*limit.most_s > 0) limits.push_back(limit);
  return limits;
}

std::string limit_name(const ServiceLimit& limit, double most_s) {
  return fmt::format("limit of {}, {:.4g} s", limit.key, most_s);
}

}  // namespace

ChartScene latency_scene(const ServingRecord& record, const Report& report) {
  std::vector<double> first;
  std::vector<double> per_token;
  std::vector<double> whole;
  for (const RequestMoments& request : record.requests) {
    first.push_back(to_seconds(request.first_token_ps - request.spec.arrival_ps));
    whole.push_back(to_seconds(request.end_ps - request.spec.arrival_ps));
    if (request.spec.output_tokens > 1)
      per_token.push_back(to_seconds(request.end_ps - request.first_token_ps) /
                          static_cast<double>(request.spec.output_tokens - 1));
  }
  ChartScene scene{report.name, served_conditions(report)};
  scene.series = {shares_of("time per output token", per_token), shares_of("time to first token", first),
                  shares_of("until the last token", whole)};
  std::vector<double> all;
  for (const SceneSeries& series : scene.series)
    for (const auto& [latency, share] : series.points) all.push_back(latency);
  scene.x = axis_of_figure("latency (s)", all, true);
  scene.y = {"requests with at most this latency (%)", AxisScale::linear, {}, {0, 25, 50, 75, 90, 100}, true};
  for (const ServiceLimit& limit : set_limits(report.slo))
    scene.rules.push_back(
        {RuleKind::vertical, report.slo.*limit.most_s, limit_name(limit, report.slo.*limit.most_s)});
  return scene;
}

ChartScene rate_scene(const std::vector<ServedRate>& rates, const Report& at_capacity) {
  std::vector<ServiceLimit> figures = set_limits(at_capacity.slo);
  const bool limited = !figures.empty();
  if (!limited) {
    for (const ServiceLimit& limit : kServiceLimits)
      if (limit.key == "ttft_s_p50" || limit.key == "ttft_s_p99") figures.push_back(limit);
  }
  ChartScene scene{at_capacity.name, ""};
  std::vector<double> latencies;
  for (const ServiceLimit& figure : figures) {
    SceneSeries series{key_label(figure.key), SeriesMark::line_with_points, {}};
    for (const ServedRate& rate : rates) {
      latencies.push_back(rate.serving.*figure.figure.*figure.part);
      series.points.emplace_back(rate.requests_per_s, latencies.back());
    }
    scene.series.push_back(std::move(series));
    if (!limited) continue;
    const double most_s = at_capacity.slo.*figure.most_s;
    latencies.push_back(most_s);
    scene.rules.push_back({RuleKind::horizontal, most_s, limit_name(figure, most_s)});
  }
  const Capacity& capacity = *at_capacity.serving->capacity;
  if (capacity.requests_per_s > 0)
    scene.rules.push_back({RuleKind::vertical, capacity.requests_per_s,
                           fmt::format("most requests, {:.3g} a second", capacity.requests_per_s), true});
  scene.x = {"requests that arrive a second", AxisScale::linear, {}, {}, true};
  scene.y = axis_of_figure("latency (s)", latencies, true);
  scene.caption = fmt::format("{} requests at each rate, {} GPUs", capacity.requests, at_capacity.gpus);
  if (!at_capacity.model.empty()) scene.caption += "; " + at_capacity.model;
  if (!capacity.broken.empty())
    scene.caption +=
        capacity.broken == "queue" ? "; with more the queue grows" : "; more exceed " + capacity.broken;
  scene.caption += ".";
  return scene;
}

}  // namespace orrery
