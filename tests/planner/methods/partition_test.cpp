// Partitions of layers over stages: dynamic programming and integer programming against all there are.
#include "planner/methods/partition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "planner/methods/partition_ilp.hpp"
#include "tests/sanitized.hpp"

using namespace orrery;

namespace {

/// Stages of random speed on one or two kinds of GPU with room for some layers, and for more that are
/// computed again.
struct RandomPipeline {
  explicit RandomPipeline(std::uint64_t seed) : random(seed) {
    problem.layers = below(7);
    problem.stages = static_cast<std::size_t>(1 + below(4));
    const auto second = static_cast<std::size_t>(below(static_cast<std::int64_t>(problem.stages) + 1));
    problem.kinds = {problem.stages - second, second};
    problem.micro_batches = 1 + below(9);
    for (std::int64_t i = 0; i < problem.layers; ++i) {
      layer_ps.push_back(1 + below(5));
      again_ps.push_back(1 + below(2));
    }
    for (std::size_t kind = 0; kind < 2; ++kind) {
      slowness.push_back(1 + below(3));
      room.push_back(2 + below(6));
    }
    for (std::size_t stage = 0; stage < problem.stages; ++stage) own_ps.push_back(below(4) * below(3));
    problem.option = [this](std::size_t stage, std::size_t kind, std::int64_t from, std::int64_t to) {
      return option(stage, kind, from, to);
    };
  }

  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  }

  /// A layer takes 2 of the room, or 1 where it is computed again.
  std::optional<StageOption> option(std::size_t stage, std::size_t kind, std::int64_t from,
                                    std::int64_t to) const {
    const std::int64_t recomputed = std::max<std::int64_t>(0, 2 * (to - from) - room[kind]);
    if (recomputed > to - from) return {};
    Picoseconds pass = own_ps[stage];
    for (std::int64_t layer = from; layer < to; ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      pass += slowness[kind] * (layer_ps[at] + (layer - from < recomputed ? again_ps[at] : 0));
    }
    return StageOption{pass, 3 * (to - from), recomputed};
  }

  PartitionProblem problem;
  std::mt19937_64 random;
  std::vector<Picoseconds> layer_ps, again_ps, own_ps;
  std::vector<std::int64_t> slowness, room;
};

/// The least cost of all partitions, one by one; nothing where there is none.
std::optional<Int128> least_of_all(const PartitionProblem& problem) {
  std::optional<Int128> least;
  Partition partition;
  std::vector<std::size_t> left = problem.kinds;
  const std::function<void(std::int64_t)> walk = [&](std::int64_t from) {
    const std::size_t stage = partition.size();
    if (stage == problem.stages) {
      if (from == problem.layers && (!least || cost_of(problem, partition) < *least))
        least = cost_of(problem, partition);
      return;
    }
    for (std::size_t kind = 0; kind < left.size(); ++kind) {
      if (left[kind] == 0) continue;
      --left[kind];
      for (std::int64_t to = from; to <= problem.layers; ++to) {
        const auto option = problem.option(stage, kind, from, to);
        if (!option) continue;
        partition.push_back({kind, to - from, *option});
        walk(to);
        partition.pop_back();
      }
      ++left[kind];
    }
  };
  walk(0);
  return least;
}

/// Checks a partition of all layers, on as many stages of each kind as there are.
void check_whole(const PartitionProblem& problem, const Partition& partition) {
  REQUIRE(partition.size() == problem.stages);
  std::vector<std::size_t> kinds(problem.kinds.size(), 0);
  std::int64_t layers = 0;
  for (const PlacedStage& stage : partition) {
    ++kinds[stage.kind];
    layers += stage.layers;
  }
  CHECK(kinds == problem.kinds);
  CHECK(layers == problem.layers);
}

}  // namespace

TEST_CASE("dynamic programming finds the cheapest of all partitions") {
  int without_room = 0;
  for (std::uint64_t seed = 0; seed < test::trials(600); ++seed) {
    CAPTURE(seed);
    const RandomPipeline pipeline(seed);
    const std::optional<Int128> least = least_of_all(pipeline.problem);
    const Partition found = partition_by_dp(pipeline.problem);
    CHECK(found.empty() == !least.has_value());
    without_room += least ? 0 : 1;
    if (!least) continue;
    check_whole(pipeline.problem, found);
    CHECK(cost_of(pipeline.problem, found) == *least);
  }
  CHECK(without_room > test::trials(20));
  CHECK(without_room < test::trials(300));
}

TEST_CASE("integer programming finds the same") {
  if (!has_integer_solver()) return;
  for (std::uint64_t seed = 0; seed < test::trials(120); ++seed) {
    CAPTURE(seed);
    const RandomPipeline pipeline(seed);
    const Partition dp = partition_by_dp(pipeline.problem);
    const IlpPartition ilp = partition_by_ilp(pipeline.problem, 60);
    CHECK(ilp.optimal);
    CHECK(ilp.partition.empty() == dp.empty());
    if (dp.empty()) continue;
    check_whole(pipeline.problem, ilp.partition);
    CHECK(cost_of(pipeline.problem, ilp.partition) == cost_of(pipeline.problem, dp));
    CHECK(ilp.bound == doctest::Approx(static_cast<double>(cost_of(pipeline.problem, dp))));
  }
}

TEST_CASE("a slow stage is given fewer layers, unless few micro-batches wait for it") {
  // Two stages, GPUs of the first twice as slow, 6 layers of 10 ps. n layers on the first: (m - 1) max(20 n,
  // 60 - 10 n) + 20 n + 60 - 10 n. With m = 1 that is 60 + 10 n: none at all. With m = 4 it is 3 * 60 + 60
  // for n = 0, 3 * 50 + 70 for n = 1, 3 * 40 + 80 = 200 for n = 2, 3 * 60 + 90 for n = 3.
  PartitionProblem problem;
  problem.layers = 6;
  problem.stages = 2;
  problem.kinds = {2};
  problem.option = [](std::size_t stage, std::size_t, std::int64_t from, std::int64_t to) {
    return std::optional(StageOption{(stage == 0 ? 20 : 10) * (to - from), 0, 0});
  };
  const auto first_layers = [&](std::int64_t micro_batches) {
    problem.micro_batches = micro_batches;
    return partition_by_dp(problem).front().layers;
  };
  CHECK(first_layers(1) == 0);
  CHECK(first_layers(9) == 2);
  problem.micro_batches = 4;
  CHECK(cost_of(problem, partition_by_dp(problem)) == 200);
  // On GPUs of two kinds the slow ones come where the model is cheap: a head of 25 ps on the last stage.
  problem.kinds = {1, 1};
  problem.micro_batches = 9;
  problem.option = [](std::size_t stage, std::size_t kind, std::int64_t from, std::int64_t to) {
    const Picoseconds work = 10 * (to - from) + (stage == 1 ? 25 : 0);
    return std::optional(StageOption{work * (kind == 1 ? 2 : 1), 0, 0});
  };
  // 85 ps of work: slow first with n layers takes 20 n beside 85 - 10 n, 60 at n = 3: 8 * 60 + 115 = 595; n =
  // 2: 8 * 65 + 105 = 625. Slow last with the head: (25 + 10 k) 2 beside 60 - 10 k: k = 0: 8 * 60 + 110 =
  // 590.
  const Partition placed = partition_by_dp(problem);
  CHECK(cost_of(problem, placed) == 590);
  CHECK(placed[0].kind == 0);
  CHECK(placed[0].layers == 6);
  CHECK(placed[1].kind == 1);
}
