#include "reports/chart/scene_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reports/chart/chart_axis.hpp"
#include "reports/chart/key_label.hpp"
#include "reports/chart/picture_text.hpp"

namespace orrery {
namespace {

// Pixels.
constexpr double kMargin = 8, kPartGap = 6, kTickLength = 4, kSampleWidth = 22, kLegendGap = 12;
constexpr double kLineHeight = 14, kCaptionHeight = 12, kRoomOfTick = 46, kRoomOfRow = 30, kRowHeight = 19,
                 kCellHeight = 26;
constexpr double kMostOfNames = 0.38;   // share of the width
constexpr double kCaptionShare = 0.93;  // of the width: some fonts are wider
constexpr double kUsualHeight = 0.62, kMostPlot = 1400;
constexpr double kLogPad = 0.03, kPad = 0.04;

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return low > high; }
};

bool is_drawn(const SceneAxis& axis, double value) {
  return std::isfinite(value) && (axis.scale != AxisScale::logarithmic || value > 0);
}

/// Sums of the bars on each place, which lie behind each other.
void include_bars(const ChartScene& scene, Extent& x) {
  std::vector<std::pair<double, double>> ends;
  for (const SceneSeries& one : scene.series) {
    if (one.mark != SeriesMark::bars) continue;
    for (const auto& [length, place] : one.points) {
      auto end = std::ranges::find(ends, place, &std::pair<double, double>::first);
      if (end == ends.end()) end = ends.insert(end, {place, 0});
      end->second += length;
      x.include(end->second);
    }
  }
  if (!ends.empty()) x.include(0);
}

/// Sums of the areas at each place, which lie above each other.
void include_areas(const ChartScene& scene, Extent& x, Extent& y) {
  std::vector<double> sums;
  for (const SceneSeries& one : scene.series) {
    if (one.mark != SeriesMark::areas) continue;
    sums.resize(std::max(sums.size(), one.points.size()));
    for (std::size_t i = 0; i < one.points.size(); ++i) {
      x.include(one.points[i].first);
      y.include(sums[i] += one.points[i].second);
    }
  }
  if (!sums.empty()) y.include(0);
}

std::pair<Extent, Extent> extents_of(const ChartScene& scene) {
  Extent x;
  Extent y;
  for (const SceneSeries& one : scene.series) {
    if (one.mark == SeriesMark::bars || one.mark == SeriesMark::areas) continue;
    for (const auto& [at, value] : one.points) {
      if (!is_drawn(scene.x, at) || !is_drawn(scene.y, value)) continue;
      x.include(at);
      y.include(value);
    }
  }
  include_bars(scene, x);
  include_areas(scene, x, y);
  for (const SceneRule& rule : scene.rules) {
    if (rule.kind == RuleKind::horizontal && is_drawn(scene.y, rule.at)) y.include(rule.at);
    if (rule.kind == RuleKind::vertical && is_drawn(scene.x, rule.at)) x.include(rule.at);
  }
  if (scene.equal_scales) {
    x.include(y.low);
    x.include(y.high);
    y = x;
  }
  return {x, y};
}

/// A little more than the values, and something where there are none.
PlacedAxis padded(const SceneAxis& axis, Extent extent) {
  if (axis.scale == AxisScale::names)
    return {axis, -0.5, static_cast<double>(std::max<std::size_t>(axis.names.size(), 1)) - 0.5};
  if (extent.empty()) extent = axis.scale == AxisScale::logarithmic ? Extent{1, 10} : Extent{0, 1};
  if (axis.scale == AxisScale::logarithmic) {
    const double factor = extent.high > extent.low ? std::pow(extent.high / extent.low, kLogPad) : 2;
    return {axis, extent.low / factor, extent.high * factor};
  }
  const bool from_zero = axis.from_zero && extent.low >= 0;
  if (from_zero) extent.low = 0;
  const double span =
      extent.high > extent.low ? extent.high - extent.low : std::max(std::abs(extent.high), 1.0);
  return {axis, from_zero ? 0 : extent.low - kPad * span, extent.high + kPad * span};
}

/// Names of series and rules, from left to right and line by line; returns the height.
double place_legend(const ChartScene& scene, SceneLayout& layout) {
  double x = kMargin;
  double y = 0;
  const auto add = [&](LegendEntry::Kind kind, std::size_t index, const std::string& name) {
    if (name.empty()) return;
    const double room = layout.width - 2 * kMargin - kSampleWidth;
    std::string text = fitting_picture_text(name, room, kSmallSize);
    const double width = kSampleWidth + picture_text_width(text, kSmallSize) + kLegendGap;
    if (x > kMargin && x + width - kLegendGap > layout.width - kMargin) {
      x = kMargin;
      y += kLineHeight;
    }
    layout.legend.push_back({kind, index, x, y, std::move(text)});
    x += width;
  };
  for (std::size_t i = 0; i < scene.series.size(); ++i)
    add(LegendEntry::Kind::series, i, scene.series[i].name);
  for (std::size_t i = 0; i < scene.rules.size(); ++i)
    if (is_on_paper(scene.rules[i], layout)) add(LegendEntry::Kind::rule, i, scene.rules[i].name);
  return layout.legend.empty() ? 0 : y + kLineHeight + 2;
}

double widest(const std::vector<SceneTick>& ticks) {
  double width = 0;
  for (const SceneTick& tick : ticks) width = std::max(width, picture_text_width(tick.text, kSmallSize));
  return width;
}

bool has_bars(const ChartScene& scene) {
  return std::ranges::any_of(scene.series,
                             [](const SceneSeries& one) { return one.mark == SeriesMark::bars; });
}

/// The height of the plot where none was asked for.
double usual_plot_height(const ChartScene& scene, double plot_width) {
  if (scene.equal_scales) return plot_width;
  const auto rows = static_cast<double>(scene.y.names.size());
  if (scene.map) return std::clamp(rows * kCellHeight, 60.0, kMostPlot);
  if (has_bars(scene)) return std::clamp(rows * kRowHeight, 40.0, kMostPlot);
  return kUsualHeight * plot_width;
}

/// Drops labels that would touch the one before, of an axis from left to right.
void thin_across(std::vector<SceneTick>& ticks, double right) {
  double end = -std::numeric_limits<double>::infinity();
  std::vector<SceneTick> kept;
  for (SceneTick& tick : ticks) {
    const double half = picture_text_width(tick.text, kSmallSize) / 2;
    if (tick.at - half < end + 5 || tick.at + half > right + 2) {
      tick.text.clear();
    } else {
      end = tick.at + half;
    }
    kept.push_back(std::move(tick));
  }
  ticks = std::move(kept);
}

/// Drops labels of an upright axis that would touch the one before.
void thin_upright(std::vector<SceneTick>& ticks) {
  double last = std::numeric_limits<double>::infinity();
  for (SceneTick& tick : ticks) {
    if (std::abs(last - tick.at) < kSmallSize + 1) {
      tick.text.clear();
    } else {
      last = tick.at;
    }
  }
}

/// Heights below the plot: labels of ticks, of the axis, and the caption.
double room_below(const ChartScene& scene, const SceneLayout& layout) {
  const double axis = kTickLength + kLineHeight + (scene.x.label.empty() ? 0 : kLineHeight + 2);
  const auto lines = static_cast<double>(layout.caption.size());
  return axis + (lines > 0 ? kPartGap + lines * kCaptionHeight : 0) + kMargin;
}

void place_plot(const ChartScene& scene, const SceneFormat& format, SceneLayout& layout) {
  const double below = room_below(scene, layout);
  const double plot_width = layout.right - layout.left;
  double height = usual_plot_height(scene, plot_width);
  if (format.height > 0) height = std::max(40.0, format.height - layout.top - below);
  if (scene.equal_scales && height < plot_width) layout.right = layout.left + height;
  layout.bottom = layout.top + height;
  layout.height =
      format.height > 0 ? std::max<double>(format.height, layout.bottom + below) : layout.bottom + below;
  layout.x.place(layout.left, layout.right);
  const bool from_top = scene.y.scale == AxisScale::names;
  layout.y.place(from_top ? layout.top : layout.bottom, from_top ? layout.bottom : layout.top);
}

}  // namespace

PlacedAxis::PlacedAxis(const SceneAxis& axis, double low, double high)
    : axis_(&axis), low_(low), high_(high) {}

void PlacedAxis::place(double from, double to) {
  from_ = from;
  to_ = to;
}

bool PlacedAxis::takes(double value) const { return is_drawn(*axis_, value); }

double PlacedAxis::scaled(double value) const {
  return axis_->scale == AxisScale::logarithmic ? std::log10(value) : value;
}

double PlacedAxis::at(double value) const {
  const double share = (scaled(value) - scaled(low_)) / (scaled(high_) - scaled(low_));
  return from_ + share * (to_ - from_);
}

std::vector<SceneTick> PlacedAxis::ticks(int wanted) const {
  std::vector<SceneTick> ticks;
  if (axis_->scale == AxisScale::names) {
    for (std::size_t i = 0; i < axis_->names.size(); ++i)
      ticks.push_back({at(static_cast<double>(i)), axis_->names[i]});
    return ticks;
  }
  std::vector<double> values = axis_->ticks;
  if (values.empty()) {
    ChartAxis axis(axis_->scale == AxisScale::logarithmic);
    axis.include(low_);
    axis.include(high_);
    values = axis.ticks(wanted);
  }
  for (const double value : values)
    if (takes(value)) ticks.push_back({at(value), chart_number(value)});
  return ticks;
}

bool is_on_paper(const SceneRule& rule, const SceneLayout& layout) {
  if (rule.kind == RuleKind::horizontal) return layout.y.takes(rule.at);
  return rule.kind == RuleKind::vertical ? layout.x.takes(rule.at) : rule.at > 0 && std::isfinite(rule.at);
}

SceneLayout layout_of(const ChartScene& scene, const SceneFormat& format) {
  const auto [x, y] = extents_of(scene);
  SceneLayout layout(padded(scene.x, x), padded(scene.y, y));
  if (scene.equal_scales) layout.y = padded(scene.y, x);
  layout.width = format.width;
  const double inner = layout.width - 2 * kMargin;
  if (format.title) layout.title = fitting_picture_text(scene.title, inner / 1.06, kTitleSize);
  if (format.caption) layout.caption = picture_text_lines(scene.caption, kCaptionShare * inner, kSmallSize);
  double top = kMargin + (layout.title.empty() ? 0 : kTitleSize + kPartGap);
  const double legend = place_legend(scene, layout);
  for (LegendEntry& entry : layout.legend) entry.y += top + kSmallSize;
  layout.top = top + legend + 4;
  const int rows = std::max(3, static_cast<int>(kUsualHeight * layout.width / kRoomOfRow));
  layout.names_width = std::min(widest(layout.y.ticks(rows)), kMostOfNames * layout.width);
  const double label = scene.y.label.empty() ? 0 : kLineHeight;
  layout.left = kMargin + label + layout.names_width + kTickLength + 3;
  layout.right = layout.width - kMargin - (scene.map ? 0 : 6);
  place_plot(scene, format, layout);
  layout.x_ticks = layout.x.ticks(std::max(2, static_cast<int>((layout.right - layout.left) / kRoomOfTick)));
  layout.y_ticks = layout.y.ticks(std::max(3, static_cast<int>((layout.bottom - layout.top) / kRoomOfRow)));
  for (SceneTick& tick : layout.y_ticks)
    tick.text = fitting_picture_text(tick.text, layout.names_width + 1, kSmallSize);
  thin_across(layout.x_ticks, layout.width - 2);
  thin_upright(layout.y_ticks);
  return layout;
}

}  // namespace orrery
