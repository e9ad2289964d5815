// Times between the tokens of requests, as they come out of batches.
#include "sim/serving/token_gaps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "serving_support.hpp"

namespace orrery {
namespace {

using serving_test::fixed_lengths;
using serving_test::keeps_laws;
using serving_test::LinearCost;
using serving_test::served;

TEST_CASE("percentiles of counted gaps are those of the sorted ones, to a thousandth") {
  std::mt19937_64 random(7);
  TokenGaps gaps;
  std::vector<Picoseconds> all;
  for (int i = 0; i < 5000; ++i) {
    const auto gap = static_cast<Picoseconds>(random() >> (random() % 60 + 4));
    gaps.add(gap, 1 + i % 3);
    all.insert(all.end(), static_cast<std::size_t>(1 + i % 3), gap);
  }
  std::ranges::sort(all);
  const Distribution found = gaps.distribution();
  const auto nearest = [&](std::size_t percent) {
    return to_seconds(all[(percent * all.size() + 99) / 100 - 1]);
  };
  CHECK(found.p50 >= nearest(50));
  CHECK(found.p50 <= 1.001 * nearest(50));
  CHECK(found.p95 >= nearest(95));
  CHECK(found.p95 <= 1.001 * nearest(95));
  CHECK(gaps.count() == static_cast<std::int64_t>(all.size()));
}

TEST_CASE("a prompt that goes whole holds up the tokens of those that decode") {
  LinearCost cost;
  cost.pass_ps = 1000;
  cost.request_ps = 0;
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 4}, {10'500, 20, 2}});
  inference.batch_size = 2;
  const ServedRun run = served(inference, cost);
  REQUIRE(keeps_laws(run, 1));
  // The first one's prompt ends at 10'000, its second token at 11'000; the other prompt takes 20'000 from
  // there, and holds its third one up until 32'000; the fourth comes at 33'000. The second one's token:
  // 31'000 to 32'000.
  CHECK(run.serving.inter_token_latency_s.mean == doctest::Approx((1000 + 21'000 + 1000 + 1000) / 4 * 1e-12));
  CHECK(run.serving.inter_token_latency_s.p99 == doctest::Approx(21e-9).epsilon(0.001));
  CHECK(run.serving.inter_token_latency_s.p50 == doctest::Approx(1e-9).epsilon(0.001));
}

TEST_CASE("tokens of a request that lost its pages come when it is computed again") {
  LinearCost cost;
  // Two requests of 16 + 40 tokens in a cache for 80: the younger gives way.
  const ServedRun run = served(fixed_lengths(16, 40, 2, 2), cost, 80);
  REQUIRE(run.serving.preemptions > 0);
  CHECK(keeps_laws(run, 1));
}

}  // namespace
}  // namespace orrery
