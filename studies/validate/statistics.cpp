#include "studies/validate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace orrery {
namespace {

constexpr std::size_t kFewestForDeciles = 9;

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

/// The two sides of pairs as lists.
struct Sides {
  std::vector<double> predicted;
  std::vector<double> measured;

  explicit Sides(std::span<const Pair> pairs) {
    for (const Pair& pair : pairs) {
      predicted.push_back(pair.predicted);
      measured.push_back(pair.measured);
    }
  }
};

/// Computes a weighted mean and an extreme of values.
class Summary {
 public:
  void add(std::optional<double> value, double weight) {
    if (!value) return;
    sum_ += *value * weight;
    weight_ += weight;
    least_ = std::min(least_.value_or(*value), *value);
    most_ = std::max(most_.value_or(*value), *value);
  }
  [[nodiscard]] std::optional<double> mean() const {
    return weight_ > 0 ? std::optional(sum_ / weight_) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> least() const { return least_; }
  [[nodiscard]] std::optional<double> most() const { return most_; }

 private:
  double sum_ = 0;
  double weight_ = 0;
  std::optional<double> least_;
  std::optional<double> most_;
};

/// Returns the regret of the plan that would be chosen; nullopt if none fits.
std::optional<double> regret(std::span<const Pair> pairs) {
  const Pair* chosen = nullptr;
  for (const Pair& pair : pairs) {
    if (pair.fits && (chosen == nullptr || pair.predicted < chosen->predicted)) chosen = &pair;
  }
  if (chosen == nullptr) return std::nullopt;
  return chosen->measured / std::ranges::min_element(pairs, {}, &Pair::measured)->measured - 1;
}

void add_groups(std::span<const Pair> pairs, ErrorStatistics& out) {
  std::map<std::string, std::vector<Pair>> groups;
  for (const Pair& pair : pairs) groups[pair.group].push_back(pair);
  Summary spearman;
  Summary kendall;
  Summary lost;
  for (const auto& [name, members] : groups) {
    if (members.size() < kSmallestGroup) continue;
    const Sides sides(members);
    const auto weight = static_cast<double>(members.size());
    spearman.add(rank_correlation(sides.predicted, sides.measured), weight);
    kendall.add(kendall_tau(sides.predicted, sides.measured), weight);
    lost.add(regret(members), 1);
  }
  out.rank_correlation_within_model = spearman.mean();
  out.lowest_within_model = spearman.least();
  out.kendall_within_model = kendall.mean();
  out.lowest_kendall_within_model = kendall.least();
  out.regret_within_model = lost.mean();
  out.largest_regret_within_model = lost.most();
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

/// Pairs in the same order less pairs in the other one, over the geometric mean of the pairs that differ in a
/// and in b (Kendall 1945, tau-b).
std::optional<double> kendall_tau(std::span<const double> a, std::span<const double> b) {
  const auto order = [](double x, double y) { return x < y ? -1 : static_cast<int>(y < x); };
  double agreed = 0;
  double differ_in_a = 0;
  double differ_in_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int in_a = order(a[i], a[j]);
      const int in_b = order(b[i], b[j]);
      agreed += in_a * in_b;
      differ_in_a += in_a * in_a;
      differ_in_b += in_b * in_b;
    }
  }
  if (differ_in_a == 0 || differ_in_b == 0) return std::nullopt;
  return agreed / std::sqrt(differ_in_a * differ_in_b);
}

std::optional<Deciles> deciles(std::vector<double> values) {
  const auto n = static_cast<double>(values.size());
  if (values.size() < kFewestForDeciles) return std::nullopt;
  std::ranges::sort(values);
  const double step = (n + 1) / (10 * (n - 1));  // of the way from the first to the last
  const double first = 1 / (n - 1);
  return Deciles{quantile(values, step - first), quantile(values, 9 * step - first)};
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
  const Sides sides(pairs);
  out.rank_correlation = rank_correlation(sides.predicted, sides.measured);
  add_groups(pairs, out);
  add_inside(pairs, out);
  return out;
}

}  // namespace orrery
