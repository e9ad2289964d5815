#include "reports/chart/scene_axes.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace orrery {
namespace {

constexpr std::size_t kMostTicks = 12;
constexpr double kFactorOfDegrees = 4, kFactorOfFigures = 30;
/// Values whose least is below this share of the largest come near 0.
constexpr double kNearZero = 0.5;

std::set<double> finite_values(std::span<const double> values) {
  std::set<double> distinct;
  for (const double value : values)
    if (std::isfinite(value)) distinct.insert(value);
  return distinct;
}

}  // namespace

SceneAxis axis_along(std::string label, std::span<const double> values) {
  SceneAxis axis{std::move(label)};
  const std::set<double> distinct = finite_values(values);
  if (distinct.empty()) return axis;
  const bool whole = std::ranges::all_of(distinct, [](double value) { return value == std::floor(value); });
  if (*distinct.begin() > 0 && *distinct.rbegin() >= kFactorOfDegrees * *distinct.begin())
    axis.scale = AxisScale::logarithmic;
  if (whole && distinct.size() <= kMostTicks) axis.ticks.assign(distinct.begin(), distinct.end());
  return axis;
}

SceneAxis axis_of_figure(std::string label, std::span<const double> values, bool from_zero) {
  SceneAxis axis{std::move(label)};
  const std::set<double> distinct = finite_values(values);
  if (distinct.empty()) return axis;
  const double least = *distinct.begin();
  const double most = *distinct.rbegin();
  if (least > 0 && most > kFactorOfFigures * least) {
    axis.scale = AxisScale::logarithmic;
  } else {
    axis.from_zero = from_zero && least >= 0 && least < kNearZero * most;
  }
  return axis;
}

}  // namespace orrery
