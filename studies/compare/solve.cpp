#include "studies/compare/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_solve(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

/// Numbers of three significant digits, numbered in order: 1.00 is 0, 9.99 is 899, 10.0 is 900. Whole ones:
/// each up to 1000 is its own number, and then three digits count.
class Digits {
 public:
  explicit Digits(bool whole) : whole_(whole) {}

  [[nodiscard]] std::string at(std::int64_t index) const {
    if (whole_ && index < kWhole) return std::to_string(index);
    const std::int64_t from = whole_ ? index - kWhole + 3 * kDecade : index;
    const std::int64_t exponent = from >= 0 ? from / kDecade : (from - kDecade + 1) / kDecade;
    const std::int64_t digits = 100 + from - exponent * kDecade;
    return fmt::format("{}", std::stod(fmt::format("{}e{}", digits, exponent - 2)));
  }
  /// The greatest that is not above `value`, or next to it.
  [[nodiscard]] std::int64_t near(double value) const {
    if (whole_ && value < static_cast<double>(kWhole)) return std::max<std::int64_t>(0, std::llround(value));
    const auto exponent = static_cast<std::int64_t>(std::floor(std::log10(value)));
    const double digits = value / std::pow(10.0, static_cast<double>(exponent - 2));
    const std::int64_t index = exponent * kDecade + std::llround(digits) - 100;
    return whole_ ? index - 3 * kDecade + kWhole : index;
  }
  [[nodiscard]] double value(std::int64_t index) const { return std::stod(at(index)); }

 private:
  static constexpr std::int64_t kDecade = 900;
  static constexpr std::int64_t kWhole = 1000;
  bool whole_;
};

class SolveSearch {
 public:
  SolveSearch(const Solve& wanted, bool whole, const FigureAt& figure_at)
      : wanted_(wanted), digits_(whole), figure_at_(figure_at) {}

  std::string from(double start) {
    const std::int64_t first = digits_.near(start);
    if (!look(first)) refuse_solve(fmt::format("{}={} cannot be simulated", wanted_.key, digits_.at(first)));
    widen();
    const bool rises = crossing_->second > std::prev(crossing_)->second;
    std::int64_t low = std::prev(crossing_)->first;
    std::int64_t high = crossing_->first;
    while (low + 1 < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (!look(middle))
        refuse_solve(fmt::format("{}={} cannot be simulated", wanted_.key, digits_.at(middle)));
      const double figure = known_.at(middle);
      const bool reached = rises ? figure >= wanted_.value : figure <= wanted_.value;
      (reached ? high : low) = middle;
    }
    check_monotone();
    return digits_.at(high);
  }

 private:
  using Known = std::map<std::int64_t, double>;

  /// Evaluates the figure at a place; returns true if it is known there.
  bool look(std::int64_t index) {
    if (known_.contains(index)) return true;
    const auto figure = figure_at_(digits_.at(index));
    if (!figure || !std::isfinite(*figure)) return false;
    known_[index] = *figure;
    return true;
  }

  /// Returns true if the figure reaches the value between two neighbouring places; `crossing_` is then the
  /// upper one.
  bool crosses() {
    for (auto at = std::next(known_.begin()); known_.size() > 1 && at != known_.end(); ++at) {
      const double before = std::prev(at)->second;
      const bool rises = before < wanted_.value && at->second >= wanted_.value;
      const bool falls = before > wanted_.value && at->second <= wanted_.value;
      if (!rises && !falls) continue;
      crossing_ = at;
      return true;
    }
    return false;
  }

  /// Looks further out by factors of four, both ways in turn, until the value lies between two places.
  void widen() {
    constexpr double kFactor = 4;
    constexpr int kMost = 30;  // 4^30 is 10^18
    bool up = true;
    bool down = true;
    for (int i = 0; i < kMost && (up || down) && !crosses(); ++i) {
      if (up) up = step(known_.rbegin()->first, kFactor, towards(known_.rbegin()->second, down));
      if (down && !crosses())
        down = step(known_.begin()->first, 1 / kFactor, towards(known_.begin()->second, up));
    }
    if (crosses()) return;
    check_monotone();
    const auto [least, most] = std::ranges::minmax_element(known_, {}, &Known::value_type::second);
    refuse_solve(fmt::format("{} is {:.6g} to {:.6g} for {} from {} to {}, and {:.6g} is not among that",
                             wanted_.figure, least->second, most->second, wanted_.key,
                             digits_.at(known_.begin()->first), digits_.at(known_.rbegin()->first),
                             wanted_.value));
  }

  /// Returns true if the search may go on from an end with that figure. It may not if the other end is nearer
  /// to the value and can go on.
  [[nodiscard]] bool towards(double figure, bool other_goes_on) const {
    if (!other_goes_on || known_.size() < 3) return true;
    const auto off = [this](double some) { return std::abs(some - wanted_.value); };
    const double other = known_.begin()->second == figure ? known_.rbegin()->second : known_.begin()->second;
    return off(figure) <= off(other);
  }

  /// Goes one step beyond an end; returns false if nothing can be simulated there.
  bool step(std::int64_t end, double factor, bool worthwhile) {
    if (!worthwhile) return true;
    const std::int64_t next = digits_.near(digits_.value(end) * factor);
    return next != end && look(next);
  }

  void check_monotone() const {
    constexpr double kSame = 1e-6;  // relative, of figures that only differ by rounding
    int direction = 0;
    for (auto at = std::next(known_.begin()); known_.size() > 1 && at != known_.end(); ++at) {
      const double more = at->second - std::prev(at)->second;
      if (std::abs(more) <= kSame * std::abs(at->second)) continue;
      const int now = more > 0 ? 1 : -1;
      if (direction == -now)
        refuse_solve(
            fmt::format("{} goes up and down with {}: {:.6g}, {:.6g} and {:.6g} around {}, allowed a "
                        "figure that goes one way",
                        wanted_.figure, wanted_.key, std::prev(at, 2)->second, std::prev(at)->second,
                        at->second, digits_.at(std::prev(at)->first)));
      direction = now;
    }
  }

  const Solve& wanted_;
  Digits digits_;
  const FigureAt& figure_at_;
  Known known_;
  Known::const_iterator crossing_;
};

}  // namespace

Solve parse_solve(const std::string& key, std::string_view wanted) {
  Solve solve{key, {}, 0};
  const std::size_t equals = wanted.find('=');
  solve.figure = wanted.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : wanted.substr(equals + 1);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), solve.value);
  if (solve.figure.empty() || value.empty() || error != std::errc() || end != value.data() + value.size() ||
      !std::isfinite(solve.value))
    refuse_solve("--for: found " + quote(wanted) +
                 ", allowed FIGURE=VALUE with a number, such as utilization=0.9");
  if (key.empty()) refuse_solve("--solve: found no key, allowed a key of an experiment");
  if (solve.figure == "utilization") solve.figure = "utilization.gpu_mean";
  return solve;
}

std::string solve(const Solve& solve, double start, bool whole, const FigureAt& figure_at) {
  return SolveSearch(solve, whole, figure_at).from(start);
}

}  // namespace orrery
