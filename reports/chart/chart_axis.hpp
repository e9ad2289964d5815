// Computes one axis of a chart: the positions of values, and the labelled values.
#pragma once

#include <string>
#include <vector>

namespace orrery {

class ChartAxis {
 public:
  explicit ChartAxis(bool logarithmic) : logarithmic_(logarithmic) {}
  [[nodiscard]] bool takes(double value) const;
  /// Widens the axis to `value`, which it takes.
  void include(double value);
  [[nodiscard]] bool empty() const { return low_ > high_; }
  /// 0 at the lowest value, 1 at the highest.
  [[nodiscard]] double position(double value) const;
  /// Round values on the axis, about as many as wanted, at least two.
  [[nodiscard]] std::vector<double> ticks(int wanted) const;
  /// A tick as text.
  [[nodiscard]] static std::string label(double value);

 private:
  [[nodiscard]] double scaled(double value) const;
  [[nodiscard]] std::vector<double> decades(int wanted) const;
  [[nodiscard]] std::vector<double> steps(int wanted) const;
  bool logarithmic_;
  double low_ = 1, high_ = 0;
};

}  // namespace orrery
