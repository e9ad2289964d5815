// Layers divided over stages, against all ways there are.
#include "sim/choices/divide_layers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

using namespace orrery;

namespace {

using Layers = std::vector<std::int64_t>;

/// Orders two divisions as the search promises.
struct Best {
  std::vector<Picoseconds> times;  ///< in descending order
  Layers layers;

  [[nodiscard]] bool after(const Best& other) const {
    return times == other.times ? layers > other.layers : times < other.times;
  }
};

/// Finds the best division by trying all of them.
Layers brute_force(std::int64_t layers, std::size_t stages, const StageTime& time) {
  Best best;
  Best one{std::vector<Picoseconds>(stages), Layers(stages)};
  const std::function<void(std::size_t, std::int64_t)> walk = [&](std::size_t stage, std::int64_t from) {
    const std::int64_t least = stage + 1 == stages ? layers - from : 0;
    for (std::int64_t n = least; n <= layers - from; ++n) {
      one.layers[stage] = n;
      one.times[stage] = time(stage, from, from + n);
      if (stage + 1 < stages) {
        walk(stage + 1, from + n);
        continue;
      }
      Best sorted = one;
      std::ranges::sort(sorted.times, std::greater<>());
      if (best.layers.empty() || sorted.after(best)) best = sorted;
    }
  };
  walk(0, 0);
  return best.times.front() == kNoRoom ? Layers{} : best.layers;
}

/// Stages of random speed, layers of few random times, so that many divisions are equally good.
struct RandomModel {
  explicit RandomModel(std::uint64_t seed) : random(seed) {
    layers = static_cast<std::int64_t>(random() % 10);
    stages = 1 + random() % 5;
    for (std::int64_t i = 0; i < layers; ++i) cost.push_back(static_cast<Picoseconds>(1 + random() % 3));
    for (std::size_t i = 0; i < stages; ++i) {
      slowness.push_back(static_cast<Picoseconds>(1 + random() % 2));
      own.push_back(random() % 3 == 0 ? static_cast<Picoseconds>(random() % 9) : 0);
      room.push_back(random() % 4 == 0 ? static_cast<std::int64_t>(random() % 4) : layers);
    }
  }
  [[nodiscard]] Picoseconds time(std::size_t stage, std::int64_t from, std::int64_t to) const {
    if (to - from > room[stage]) return kNoRoom;
    Picoseconds sum = own[stage];
    for (std::int64_t i = from; i < to; ++i) sum += slowness[stage] * cost[static_cast<std::size_t>(i)];
    return sum;
  }

  std::mt19937_64 random;
  std::int64_t layers = 0;
  std::size_t stages = 1;
  std::vector<Picoseconds> cost, slowness, own;
  Layers room;
};

}  // namespace

TEST_CASE("layers are divided as well as in the best of all divisions") {
  int impossible = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    const RandomModel model(seed);
    const StageTime time = [&](std::size_t stage, std::int64_t from, std::int64_t to) {
      return model.time(stage, from, to);
    };
    const Layers divided = divide_layers(model.layers, model.stages, time);
    CHECK(divided == brute_force(model.layers, model.stages, time));
    impossible += divided.empty() ? 1 : 0;
  }
  CHECK(impossible > 10);
  CHECK(impossible < 1000);
}

TEST_CASE("of equally good divisions the first stages get most layers") {
  const StageTime even = [](std::size_t, std::int64_t from, std::int64_t to) { return to - from; };
  CHECK(divide_layers(10, 4, even) == Layers{3, 3, 2, 2});
  // The last stage takes as long as two layers by itself: 3 + 3 + 3 + (1 + 2).
  const StageTime head = [](std::size_t stage, std::int64_t from, std::int64_t to) {
    return to - from + (stage == 3 ? 2 : 0);
  };
  CHECK(divide_layers(10, 4, head) == Layers{3, 3, 3, 1});
  CHECK(divide_layers(2, 4, even) == Layers{1, 1, 0, 0});
}

TEST_CASE("a slow stage gets fewer layers, and none where it has no room") {
  const StageTime slow = [](std::size_t stage, std::int64_t from, std::int64_t to) {
    return (stage == 1 ? 3 : 1) * (to - from);
  };
  CHECK(divide_layers(7, 3, slow) == Layers{3, 1, 3});
  const StageTime full = [](std::size_t stage, std::int64_t from, std::int64_t to) {
    return stage == 1 && to > from ? kNoRoom : to - from;
  };
  CHECK(divide_layers(7, 3, full) == Layers{4, 0, 3});
}
