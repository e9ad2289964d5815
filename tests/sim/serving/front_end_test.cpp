#include <doctest/doctest.h>

#include "serving_support.hpp"

namespace orrery {
namespace {

using serving_test::fixed_lengths;
using serving_test::keeps_laws;
using serving_test::LinearCost;

ServedRun served_behind(const FrontEnd& front_end, const Inference& inference, IterationCost& cost) {
  return serve({inference, 1'000'000, 1, {0, 0, 1, 1'000'000}, 1, front_end}, cost);
}

TEST_CASE("requests that come together leave the front end one service time after the other") {
  LinearCost cost;
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 1}, {0, 10, 1}, {0, 10, 1}, {0, 10, 1}});
  const ServedRun run = served_behind({3, 20'000, 0}, inference, cost);
  REQUIRE(keeps_laws(run, 1));
  // A prompt of 10 tokens takes 10'000, less than the 20'000 of the front end, so none waits for another.
  for (std::int64_t r = 0; r < 4; ++r) {
    const ServedRequest& request = run.requests[static_cast<std::size_t>(r)];
    CHECK(request.start_ps == (r + 1) * 20'000 + 3);
    CHECK(request.first_token_ps == (r + 1) * 20'000 + 3 + 10'000);
  }
}

TEST_CASE("a front end with a rate parts requests that a delay leaves together") {
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 1}, {0, 10, 1}});
  LinearCost cost;
  // Both prompts are in one iteration of 20'000 behind a delay. Behind a server the first one is alone.
  CHECK(served_behind({20'000, 0, 0}, inference, cost).requests[0].first_token_ps == 40'000);
  CHECK(served_behind({0, 20'000, 0}, inference, cost).requests[0].first_token_ps == 30'000);
}

TEST_CASE("tokens are with their client when the front end has sent them") {
  LinearCost cost;
  const ServedRun run = served_behind({0, 0, 7}, fixed_lengths(10, 3, 1, 1), cost);
  REQUIRE(keeps_laws(run, 1));
  CHECK(run.requests[0].first_token_ps == 10'000 + 7);
  CHECK(run.requests[0].end_ps == 10'000 + 2 * 100 + 7);  // the engine goes on meanwhile
}

TEST_CASE("the front end bounds the tokens of a second") {
  LinearCost cost;
  const Inference inference = fixed_lengths(1, 100, 8, 80);
  const ServedRun run = served_behind({0, 0, 1'000}, inference, cost);
  REQUIRE(keeps_laws(run, 1));
  // A pass of 8 requests takes 800 and its messages 8'000: 8'000 tokens need 8'000 x 1'000, after the first
  // prompt.
  CHECK(run.serving.duration_ps >= 8'000'000);
  CHECK(run.serving.duration_ps <= 8'000'000 + 10 * 8'000);
}

TEST_CASE("new requests wait for the next look of a scheduler that does not look before every pass") {
  LinearCost cost;
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 100}, {10'050, 10, 1}});
  inference.recv_interval = 30;
  const ServedRun run = served_behind({}, inference, cost);
  REQUIRE(keeps_laws(run, 1));
  // The first prompt ends at 10'000. After a pass with prompts the scheduler looks and sees nobody; it looks
  // again after 30 passes of 100, of which the other request comes in the first one.
  CHECK(run.requests[1].start_ps == 10'000 + 30 * 100);
  inference.recv_interval = 1;
  CHECK(served_behind({}, inference, cost).requests[1].start_ps == 10'000 + 100);
}

TEST_CASE("a scheduler without work looks for requests at once") {
  LinearCost cost;
  Inference inference;
  inference.trace = RequestTrace({{0, 10, 2}, {50'000, 10, 1}});
  inference.recv_interval = 30;
  CHECK(served_behind({}, inference, cost).requests[1].start_ps == 50'000);
}

}  // namespace
}  // namespace orrery
