#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "orrery/error.hpp"
#include "serving_support.hpp"
#include "sim/serving/requests.hpp"

namespace orrery {
namespace {

using serving_test::fixed_lengths;
using serving_test::keeps_laws;
using serving_test::LinearCost;
using serving_test::served;

TEST_CASE("one request takes its prompt's pass and one pass for each further token") {
  LinearCost cost;
  cost.context_ps = 3;
  cost.host_ps = 7;
  const ServedRun run = served(fixed_lengths(100, 5, 1, 1), cost);
  REQUIRE(keeps_laws(run, 1));
  // prompt: 100 * 1000 + 7; token i = 1..4 after it: 100 + 3 * (100 + i) + 7
  CHECK(run.requests[0].first_token_ps == 100'007);
  CHECK(run.requests[0].end_ps == 100'007 + 4 * 107 + 3 * (101 + 102 + 103 + 104));
  CHECK(run.serving.tpot_s.mean == doctest::Approx((4 * 107 + 3 * 410) / 4 * 1e-12));
  CHECK(run.serving.times.prefill_ps == 100'000);
  CHECK(run.serving.times.decode_ps == 400 + 3 * 410);
  CHECK(run.serving.times.host_ps == 5 * 7);
  CHECK(run.serving.iterations == 5);
}

TEST_CASE("a batch of b requests of one length goes together") {
  for (const Batching batching : {Batching::continuous, Batching::fixed}) {
    CAPTURE(batching);
    LinearCost cost;
    cost.pass_ps = 5000;
    Inference inference = fixed_lengths(10, 21, 8, 16);
    inference.batching = batching;
    const ServedRun run = served(inference, cost);
    REQUIRE(keeps_laws(run, 1));
    // Twice: 8 prompts of 10 tokens, 80'000, and 20 passes of 5000 + 8 * 100 = 5800: 116'000
    CHECK(run.serving.duration_ps == 2 * 196'000);
    CHECK(run.serving.ttft_s.p99 == doctest::Approx(80e-9));
    CHECK(run.serving.tpot_s.p50 == doctest::Approx(5.8e-9));
    CHECK(run.serving.output_tokens_per_s() == doctest::Approx(16 * 21 / 392e-9));
    CHECK(run.serving.batch_mean == 8);
  }
}

TEST_CASE("rows of ended requests stay in a static batch, and leave a continuous one") {
  LinearCost cost;
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 2}, {0, 10, 4}});
  inference.batch_size = 2;
  inference.batching = Batching::fixed;
  // 20 prompt tokens, then 3 passes with two rows
  CHECK(served(inference, cost).serving.duration_ps == 20'000 + 3 * 200);
  inference.batching = Batching::continuous;
  CHECK(served(inference, cost).serving.duration_ps == 20'000 + 200 + 2 * 100);
}

TEST_CASE("a static batch waits until it is full, the last one until no more come") {
  LinearCost cost;
  Inference inference;
  inference.trace = RequestTrace({{0, 1, 1}, {50'000, 1, 1}, {60'000, 1, 1}});
  inference.batch_size = 2;
  inference.batching = Batching::fixed;
  const ServedRun run = served(inference, cost);
  REQUIRE(keeps_laws(run, 1));
  CHECK(run.requests[0].end_ps == 52'000);
  CHECK(run.requests[2].end_ps == 61'000);
}

TEST_CASE("whole prompts hold decoding up, chunks go beside it") {
  LinearCost cost;
  cost.pass_ps = 1000;
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 11}, {10'001, 100, 1}});
  const ServedRun whole = served(inference, cost);
  REQUIRE(keeps_laws(whole, 1));
  // The first request's pass until 11'100, the second one's prompt until 111'100, nine more passes
  CHECK(whole.requests[1].first_token_ps == 111'100);
  CHECK(whole.requests[0].end_ps == 111'100 + 9 * 1100);
  inference.chunked_prefill = true;
  inference.max_batched_tokens = 26;
  const ServedRun chunked = served(inference, cost);
  REQUIRE(keeps_laws(chunked, 1));
  // Four iterations of a pass and 25 tokens each, 26'100, then five passes alone
  CHECK(chunked.requests[1].first_token_ps == 11'100 + 4 * 26'100);
  CHECK(chunked.requests[0].end_ps == 11'100 + 4 * 26'100 + 5 * 1100);
  CHECK(chunked.serving.times.mixed_ps == 4 * 26'100);
}

TEST_CASE("where the cost is linear, a chunked prompt takes as long as a whole one") {
  for (const std::int64_t chunk : {1, 7, 100, 333, 1000, 5000}) {
    CAPTURE(chunk);
    LinearCost cost;
    Inference inference = fixed_lengths(1000, 1, 1, 3);
    inference.chunked_prefill = true;
    inference.max_batched_tokens = chunk;
    const ServedRun run = served(inference, cost);
    REQUIRE(keeps_laws(run, 1));
    CHECK(run.serving.duration_ps == 3'000'000);
    std::int64_t pairs = 0;
    for (const IterationBatch& batch : cost.seen) pairs += batch.prompt_pairs;
    CHECK(pairs == 3 * 1000 * 1001 / 2);  // every token attends to those before it and itself
  }
}

TEST_CASE("the throughput of a pipeline is that of its slowest stage") {
  LinearCost cost;
  cost.prompt_ps = 100;
  cost.speeds = {2, 5, 3, 4};
  cost.handover = 11;
  const ServedRun run = served(fixed_lengths(1, 1000, 8, 8), cost);
  REQUIRE(keeps_laws(run, 4));
  // Four schedulers of two requests: the slowest stage takes 5 * 200 ps for each of 1000 passes of a
  // scheduler, and is never idle from the first to the last one.
  CHECK(run.serving.duration_ps == 2 * 200 + 11 + 4 * 1000 * 5 * 200 + 11 + 3 * 200 + 11 + 4 * 200);
}

TEST_CASE("N pipelines pass N tokens in the time of their slowest stage") {
  // The law of throughput: of N instances whose slowest stage takes t, N / t once they are full. Four stages
  // hold four schedulers of one request; a pass of a scheduler through the slowest stage takes 5 * 100 ps.
  for (const std::int64_t instances : {1, 2, 4}) {
    LinearCost cost;
    cost.prompt_ps = 100;
    cost.speeds = {2, 5, 3, 4};
    constexpr std::int64_t kPasses = 1000;
    const ServedRun run = served(fixed_lengths(1, kPasses, 4, 4 * instances), cost, 1'000'000, instances);
    REQUIRE(keeps_laws(run, 4));
    const Picoseconds fill = (2 + 3 + 4) * 100;
    CHECK(run.serving.duration_ps == fill + 4 * kPasses * 5 * 100);
    CHECK(run.serving.output_tokens == 4 * kPasses * instances);
  }
}

TEST_CASE("replicas share requests evenly") {
  LinearCost cost;
  for (const std::int64_t replicas : {1, 2, 4, 8}) {
    CAPTURE(replicas);
    const ServedRun run = served(fixed_lengths(10, 11, 4, 64), cost, 1'000'000, replicas);
    REQUIRE(keeps_laws(run, 1));
    // 64 / replicas / 4 batches, each 40'000 + 10 * 400
    CHECK(run.serving.duration_ps == 16 / replicas * 44'000);
    CHECK(run.serving.busy_share() == doctest::Approx(1));
  }
}

TEST_CASE("replicas for outputs get keys and values from those for prompts") {
  LinearCost cost;
  cost.token_transfer_ps = 50;
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 3}, {0, 10, 3}});
  inference.max_batched_tokens = 10;  // one prompt at a time
  inference.disaggregated = {1, 1};
  const ServedRun run = served(inference, cost, 1000, 2);
  REQUIRE(keeps_laws(run, 1));
  CHECK(run.requests[0].first_token_ps == 10'000);
  CHECK(run.requests[0].transfer_start_ps == 10'000);
  CHECK(run.requests[0].end_ps == 10'500 + 2 * 100);
  CHECK(run.requests[1].first_token_ps == 20'000);
  CHECK(run.requests[1].end_ps == 20'500 + 2 * 100);
  CHECK(run.serving.times.idle_ps == 2 * 20'700 - 20'000 - 400);
}

TEST_CASE("keys and values leave a replica one request after the other") {
  LinearCost cost;
  cost.token_transfer_ps = 50;
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 3}, {0, 10, 3}});
  inference.disaggregated = {1, 1};
  const ServedRun run = served(inference, cost, 1000, 2);
  REQUIRE(keeps_laws(run, 1));
  CHECK(run.requests[0].transfer_start_ps == 20'000);
  CHECK(run.requests[1].transfer_start_ps == 20'500);
}

TEST_CASE("a prefix that is there already is neither computed nor sent nor held twice") {
  LinearCost cost;
  Inference inference = fixed_lengths(100, 2, 2, 2);
  inference.prefix_reuse = 0.5;
  inference.page_tokens = 16;
  const ServedRun run = served(inference, cost, 16 * 11);
  REQUIRE(keeps_laws(run, 1));
  // 50 tokens are three whole pages: 52 tokens to compute. Pages: 3 in common and 4 for each
  CHECK(run.requests[0].first_token_ps == 2 * 52'000);
  CHECK(run.serving.cache_peak == doctest::Approx(1));
  CHECK(cost.seen[0].prompt_pairs == 2 * (52 * 48 + 52 * 53 / 2));
  CHECK(cost.seen[0].prompt_context == 200);
}

TEST_CASE("speculation with every proposal taken makes k + 1 tokens a pass") {
  LinearCost cost;
  Inference inference = fixed_lengths(10, 21, 1, 1);
  inference.speculation = {3, 1, 0.1};
  const ServedRun run = served(inference, cost);
  REQUIRE(keeps_laws(run, 1));
  // 20 tokens in 5 passes: 100 ps each, and 3 proposals of 10 ps
  CHECK(run.serving.duration_ps == 10'000 + 5 * 130);
  inference.speculation.acceptance = 0;
  CHECK(served(inference, cost).serving.duration_ps == 10'000 + 20 * 130);
}

TEST_CASE("accepted tokens follow Leviathan's expectation") {
  LinearCost cost;
  Inference inference = fixed_lengths(1, 100'001, 1, 1);
  inference.speculation = {4, 0.7, 0};
  const ServedRun run = served(inference, cost);
  REQUIRE(keeps_laws(run, 1));
  // (1 - 0.7^5) / (1 - 0.7) = 2.7731 tokens a pass (Leviathan et al. 2023, equation 1)
  const double passes = static_cast<double>(run.serving.iterations - 1);
  CHECK(100'000 / passes == doctest::Approx(2.7731).epsilon(0.01));
}

}  // namespace

TEST_CASE("the front end delays requests on their way to the queue") {
  LinearCost cost;
  const Inference inference = fixed_lengths(20, 10, 1, 2);
  const ServedRun run = serve({inference, 1000, 1, {0, 0, 1, 1000}, 1, {5000, 0, 0}}, cost);
  REQUIRE(keeps_laws(run, 1));
  // 5,000, then a prompt of 20,000; nine passes of 100; the other request comes when this one has ended.
  CHECK(run.serving.ttft_s.mean == doctest::Approx(25'000e-12));
  CHECK(run.serving.tpot_s.mean == doctest::Approx(100e-12));
  CHECK(run.serving.duration_ps == 2 * (25'000 + 900));
}

TEST_CASE("requests that have the pages for all of it from the beginning on never lose them") {
  LinearCost cost;
  Inference inference = fixed_lengths(64, 97, 4, 4);  // prompts of 4 pages of 16, 10 in the end
  const ServedRun grown = served(inference, cost, 320);
  REQUIRE(keeps_laws(grown, 1));
  CHECK(grown.serving.batch_most == 4);  // 16 of 20 pages
  CHECK(grown.serving.preemptions > 0);
  inference.guaranteed_no_evict = true;
  const ServedRun reserved = served(inference, cost, 320);
  REQUIRE(keeps_laws(reserved, 1));
  CHECK(reserved.serving.batch_most == 2);
  CHECK(reserved.serving.preemptions == 0);
  CHECK(reserved.serving.cache_peak == 1);
}

TEST_CASE("keys and values come into a replica one request after the other") {
  LinearCost cost;
  cost.token_transfer_ps = 50;
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 3}, {0, 10, 3}});
  inference.disaggregated = {2, 1};
  const ServedRun run = served(inference, cost, 1000, 3);
  REQUIRE(keeps_laws(run, 1));
  CHECK(run.requests[1].replica == 1);
  CHECK(run.requests[1].first_token_ps == 10'000);  // at the same time as the other
  CHECK(run.requests[0].transfer_start_ps == 10'000);
  CHECK(run.requests[1].transfer_start_ps == 10'500);
}

TEST_CASE("replicas for outputs decode no more than an iteration holds") {
  LinearCost cost;
  Inference inference = fixed_lengths(1, 50, 100, 12);
  inference.chunked_prefill = true;
  inference.max_batched_tokens = 4;
  inference.disaggregated = {1, 1};
  const ServedRun run = served(inference, cost, 10'000, 2);
  REQUIRE(keeps_laws(run, 1));
  std::int64_t most = 0;
  for (const IterationBatch& batch : cost.seen) most = std::max(most, batch.tokens());
  CHECK(most == 4);
}

TEST_CASE("a static batch of a file of requests is as large as the cache allows for their mean lengths") {
  LinearCost cost;
  Inference inference;
  std::vector<RequestSpec> requests;
  for (Picoseconds r = 0; r < 10; ++r) requests.push_back({r * 1'000'000, 10, 3});
  inference.trace = RequestTrace(std::move(requests));
  inference.batching = Batching::fixed;
  const ServedRun run = served(inference, cost, 4 * 16);  // four pages, each for a request of 12 tokens
  REQUIRE(keeps_laws(run, 1));
  CHECK(run.requests[0].start_ps == 3'000'000);  // when the fourth has come
}

TEST_CASE("how many requests are served where nothing is said") {
  LinearCost cost;
  Inference inference = fixed_lengths(10, 5, 4, 0);
  CHECK(served(inference, cost, 1000, 2).serving.requests == 4 * 2);
  inference.output = {LengthKind::uniform, 5, 0, 2, 8};
  CHECK(served(inference, cost, 1000, 2).serving.requests == 10 * 4 * 2);
  inference.requests_per_s = 1e6;
  CHECK(served(inference, cost, 1000, 2).serving.requests == 1000);
  inference.batch_size = 1'000'000;
  CHECK_THROWS_AS(static_cast<void>(served(inference, cost, 1000, 100)), InputError);
  inference.batch_size = 4;
  inference.requests_per_s = 1e-6;  // 1000 of them take 32 years to come
  CHECK_THROWS_AS(static_cast<void>(served(inference, cost, 1000, 2)), InputError);
}

TEST_CASE("lengths that the context cuts leave room for the shortest output, and are counted") {
  Inference inference = fixed_lengths(0, 10, 1, 0);
  inference.prompt = {LengthKind::log_normal, 50, 40, 1, 0};
  const MadeRequests made = make_requests(inference, 64, 1000, 1);
  std::int64_t longest = 0;
  for (const RequestSpec& request : made.requests) {
    CHECK(request.output_tokens == 10);
    longest += request.prompt_tokens == 54 ? 1 : 0;
  }
  CHECK(made.cut > 100);
  CHECK(longest >= made.cut);
  inference.prompt.most = 54;  // as the experiment says
  CHECK(make_requests(inference, 64, 1000, 1).cut == 0);
}

TEST_CASE("log-normal lengths without deviation are all the mean") {
  Inference inference = fixed_lengths(0, 10, 1, 0);
  for (const double deviation : {0.0, 1e-9, 1e-7, 1e-3}) {
    CAPTURE(deviation);
    inference.prompt = {LengthKind::log_normal, 50, deviation, 1, 0};
    for (const RequestSpec& request : make_requests(inference, 1000, 100, 1).requests)
      CHECK(request.prompt_tokens == 50);
  }
}

TEST_CASE("replicas of two kinds serve at their own pace, and the free one is preferred") {
  LinearCost fast;
  LinearCost slow;
  slow.prompt_ps = 2 * fast.prompt_ps;
  slow.request_ps = 2 * fast.request_ps;
  const std::array<IterationCost*, 2> costs{&fast, &slow};
  // A slot each. The first request goes to the fast one, number 1, and the second to the other: 10'000 +
  // 100, and twice that. The third comes when the first has ended, to where a slot is, and ends with the
  // second.
  const Inference inference = fixed_lengths(10, 2, 1, 3);
  ServingSetup setup{inference, 1'000'000, 2, {}, 1};
  setup.mix = {{{0, 0, 1, 1000}, {0, 0, 1, 500}}, {1, 0}};
  const ServedRun run = serve(setup, costs);
  REQUIRE(keeps_laws(run, 1));
  CHECK(run.requests[0].replica == 1);
  CHECK(run.requests[0].end_ps == 10'100);
  CHECK(run.requests[1].replica == 0);
  CHECK(run.requests[1].end_ps == 20'200);
  CHECK(run.requests[2].replica == 1);
  CHECK(run.requests[2].end_ps == 20'200);
  REQUIRE(run.serving.groups.size() == 2);
  CHECK(run.serving.groups[0].requests == 2);
  CHECK(run.serving.groups[0].cache_tokens == 62 * 16);
  CHECK(run.serving.groups[0].busy_share() == 1);
  CHECK(run.serving.groups[1].requests == 1);
  CHECK(run.serving.groups[1].tpot_s == doctest::Approx(200e-12));
  CHECK(run.serving.cache_tokens == 31 * 16);
}

TEST_CASE("the queue grows by what comes less what ends, and few requests cannot tell") {
  LinearCost cost;
  cost.prompt_ps = 4000;
  const auto every_nanosecond = [](std::size_t count) {
    Inference inference;
    std::vector<RequestSpec> requests;
    for (std::size_t r = 0; r < count; ++r) requests.push_back({static_cast<Picoseconds>(r) * 1000, 1, 1});
    inference.trace = RequestTrace(std::move(requests));
    inference.batch_size = 1;
    return inference;
  };
  const Serving grows = served(every_nanosecond(40), cost).serving;
  // In the 19 ns after the 21st has come 19 come, and 4 end: after 24, 28, 32 and 36 ns. 15 > 3 sqrt(19)
  CHECK(grows.queue_growth_per_s == doctest::Approx(15 / 19e-9));
  CHECK(grows.late_ends_per_s == doctest::Approx(4 / 19e-9));
  CHECK(grows.unstable == true);
  // 9 come in 9 ns and 2 end: after 12 and 16 ns. sqrt(9) < 7 < 3 sqrt(9)
  CHECK_FALSE(served(every_nanosecond(20), cost).serving.unstable.has_value());
  cost.prompt_ps = 1000;
  CHECK(served(every_nanosecond(40), cost).serving.unstable == false);
}

}  // namespace orrery
