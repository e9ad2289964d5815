// The chart of an elastic run: how long its steps take, and when sites leave and join.
#include <fmt/format.h>

#include <algorithm>

#include "reports/chart/key_label.hpp"
#include "studies/elastic/elastic.hpp"

namespace orrery {
namespace {

/// Labels of phases, more of which have no room.
constexpr std::size_t kMostLabels = 8;

/// Returns the sites that left and joined since the phase before.
std::string changes_text(const ElasticPhase& before, const ElasticPhase& phase) {
  std::string text;
  const auto add = [&](const char* sign, const std::vector<std::string>& in,
                       const std::vector<std::string>& other) {
    for (const std::string& site : in)
      if (std::ranges::find(other, site) == other.end()) text += (text.empty() ? "" : ", ") + (sign + site);
  };
  add("−", phase.away, before.away);
  add("+", before.away, phase.away);
  return text;
}

}  // namespace

ChartScene elastic_scene(const ElasticRun& run) {
  ChartScene scene;
  SceneSeries steps{"", SeriesMark::steps, {}};
  for (std::size_t i = 0; i < run.phases.size(); ++i) {
    const ElasticPhase& phase = run.phases[i];
    const auto first = static_cast<double>(phase.first_step);
    const double seconds = phase.report.step_time_s();
    steps.points.emplace_back(first, seconds);
    steps.points.emplace_back(first + static_cast<double>(phase.steps), seconds);
    if (i > 0 && run.phases.size() <= kMostLabels + 1)
      scene.labels.push_back(
          {first, seconds,
           fmt::format("{}: {} workers", changes_text(run.phases[i - 1], phase), phase.report.workers)});
  }
  scene.title = run.phases.empty() ? "" : run.phases.front().report.name;
  scene.caption = fmt::format("{} tokens in {:.4g} h: {:.0f} tokens/s.", chart_number(run.tokens()),
                              run.seconds() / 3600, run.tokens() / run.seconds());
  scene.x = {"step of the run"};
  scene.y = {"step time (s)", AxisScale::linear, {}, {}, true};
  scene.series.push_back(std::move(steps));
  return scene;
}

}  // namespace orrery
