#include "reports/chart/scene_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>

#include "reports/chart/key_label.hpp"
#include "reports/chart/picture_text.hpp"

namespace orrery {
namespace {

/// Points of a line within this distance of the last one are left out, in pixels.
constexpr double kLineDetail = 0.25;
/// Side of the cells that the points of a cloud are counted in, in pixels.
constexpr double kCloudCell = 1.5;
constexpr double kBarShare = 0.72;  // of the room of a row
/// With more points than these a line has no marks but every few points.
constexpr std::size_t kMostMarks = 60;

struct Spot {
  double x = 0, y = 0;
};

std::vector<Spot> spots_of(const SceneSeries& series, const SceneLayout& layout) {
  std::vector<Spot> spots;
  for (const auto& [x, y] : series.points)
    if (layout.x.takes(x) && layout.y.takes(y)) spots.push_back({layout.x.at(x), layout.y.at(y)});
  return spots;
}

std::string line_of(const std::vector<Spot>& spots, bool steps) {
  std::string path;
  Spot last{-1e9, -1e9};
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const Spot& spot = spots[i];
    const bool near = std::abs(spot.x - last.x) < kLineDetail && std::abs(spot.y - last.y) < kLineDetail;
    if (near && i + 1 < spots.size()) continue;
    if (path.empty()) {
      path = "M" + pixels(spot.x) + " " + pixels(spot.y);
    } else if (steps) {
      path += "H" + pixels(spot.x) + "V" + pixels(spot.y);
    } else {
      path += "L" + pixels(spot.x) + " " + pixels(spot.y);
    }
    last = spot;
  }
  return path;
}

std::string marks_at(const std::vector<Spot>& spots, std::size_t style, std::size_t stride) {
  std::string path;
  for (std::size_t i = 0; i < spots.size(); i += stride)
    path += "M" + pixels(spots[i].x) + " " + pixels(spots[i].y) + std::string(mark_of(style));
  return fmt::format("<path class=\"p f{}\" d=\"{}\"/>\n", style, path);
}

/// Points in grey: each cell once, the darker the more points it has.
std::string drawn_cloud(const std::vector<Spot>& spots) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> cells;
  for (const Spot& spot : spots)
    ++cells[{std::llround(spot.y / kCloudCell), std::llround(spot.x / kCloudCell)}];
  std::array<std::string, 3> paths;
  for (const auto& [cell, count] : cells) {
    std::string& path = paths[count >= 16 ? 2 : count >= 4 ? 1 : 0];
    path += "M" + pixels(static_cast<double>(cell.second) * kCloudCell) + " " +
            pixels(static_cast<double>(cell.first) * kCloudCell) + "h0";
  }
  std::string text;
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!paths[i].empty()) text += fmt::format("<path class=\"c{}\" d=\"{}\"/>\n", i, paths[i]);
  return text;
}

/// Around an area above `base`: along its top to the right, and back along its bottom, once for each stretch
/// in which it is higher than 0.
std::string outline(const std::vector<std::pair<double, double>>& points, const std::vector<double>& base,
                    const SceneLayout& layout) {
  std::string path;
  for (std::size_t first = 0; first + 1 < points.size(); ++first) {
    if (!(points[first].second > 0)) continue;
    std::size_t end = first;
    path += fmt::format("M{} {}", pixels(layout.x.at(points[first].first)), pixels(layout.y.at(base[first])));
    for (; end + 1 < points.size() && points[end].second > 0; ++end)
      path += fmt::format("V{}H{}", pixels(layout.y.at(base[end] + points[end].second)),
                          pixels(layout.x.at(points[end + 1].first)));
    for (std::size_t k = end; k-- > first;)
      path += fmt::format("V{}H{}", pixels(layout.y.at(base[k])), pixels(layout.x.at(points[k].first)));
    path += "z";
    first = end;
  }
  return path;
}

/// A shade of the map: 0 is the lightest.
constexpr std::array<std::string_view, 7> kShades{"#eef5fb", "#d3e5f2", "#aecfe8", "#7fb3d8",
                                                  "#4a90c4", "#1f6aa8", "#0a4480"};

struct CellRange {
  double low = 0, high = 0;
};

CellRange cell_range(const SceneMap& map) {
  CellRange range{INFINITY, -INFINITY};
  for (const std::optional<double>& value : map.values) {
    if (!value || !std::isfinite(*value)) continue;
    range.low = std::min(range.low, *value);
    range.high = std::max(range.high, *value);
  }
  return range;
}

std::size_t shade_of(double value, CellRange range, bool less_is_better) {
  // Values whose largest is many times the least are told apart by their ratios.
  const bool ratios = range.low > 0 && range.high > 4 * range.low;
  const double share = range.high <= range.low ? 0.5
                       : ratios ? std::log(value / range.low) / std::log(range.high / range.low)
                                : (value - range.low) / (range.high - range.low);
  const double better = less_is_better ? 1 - share : share;
  return std::min(kShades.size() - 1, static_cast<std::size_t>(better * static_cast<double>(kShades.size())));
}

std::string cell_text(double value) {
  const std::string text = fmt::format("{:.3g}", value);
  return text.find('e') == std::string::npos ? text : chart_number(value);
}

}  // namespace

std::string pixels(double value) {
  const double tenths = std::round(value * 10);
  return fmt::format("{}", (tenths == 0 ? 0 : tenths) / 10);
}

std::vector<std::size_t> styles_of(const ChartScene& scene) {
  std::vector<std::size_t> styles;
  std::size_t next = 0;
  for (const SceneSeries& one : scene.series)
    styles.push_back(one.mark == SeriesMark::cloud ? 0 : next++ % kSceneStyles);
  return styles;
}

std::string drawn_series(const SceneSeries& series, std::size_t style, const SceneLayout& layout) {
  const std::vector<Spot> spots = spots_of(series, layout);
  if (spots.empty()) return "";
  if (series.mark == SeriesMark::cloud) return drawn_cloud(spots);
  if (series.mark == SeriesMark::points) return marks_at(spots, style, 1);
  const std::string text = fmt::format("<path class=\"d s{}\"{} d=\"{}\"/>\n", style, dashes_of(style),
                                       line_of(spots, series.mark == SeriesMark::steps));
  if (series.mark != SeriesMark::line_with_points) return text;
  return text + marks_at(spots, style, 1 + spots.size() / kMostMarks);
}

std::string drawn_bars(const ChartScene& scene, const SceneLayout& layout) {
  const std::vector<std::size_t> styles = styles_of(scene);
  const double thick = kBarShare * std::abs(layout.y.at(1) - layout.y.at(0));
  std::map<double, double> ends;  // of the bars before, by place
  std::string text;
  for (std::size_t i = 0; i < scene.series.size(); ++i) {
    if (scene.series[i].mark != SeriesMark::bars) continue;
    std::string path;
    for (const auto& [length, place] : scene.series[i].points) {
      if (!(length > 0)) continue;
      const double from = layout.x.at(ends[place]);
      ends[place] += length;
      const double to = layout.x.at(ends[place]);
      path += fmt::format("M{} {}h{}v{}h{}z", pixels(from), pixels(layout.y.at(place) - thick / 2),
                          pixels(to - from), pixels(thick), pixels(from - to));
    }
    if (path.empty()) continue;
    text += fmt::format("<path class=\"f{}\" d=\"{}\"/>\n", styles[i], path);
    if (has_texture(styles[i])) text += fmt::format("<path fill=\"url(#t{})\" d=\"{}\"/>\n", styles[i], path);
  }
  return text;
}

std::string drawn_areas(const ChartScene& scene, const SceneLayout& layout) {
  const std::vector<std::size_t> styles = styles_of(scene);
  std::vector<double> base;  // sums of the areas before, by place
  std::string text;
  for (std::size_t i = 0; i < scene.series.size(); ++i) {
    if (scene.series[i].mark != SeriesMark::areas) continue;
    const auto& points = scene.series[i].points;
    base.resize(std::max(base.size(), points.size()));
    const std::string path = outline(points, base, layout);
    for (std::size_t k = 0; k < points.size(); ++k) base[k] += points[k].second;
    if (path.empty()) continue;
    text += fmt::format("<path class=\"f{}\" d=\"{}\"/>\n", styles[i], path);
    if (has_texture(styles[i])) text += fmt::format("<path fill=\"url(#t{})\" d=\"{}\"/>\n", styles[i], path);
  }
  return text;
}

std::string drawn_map(const ChartScene& scene, const SceneLayout& layout) {
  const SceneMap& map = *scene.map;
  const CellRange range = cell_range(map);
  const std::size_t columns = scene.x.names.size();
  const double wide = layout.x.at(1) - layout.x.at(0);
  const double high = layout.y.at(1) - layout.y.at(0);
  std::string text;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const double x = layout.x.at(static_cast<double>(i % columns));
    const double y = layout.y.at(static_cast<double>(i / columns));
    const std::string place =
        fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", pixels(x - wide / 2 + .5),
                    pixels(y - high / 2 + .5), pixels(wide - 1), pixels(high - 1));
    const std::optional<double>& value = map.values[i];
    if (!value || !std::isfinite(*value)) {
      text += fmt::format("<rect class=\"n\" {}/>\n", place);
      continue;
    }
    const std::size_t shade = shade_of(*value, range, map.less_is_better);
    text += fmt::format("<rect fill=\"{}\" {}/>\n", kShades[shade], place);
    const std::string number = cell_text(*value);
    if (picture_text_width(number, kSmallSize) + 2 > wide || high < kSmallSize + 2) continue;
    text += fmt::format(
        "<text class=\"m\" style=\"fill:{}\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>\n",
        shade >= 4 ? "#fff" : "#111", pixels(x), pixels(y + 3.3), number);
  }
  return text;
}

}  // namespace orrery
