// The chart of a training run over its days: columns of equal time, each cut into its uses. The page has it,
// too.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reports/chart/write_scene.hpp"
#include "reports/picture/svg_text.hpp"
#include "studies/long_run/writers.hpp"

namespace orrery {
namespace {

constexpr std::size_t kRunColumns = 480;
/// Colours and textures there are; more uses than these, and the shortest are one.
constexpr std::size_t kMostUses = kSceneStyles;
constexpr int kPageChartWidth = 960;
constexpr double kPsPerDay = 86'400e12;

using UseShares = std::array<double, kTimeUseCount>;

/// Shares of the time of each column.
std::vector<UseShares> columns_of(const RunOutcome& run) {
  std::vector<UseShares> columns(kRunColumns);
  const double width = static_cast<double>(run.wall_ps) / kRunColumns;
  if (width <= 0) return columns;
  for (const RunSpan& span : run.spans) {
    const double begin = static_cast<double>(span.begin) / width;
    const double end = std::min(static_cast<double>(span.end) / width, static_cast<double>(kRunColumns));
    for (auto at = static_cast<std::size_t>(begin); at < kRunColumns && static_cast<double>(at) < end; ++at) {
      const double from = std::max(begin, static_cast<double>(at));
      const double to = std::min(end, static_cast<double>(at + 1));
      columns[at][static_cast<std::size_t>(span.use)] += std::max(0.0, to - from);
    }
  }
  return columns;
}

std::string use_name(std::size_t use) {
  std::string name(use == 0 ? "steps" : kTimeUseNames[use]);
  std::ranges::replace(name, '_', ' ');
  return name;
}

/// A use of time, or several that are drawn as one.
struct DrawnUse {
  std::string name;
  std::vector<std::size_t> uses;
  double share = 0;  ///< of the spans' time, in which all steps are steps
};

std::array<double, kTimeUseCount> shares_of(const RunOutcome& run) {
  std::array<double, kTimeUseCount> shares{};
  if (run.wall_ps <= 0) return shares;
  for (const RunSpan& span : run.spans)
    shares[static_cast<std::size_t>(span.use)] +=
        static_cast<double>(span.end - span.begin) / static_cast<double>(run.wall_ps);
  return shares;
}

std::vector<DrawnUse> drawn_uses(const RunOutcome& run) {
  const auto shares = shares_of(run);
  std::vector<DrawnUse> all;
  for (std::size_t use = 0; use < kTimeUseCount; ++use)
    if (shares[use] > 0) all.push_back({use_name(use), {use}, shares[use]});
  if (all.size() <= kMostUses) return all;
  DrawnUse others{"others", {}, 0};
  while (all.size() >= kMostUses) {
    const auto least = std::ranges::min_element(all, {}, &DrawnUse::share);
    others.uses.push_back(least->uses.front());
    others.share += least->share;
    all.erase(least);
  }
  all.push_back(std::move(others));
  return all;
}

SceneSeries area_of(const DrawnUse& drawn, const std::vector<UseShares>& columns, double days) {
  SceneSeries series{fmt::format("{} {:.2f} %", drawn.name, 100 * drawn.share), SeriesMark::areas, {}};
  const auto place = [&](std::size_t column) {
    return days * static_cast<double>(column) / static_cast<double>(columns.size());
  };
  for (std::size_t at = 0; at < columns.size(); ++at) {
    if (at > 0 && columns[at] == columns[at - 1]) continue;
    double share = 0;
    for (const std::size_t use : drawn.uses) share += columns[at][use];
    series.points.emplace_back(place(at), 100 * share);
  }
  series.points.emplace_back(days, 0);
  return series;
}

/// Text of several lines, as content of an element.
std::string lines_of_page(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += xml_text(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

ChartScene long_run_scene(const LongRunResult& result) {
  const RunOutcome& run = result.shown;
  const double days = static_cast<double>(run.wall_ps) / kPsPerDay;
  const std::vector<UseShares> columns = columns_of(run);
  ChartScene scene;
  scene.title = result.prepared.step.name;
  scene.caption = fmt::format(
      "The repetition with the median time, {:.4g} days; steps are those that count and those lost.", days);
  scene.x = {"days"};
  scene.y = {"use of time (%)", AxisScale::linear, {}, {0, 25, 50, 75, 100}, true};
  for (const DrawnUse& drawn : drawn_uses(run)) scene.series.push_back(area_of(drawn, columns, days));
  return scene;
}

std::string long_run_page(const LongRunResult& result) {
  SceneFormat format;
  format.width = kPageChartWidth;
  format.title = false;
  std::string picture;
  write_scene(long_run_scene(result), format, [&picture](std::string_view text) { picture += text; });
  const std::string title = xml_text(cut_text(result.prepared.step.name, 200));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<title>{0}</title>\n<style>:root {{ color-scheme: light dark }} body {{ font-family: sans-serif; "
      "margin: 2em; max-width: 70em }} svg {{ "
      "max-width: 100%; height: auto }} pre {{ overflow: auto }}</style>\n</head>\n<body>\n"
      "<h1>{0}</h1>\n<p>The repetition with the median time, day by day. Each column is cut into what its "
      "time was used for; steps are those that count and those that were thrown away.</p>\n{1}"
      "<h2>All repetitions</h2>\n<pre>{2}</pre>\n</body>\n</html>\n",
      title, picture, lines_of_page(long_run_text(result)));
}

}  // namespace orrery
