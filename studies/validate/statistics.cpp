#include "studies/validate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace orrery {
namespace {

/// Ranks from 1; equal values share the mean of theirs.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> out(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (std::size_t i = first; i < last; ++i) out[order[i]] = static_cast<double>(first + 1 + last) / 2;
    first = last;
  }
  return out;
}

/// `sorted` at the position share * (n - 1), between neighbours.
double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<double> rank_correlation(std::span<const Pair> pairs) {
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const Pair& pair : pairs) {
    predicted.push_back(pair.predicted);
    measured.push_back(pair.measured);
  }
  return orrery::rank_correlation(predicted, measured);
}

void add_groups(std::span<const Pair> pairs, ErrorStatistics& out) {
  std::map<std::string, std::vector<Pair>> groups;
  for (const Pair& pair : pairs) groups[pair.group].push_back(pair);
  double sum = 0;
  double weight = 0;
  for (const auto& [name, members] : groups) {
    if (members.size() < kSmallestGroup) continue;
    const auto correlation = rank_correlation(members);
    if (!correlation) continue;
    sum += *correlation * static_cast<double>(members.size());
    weight += static_cast<double>(members.size());
    out.lowest_within_model = std::min(out.lowest_within_model.value_or(1), *correlation);
  }
  if (weight > 0) out.rank_correlation_within_model = sum / weight;
}

void add_inside(std::span<const Pair> pairs, ErrorStatistics& out) {
  double ranges = 0;
  double inside = 0;
  for (const Pair& pair : pairs) {
    if (pair.inside) ++ranges;
    if (pair.inside.value_or(false)) ++inside;
  }
  if (ranges > 0) out.inside_p10_p90 = inside / ranges;
}

}  // namespace

std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks(a);
  const std::vector<double> y = ranks(b);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  if (xx <= 0 || yy <= 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

ErrorStatistics error_statistics(std::span<const Pair> pairs) {
  std::vector<double> sizes;
  ErrorStatistics out;
  out.rows = pairs.size();
  const auto count = static_cast<double>(pairs.size());
  for (const Pair& pair : pairs) {
    sizes.push_back(std::abs(pair.error()));
    out.mean_abs_error += sizes.back() / count;
    out.bias += pair.error() / count;
  }
  std::ranges::sort(sizes);
  out.median_abs_error = quantile(sizes, 0.5);
  out.p90_abs_error = quantile(sizes, 0.9);
  out.max_abs_error = sizes.back();
  out.rank_correlation = rank_correlation(pairs);
  add_groups(pairs, out);
  add_inside(pairs, out);
  return out;
}

}  // namespace orrery
