#include "sim/choices/divide_layers.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace orrery {
namespace {

/// Times of stages, in descending order.
using Times = std::vector<Picoseconds>;

Times with(const Times& times, Picoseconds one) {
  Times all = times;
  all.insert(std::ranges::upper_bound(all, one, std::greater<>()), one);
  return all;
}

class Division {
 public:
  Division(std::int64_t layers, std::size_t stages, const StageTime& time)
      : layers_(layers), stages_(stages), time_(time), given_(stages, Row(index(layers) + 1)) {}

  std::vector<std::int64_t> run() {
    for (std::int64_t from = 0; from <= layers_; ++from) best_.push_back({time_(stages_ - 1, from, layers_)});
    for (std::int64_t from = 0; from <= layers_; ++from) given_.back()[index(from)] = layers_ - from;
    for (std::size_t stage = stages_ - 1; stage-- > 0;) add_before(stage);
    if (best_.front().front() == kNoRoom) return {};
    return collect();
  }

 private:
  using Row = std::vector<std::int64_t>;
  static std::size_t index(std::int64_t n) { return static_cast<std::size_t>(n); }

  /// With more layers a stage takes longer, and the slowest of the later stages no longer. The maximum of
  /// both thus falls and then rises with the count, and only counts around its minimum need their other times
  /// compared.
  void add_before(std::size_t stage) {
    std::vector<Times> best;
    const std::int64_t last = stage == 0 ? 0 : layers_;  // the first stage has the first layers
    for (std::int64_t from = 0; from <= last; ++from) {
      std::int64_t n = where_own_time_leads(stage, from);
      Picoseconds least = slowest(stage, from, n);
      while (n > 0 && slowest(stage, from, n - 1) <= least) least = slowest(stage, from, --n);
      Times times = with(rest(from + n), time_(stage, from, from + n));
      std::int64_t given = n;
      while (++n <= layers_ - from && slowest(stage, from, n) <= least) {
        Times other = with(rest(from + n), time_(stage, from, from + n));
        if (other > times) continue;
        times = std::move(other);
        given = n;
      }
      given_[stage][index(from)] = given;
      best.push_back(std::move(times));
    }
    best_ = std::move(best);
  }

  /// The fewest layers with which the stage is no faster than all after it.
  [[nodiscard]] std::int64_t where_own_time_leads(std::size_t stage, std::int64_t from) const {
    std::int64_t low = 0;
    std::int64_t high = layers_ - from;
    while (low < high) {
      const std::int64_t n = (low + high) / 2;
      if (time_(stage, from, from + n) >= rest(from + n).front()) {
        high = n;
      } else {
        low = n + 1;
      }
    }
    return low;
  }

  [[nodiscard]] Picoseconds slowest(std::size_t stage, std::int64_t from, std::int64_t n) const {
    return std::max(time_(stage, from, from + n), rest(from + n).front());
  }
  /// Returns the best times of the stages after the current one, with the layers from `from` on.
  [[nodiscard]] const Times& rest(std::int64_t from) const { return best_[index(from)]; }

  [[nodiscard]] std::vector<std::int64_t> collect() const {
    std::vector<std::int64_t> result;
    std::int64_t from = 0;
    for (const Row& given : given_) {
      result.push_back(given[index(from)]);
      from += result.back();
    }
    return result;
  }

  std::int64_t layers_;
  std::size_t stages_;
  const StageTime& time_;
  std::vector<Row> given_;   ///< [stage][first layer]: how many it gets
  std::vector<Times> best_;  ///< [first layer]: of the stages so far
};

}  // namespace

std::vector<std::int64_t> divide_layers(std::int64_t layers, std::size_t stages, const StageTime& time) {
  return Division(layers, stages, time).run();
}

}  // namespace orrery
