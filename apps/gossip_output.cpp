#include "apps/gossip_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/chart/scene_axes.hpp"
#include "reports/text/csv_field.hpp"

namespace orrery {
namespace {

/// Gaps below it are those of graphs that do not mix, as far as floating point can tell.
constexpr double kLeastGap = 1e-12;

}  // namespace

std::string gossip_csv(const std::vector<GossipRow>& rows) {
  std::string text =
      "topology,workers,rounds,degree,messages_per_step,spectral_gap,exact_after_rounds,smallest_weight,"
      "largest_weight,problem\n";
  for (const GossipRow& row : rows) {
    if (!row.problem.empty()) {
      text += fmt::format("{},{},,,,,,,,{}\n", row.topology, row.workers, csv_field(row.problem));
      continue;
    }
    const std::string period = row.period ? std::to_string(*row.period) : "";
    text += fmt::format("{},{},{},{},{},{},{},{},{},\n", row.topology, row.workers, row.rounds, row.degree,
                        row.messages, row.gap, period, row.smallest, row.largest);
  }
  return text;
}

ChartScene gossip_scene(const std::vector<GossipRow>& rows) {
  ChartScene scene;
  std::vector<double> workers;
  std::vector<double> gaps;
  for (const GossipRow& row : rows) {
    if (!row.problem.empty() || !(row.gap > kLeastGap)) continue;
    if (scene.series.empty() || scene.series.back().name != row.topology)
      scene.series.push_back({row.topology, SeriesMark::line_with_points, {}});
    workers.push_back(row.workers);
    gaps.push_back(row.gap);
    scene.series.back().points.emplace_back(row.workers, row.gap);
  }
  for (SceneSeries& series : scene.series) std::ranges::stable_sort(series.points);
  scene.title = "Mixing of gossip graphs";
  scene.caption =
      "Spectral gap: the share by which a step shrinks the distance to the average at least, per round of a "
      "period; 1 is exact averaging.";
  scene.x = axis_along("workers", workers);
  scene.y = axis_of_figure("spectral gap", gaps, true);
  return scene;
}

}  // namespace orrery
