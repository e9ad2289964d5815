#include "reports/chart/chart_axis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace orrery {

bool ChartAxis::takes(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }

void ChartAxis::include(double value) {
  low_ = empty() ? value : std::min(low_, value);
  high_ = std::max(high_, value);
  if (low_ > high_) high_ = low_;
}

double ChartAxis::scaled(double value) const { return logarithmic_ ? std::log10(value) : value; }

double ChartAxis::position(double value) const {
  const double extent = scaled(high_) - scaled(low_);
  return extent > 0 ? (scaled(value) - scaled(low_)) / extent : 0.5;
}

/// Powers of ten; on a short axis twice and five times them too.
std::vector<double> ChartAxis::decades(int wanted) const {
  const int first = static_cast<int>(std::ceil(std::log10(low_) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high_) + 1e-9));
  const int step = std::max(1, (last - first + wanted - 1) / wanted);
  std::vector<double> out;
  const bool few = last - first < 2;
  for (int decade = few ? first - 1 : first; decade <= last; decade += step) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double tick = digit * std::pow(10.0, decade);
      if (digit == 1 ? decade >= first : few && tick >= low_ && tick <= high_) out.push_back(tick);
    }
  }
  return out;
}

/// Multiples of 1, 2 or 5 times a power of ten.
std::vector<double> ChartAxis::steps(int wanted) const {
  const double rough = (high_ - low_) / wanted;
  if (!(rough > 0)) return {low_};
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double nice : {1.0, 2.0, 5.0}) {
    if (nice * power >= rough) {
      step = nice * power;
      break;
    }
  }
  std::vector<double> out;
  for (double i = std::ceil(low_ / step - 1e-9) + 0.0; i * step <= high_ + 1e-9 * step; ++i)
    out.push_back(i * step);
  return out;
}

std::vector<double> ChartAxis::ticks(int wanted) const {
  if (empty()) return {};
  std::vector<double> out = logarithmic_ ? decades(wanted) : steps(wanted);
  if (out.size() < 2 && logarithmic_) out = steps(wanted);
  if (out.size() < 2 && high_ > low_) out = {low_, high_};
  return out;
}

std::string ChartAxis::label(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace orrery
