#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "serving_support.hpp"
#include "sim/serving/kv_cache_usage.hpp"
#include "sim/serving/measure.hpp"
#include "sim/serving/random_stream.hpp"
#include "sim/serving/requests.hpp"
#include "sim/serving/running_batch.hpp"

namespace orrery {
namespace {

using serving_test::fixed_lengths;
using serving_test::keeps_laws;
using serving_test::LinearCost;
using serving_test::served;

struct RandomRun {
  Inference inference;
  std::int64_t cache_tokens = 0;
  std::int64_t replicas = 1;
  std::int64_t stages = 1;
  FrontEnd front_end{};
};

/// Draws any combination of serving keys, with a KV cache that is often too small.
RandomRun random_run(std::uint64_t seed) {
  RandomStream draws(seed, 100);
  RandomRun run;
  Inference& i = run.inference;
  i.prompt = {static_cast<LengthKind>(draws.integer(0, 2)), 40, 30, 1, 120};
  i.output = {static_cast<LengthKind>(draws.integer(0, 2)), 30, 30, 1, 100};
  i.batching = draws.integer(0, 3) == 0 ? Batching::fixed : Batching::continuous;
  i.batch_size = draws.integer(0, 20);
  i.requests = draws.integer(1, 150);
  i.requests_per_s = 1e6 * static_cast<double>(draws.integer(0, 1) * draws.integer(1, 100));
  i.page_tokens = draws.integer(1, 20);
  i.prefix_reuse = draws.integer(0, 1) == 1 ? 0.6 : 0.0;
  run.replicas = draws.integer(1, 4);
  run.stages = draws.integer(1, 4);
  run.cache_tokens = draws.integer(300, 2000);
  if (draws.integer(0, 1) == 1)
    run.front_end = {draws.integer(0, 900), draws.integer(0, 900), draws.integer(0, 90)};
  if (i.batching == Batching::fixed) return run;
  if (draws.integer(0, 1) == 1) i.speculation = {draws.integer(1, 4), 0.6, 0.1};
  i.chunked_prefill = draws.integer(0, 1) == 1;
  i.guaranteed_no_evict = draws.integer(0, 1) == 1;
  i.recv_interval = draws.integer(0, 1) == 1 ? draws.integer(2, 20) : 1;
  if (i.chunked_prefill) i.max_batched_tokens = draws.integer(5, 60);
  if (run.replicas > 1 && draws.integer(0, 1) == 1) i.disaggregated = {draws.integer(1, run.replicas - 1), 0};
  if (i.is_disaggregated()) i.disaggregated.decode = run.replicas - i.disaggregated.prefill;
  return run;
}

LinearCost cost_of(const RandomRun& run) {
  LinearCost cost;
  cost.speeds.assign(static_cast<std::size_t>(run.stages), 3);
  cost.speeds.back() = 4;
  cost.context_ps = 1;
  cost.handover = 5;
  cost.host_ps = 13;
  cost.token_transfer_ps = 20;
  return cost;
}

TEST_CASE("every request ends once and leaves nothing behind, whatever is asked for") {
  std::int64_t preemptions = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    const RandomRun run = random_run(seed);
    LinearCost cost = cost_of(run);
    const ServedRun result = serve(
        {run.inference, 1'000'000, run.replicas, {0, 0, 1, run.cache_tokens}, seed, run.front_end}, cost);
    REQUIRE(keeps_laws(result, cost.stages()));
    CHECK(result.serving.requests == run.inference.requests);
    CHECK(result.serving.cache_peak <= 1);
    preemptions += result.serving.preemptions;
  }
  CHECK(preemptions > 100);  // the cache was often too small
}

TEST_CASE("the tokens of all iterations are the tokens of all requests and those computed again") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    RandomRun run = random_run(seed);
    run.inference.speculation = {};
    run.inference.batching = Batching::continuous;
    LinearCost cost = cost_of(run);
    const ServedRun result = served(run.inference, cost, run.cache_tokens, run.replicas, seed);
    std::int64_t computed = 0;
    for (const IterationBatch& batch : cost.seen) computed += batch.tokens();
    std::int64_t needed = 0;
    for (const ServedRequest& request : result.requests)
      needed += request.most_cached() - reused_tokens(run.inference, request.spec.prompt_tokens);
    CHECK(computed == needed + result.serving.recomputed_tokens);
  }
}

TEST_CASE("the same seed serves the same on any thread, another seed otherwise") {
  const RandomRun run = random_run(6);
  const auto ends = [&run](std::uint64_t seed) {
    LinearCost cost = cost_of(run);
    std::vector<Picoseconds> times;
    for (const ServedRequest& r : served(run.inference, cost, run.cache_tokens, run.replicas, seed).requests)
      times.push_back(r.end_ps);
    return times;
  };
  const std::vector<Picoseconds> here = ends(3);
  std::vector<std::vector<Picoseconds>> there(4);
  std::vector<std::thread> threads;
  for (auto& times : there) threads.emplace_back([&times, &ends] { times = ends(3); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& times : there) CHECK(times == here);
}

TEST_CASE("a server never rests while requests wait") {
  LinearCost cost;
  Inference inference = fixed_lengths(20, 10, 4, 500);
  inference.requests_per_s = 1e9;  // far more than it can serve
  const ServedRun run = served(inference, cost);
  REQUIRE(keeps_laws(run, 1));
  CHECK(run.serving.times.idle_ps == 0);
}

TEST_CASE("arrivals beyond capacity are reported with the growth of the queue") {
  LinearCost cost;
  // A request takes 20'000 + 10 * 100 alone at least: 47.6e6 a second, fewer in batches by the passes saved
  Inference inference = fixed_lengths(20, 11, 4, 2000);
  inference.requests_per_s = 90e6;
  const ServedRun beyond = served(inference, cost);
  REQUIRE(keeps_laws(beyond, 1));
  CHECK(beyond.serving.unstable == true);
  const double capacity = beyond.serving.requests_per_s();
  CHECK(beyond.serving.queue_growth_per_s == doctest::Approx(90e6 - capacity).epsilon(0.1));
  inference.requests_per_s = 0.8 * capacity;
  CHECK(served(inference, cost).serving.unstable == false);
}

TEST_CASE("a cache that cannot hold a request, or not even the weights, says so") {
  LinearCost cost;
  const Inference inference = fixed_lengths(100, 30, 1, 1);
  CHECK(served(inference, cost, 144).obstacle.empty());  // 129 tokens are 9 pages of 16
  CHECK(served(inference, cost, 143).obstacle ==
        "the cache of 0.0 GB a GPU holds 128 tokens, a request needs 129");
  const ServedRun none = serve({inference, 1000, 1, {80'000'000'000, 0, 1, 72'000'000'000}, 0}, cost);
  CHECK(none.obstacle == "weights of 80.0 GB and activations of 0.0 GB do not fit into the 72.0 GB of a GPU");
}

TEST_CASE("the youngest request gives up its pages") {
  LinearCost cost;
  Inference inference;
  inference.page_tokens = 1;
  inference.trace = RequestTrace({{0, 10, 10}, {0, 10, 10}});
  const ServedRun run = served(inference, cost, 30);
  REQUIRE(keeps_laws(run, 1));
  CHECK(run.serving.preemptions == 1);
  CHECK(run.requests[0].end_ps == 20'000 + 5 * 200 + 4 * 100);
  // Both hold 15 tokens when the cache is full; the second one computes those and the one made last again.
  CHECK(run.serving.recomputed_tokens == 15);
  CHECK(run.requests[1].end_ps == run.requests[0].end_ps + 16'000 + 3 * 100);
}

TEST_CASE("drawn lengths and gaps have their means, and stay within their limits") {
  Inference inference;
  inference.prompt = {LengthKind::log_normal, 200, 150, 1, 0};
  inference.output = {LengthKind::uniform, 0, 0, 10, 30};
  inference.requests_per_s = 5;
  const auto requests = make_requests(inference, 100'000, 20'000, 1).requests;
  double prompts = 0;
  double squares = 0;
  double outputs = 0;
  for (const RequestSpec& request : requests) {
    CHECK_FALSE((request.output_tokens < 10 || request.output_tokens > 30));
    prompts += static_cast<double>(request.prompt_tokens) / 20'000;
    squares += std::pow(static_cast<double>(request.prompt_tokens), 2) / 20'000;
    outputs += static_cast<double>(request.output_tokens) / 20'000;
  }
  CHECK(prompts == doctest::Approx(200).epsilon(0.02));
  CHECK(std::sqrt(squares - prompts * prompts) == doctest::Approx(150).epsilon(0.05));
  CHECK(outputs == doctest::Approx(20).epsilon(0.01));
  CHECK(to_seconds(requests.back().arrival_ps) == doctest::Approx(20'000 / 5.0).epsilon(0.02));
}

TEST_CASE("exponentials and logarithms are the library's") {
  for (double x = -600; x < 600; x += 7.3)
    CHECK(portable_exp(x) == doctest::Approx(std::exp(x)).epsilon(1e-12));
  for (double x = 1; x < 1e9; x *= 1.7) CHECK(portable_log(x) == doctest::Approx(std::log(x)).epsilon(1e-13));
  CHECK(std::abs(portable_log(1)) < 1e-15);
}

TEST_CASE("percentiles are nearest ranks") {
  std::vector<double> values;
  for (int i = 100; i > 0; --i) values.push_back(i);
  const Distribution d = distribution_of(values);
  CHECK(d.mean == 50.5);
  CHECK(d.p50 == 50);
  CHECK(d.p90 == 90);
  CHECK(d.p99 == 99);
  CHECK(distribution_of({3.0}).p99 == 3);
  CHECK(distribution_of({1.0, 2.0}).p50 == 1);
  CHECK(distribution_of({}).mean == 0);
}

TEST_CASE("means over intervals keep the sum over time") {
  KvCacheUsage meter;
  meter.set(0, 3);
  meter.set(2'500'000'000, 8);
  meter.set(4'000'000'001, 0);
  CHECK(meter.total() == Int128{3} * 2'500'000'000 + Int128{8} * 1'500'000'001);
  const auto use = meter.use(10, 4'000'000'001);
  CHECK(use.size() <= 512);
  CHECK(use.front().share == doctest::Approx(0.3));
  CHECK(use.back().until_ps == 4'000'000'001);
  double sum = 0;
  Picoseconds before = 0;
  for (const CacheUse& one : use)
    sum += one.share * 10 * static_cast<double>(one.until_ps - std::exchange(before, one.until_ps));
  CHECK(sum == doctest::Approx(static_cast<double>(meter.total())));
}

}  // namespace
}  // namespace orrery
