// Checks the record of a run: every moment in closed form, no effect on the run, and a bounded size.
#include <doctest/doctest.h>

#include "serving_support.hpp"
#include "sim/metrics/replica_memory.hpp"

namespace orrery {
namespace {

using serving_test::fixed_lengths;
using serving_test::keeps_laws;
using serving_test::LinearCost;

ServedRun recorded(const Inference& inference, IterationCost& cost, ServingRecord& record,
                   std::int64_t cache_tokens = 1'000'000, std::int64_t replicas = 1) {
  return serve({inference, 1'000'000, replicas, {0, 0, 1, cache_tokens}, 1}, cost, {&record});
}

bool is_span(const StageSpan& span, Picoseconds start, Picoseconds finish) {
  return span.start_ps == start && span.finish_ps == finish;
}

TEST_CASE("iterations are recorded with their stages and what is in them") {
  LinearCost cost;
  cost.speeds = {1, 2};
  cost.handover = 50;
  cost.host_ps = 7;
  ServingRecord record;
  const ServedRun run = recorded(fixed_lengths(10, 2, 1, 1), cost, record);
  REQUIRE(keeps_laws(run, 2));
  REQUIRE(record.iterations.size() == 2);
  CHECK(record.stages == 2);
  // A prompt of 10 tokens: 10'000 and, 50 later, 20'000. Its tokens are chosen 7 after that, then a pass of
  // one request: 100 and 200.
  CHECK(is_span(record.spans_of(0)[0], 0, 10'000));
  CHECK(is_span(record.spans_of(0)[1], 10'050, 30'050));
  CHECK(is_span(record.spans_of(1)[0], 30'057, 30'157));
  CHECK(is_span(record.spans_of(1)[1], 30'207, 30'407));
  CHECK(record.iterations[0].prompt_tokens == 10);
  CHECK(record.iterations[0].decode_requests == 0);
  CHECK(record.iterations[1].decode_requests == 1);
  CHECK(record.iterations[1].end_ps == 30'414);
  REQUIRE(record.requests.size() == 1);
  CHECK(record.requests[0].first_token_ps == 30'057);
  CHECK(record.requests[0].end_ps == 30'414);
  CHECK_FALSE(record.requests[0].was_transferred());
  CHECK(record.left_out == 0);
  CHECK(record.duration_ps == 30'414);
}

TEST_CASE("progress is told as requests end, up to the last one") {
  LinearCost cost;
  std::vector<std::size_t> ended;
  const auto progress = [&](std::size_t done, std::size_t requests) {
    CHECK(requests == 7);
    ended.push_back(done);
  };
  // Batches of 3, 3 and 1, each of which ends as one.
  const Inference inference = fixed_lengths(10, 4, 3, 7);
  static_cast<void>(serve({inference, 1'000'000, 1, {0, 0, 1, 1'000'000}, 1}, cost, {nullptr, progress}));
  CHECK(ended == std::vector<std::size_t>{3, 6, 7});
}

TEST_CASE("messages between stages that the next one waits for are apart from the bubble") {
  LinearCost cost;
  cost.speeds = {1, 2};
  cost.handover = 50;
  cost.context_ps = 3;
  const ServedRun run = serving_test::served(fixed_lengths(10, 2, 1, 1), cost);
  const ServingWork& work = run.serving.work;
  CHECK(work.total_ps() == run.serving.times.total_ps());
  CHECK(work.messages_ps[static_cast<std::size_t>(Dimension::pipeline)] == 2 * 50);
  CHECK(work.products_ps == 3 * (10'000 + 100));
  CHECK(work.attention_ps == 3 * 3 * 11);  // one pass that reads 11 tokens
  CHECK(work.bubble_ps == run.serving.times.bubble_ps - 100);
}

TEST_CASE("a stage that is busy waits for no message") {
  // The second stage is slower: except for the first iteration, its next iteration has already arrived.
  LinearCost cost;
  cost.speeds = {1, 10};
  cost.handover = 50;
  const ServedRun run = serving_test::served(fixed_lengths(10, 1, 2, 4), cost);
  REQUIRE(keeps_laws(run, 2));
  CHECK(run.serving.work.messages_ps[static_cast<std::size_t>(Dimension::pipeline)] < 4 * 50);
}

TEST_CASE("recording changes nothing") {
  Inference inference = fixed_lengths(100, 30, 0, 200);
  inference.prompt = {LengthKind::log_normal, 100, 80, 1, 400};
  inference.output = {LengthKind::log_normal, 30, 20, 1, 100};
  LinearCost plain_cost;
  LinearCost recorded_cost;
  ServingRecord record;
  const ServedRun plain = serving_test::served(inference, plain_cost, 2'000, 2);
  const ServedRun with = recorded(inference, recorded_cost, record, 2'000, 2);
  REQUIRE(keeps_laws(with, 1));
  CHECK(with.serving.duration_ps == plain.serving.duration_ps);
  CHECK(with.serving.end_to_end_s.p99 == plain.serving.end_to_end_s.p99);
  CHECK(static_cast<std::int64_t>(record.iterations.size()) == plain.serving.iterations);
  std::int64_t preemptions = 0;
  for (const RequestMoments& request : record.requests) preemptions += request.preemptions;
  CHECK(plain.serving.preemptions > 0);
  CHECK(preemptions == plain.serving.preemptions);
}

TEST_CASE("states begin and end empty, and their pages are the mean that is reported") {
  Inference inference = fixed_lengths(100, 30, 4, 40);
  LinearCost cost;
  ServingRecord record;
  const ServedRun run = recorded(inference, cost, record);
  Int128 held = 0;
  for (std::size_t s = 0; s + 1 < record.states.size(); ++s) {
    CHECK(record.states[s].at_ps < record.states[s + 1].at_ps);
    held += static_cast<Int128>(record.states[s + 1].at_ps - record.states[s].at_ps) * record.states[s].pages;
  }
  const double mean = static_cast<double>(held) / static_cast<double>(run.serving.duration_ps) /
                      static_cast<double>(record.pages);
  CHECK(mean == doctest::Approx(run.serving.cache_mean));
  CHECK(record.states.back().pages == 0);
  CHECK(record.states.back().running == 0);
  CHECK(record.states.back().waiting == 0);
}

TEST_CASE("a record has a bound, and says from when on it is incomplete") {
  LinearCost cost;
  ServingRecord record;
  record.most = 10;
  const ServedRun run = recorded(fixed_lengths(10, 21, 1, 4), cost, record);
  CHECK(record.iterations.size() <= 10);
  CHECK(record.states.size() <= 10);
  CHECK(record.spans.size() == record.iterations.size());
  CHECK(record.iterations.size() + record.left_out == static_cast<std::uint64_t>(run.serving.iterations));
  CHECK(record.recorded_until_ps < run.serving.duration_ps);
  CHECK(record.requests.size() == 4);
}

TEST_CASE("transfers have their two replicas and their times") {
  Inference inference = fixed_lengths(10, 3, 2, 4);
  inference.disaggregated = {1, 1};
  LinearCost cost;
  cost.token_transfer_ps = 20;
  ServingRecord record;
  const ServedRun run = recorded(inference, cost, record, 1'000'000, 2);
  REQUIRE(keeps_laws(run, 1));
  for (const RequestMoments& request : record.requests) {
    CHECK(request.was_transferred());
    CHECK(request.replica == 0);
    CHECK(request.decode_replica == 1);
    CHECK(request.transfer_end_ps - request.transfer_start_ps == 10 * 20);
    CHECK(request.transfer_start_ps >= request.first_token_ps);
    CHECK(request.end_ps > request.transfer_end_ps);
  }
}

TEST_CASE("the memory of a replica is what it holds for good and the pages of its requests") {
  ServingRecord record;
  record.replicas = 2;
  record.page_tokens = 16;
  record.bytes_per_token = 3;
  record.held_bytes = 1000;
  record.states = {{0, 0, 2, 1, 0}, {5, 1, 1, 1, 0}, {9, 0, 0, 0, 0}};
  const std::vector<MemoryTimeline> memory = replica_memory(record);
  REQUIRE(memory.size() == 2);
  REQUIRE(memory[0].size() == 2);
  CHECK(memory[0][0].bytes == 1000 + 2 * 16 * 3);
  CHECK(memory[0][1].at_ps == 9);
  CHECK(memory[0][1].bytes == 1000);
  CHECK(memory[1].back().bytes == 1000 + 16 * 3);
}

}  // namespace
}  // namespace orrery
