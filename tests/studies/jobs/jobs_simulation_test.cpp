// Queues of jobs against what they must give by hand, and against queueing theory.
#include "studies/jobs/jobs_simulation.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/serving/random_stream.hpp"
#include "tests/sanitized.hpp"

using namespace orrery;

namespace {

constexpr LongPicoseconds kSecond = kPicosecondsPerSecond;

/// GPUs without links, on nodes of `per_node`.
JobsModel gpus_alone(std::int64_t gpus, JobQueueing queueing, std::int64_t per_node = 1) {
  JobsModel model;
  model.nodes = gpus / per_node;
  model.gpus_per_node = per_node;
  model.nodes_per_leaf = model.nodes;
  model.queueing = queueing;
  model.slice_ps = kSecond;
  return model;
}

void add(JobsModel& model, std::int64_t arrival_s, std::int64_t work_s, std::int64_t gpus = 1,
         std::int64_t priority = 0) {
  model.jobs.push_back({arrival_s * kSecond, work_s * kSecond, gpus, priority, 0, nullptr});
}

std::int64_t start_s(const JobsOutcome& outcome, std::size_t job) {
  return static_cast<std::int64_t>(outcome.jobs[job].start_ps / kSecond);
}
std::int64_t end_s(const JobsOutcome& outcome, std::size_t job) {
  return static_cast<std::int64_t>(outcome.jobs[job].end_ps / kSecond);
}

LongPicoseconds waits(const JobsOutcome& outcome) {
  LongPicoseconds sum = 0;
  for (const JobOutcome& job : outcome.jobs) sum += job.wait_ps;
  return sum;
}

bool is_whole(const JobsModel& model, const JobsOutcome& outcome) {
  Int128 sum = outcome.idle_gpu_ps;
  for (std::size_t job = 0; job < outcome.jobs.size(); ++job)
    sum += Int128{model.jobs[job].gpus} * (outcome.jobs[job].running_ps + outcome.jobs[job].lost_ps);
  return sum == Int128{model.gpus()} * outcome.makespan_ps;
}

JobsModel random_jobs(JobQueueing queueing, JobPlacement placement, std::uint64_t seed) {
  JobsModel model = gpus_alone(64, queueing, 8);
  model.nodes_per_leaf = 4;
  model.placement = placement;
  model.checkpoint_ps = 7 * kSecond;
  model.restart_ps = 11 * kSecond;
  model.slice_ps = 50 * kSecond;
  RandomStream random(seed, 1);
  std::int64_t now = 0;
  for (int job = 0; job < 300; ++job) {
    now += random.integer(0, 20);
    const std::int64_t gpus = random.integer(0, 3) == 0 ? random.integer(1, 64) : random.integer(1, 8);
    add(model, now, random.integer(1, 200), gpus, random.integer(0, 2));
  }
  return model;
}

}  // namespace

TEST_CASE("a job alone takes its steps, to the picosecond") {
  JobsModel model = gpus_alone(4, JobQueueing::fifo);
  model.jobs.push_back({3, 123'456'789'123'456'789, 3, 0, 0, nullptr});
  const JobsOutcome outcome = simulate_jobs(model);
  CHECK(outcome.jobs[0].start_ps == 3);
  CHECK(outcome.jobs[0].end_ps == LongPicoseconds{123'456'789'123'456'792});
  CHECK(outcome.jobs[0].wait_ps == 0);
  CHECK(is_whole(model, outcome));
}

TEST_CASE("first come, first served: a large job holds up those behind it") {
  // Two GPUs. A has one until 10; B wants both, from 1 on; C wants one, and waits behind B.
  JobsModel model = gpus_alone(2, JobQueueing::fifo);
  add(model, 0, 10);
  add(model, 1, 5, 2);
  add(model, 2, 4);
  add(model, 3, 9);
  const JobsOutcome outcome = simulate_jobs(model);
  CHECK(start_s(outcome, 1) == 10);
  CHECK(start_s(outcome, 2) == 15);
  CHECK(start_s(outcome, 3) == 15);
  CHECK(end_s(outcome, 3) == 24);
  // Too few GPUs are free for B until 10: no fragments are to blame.
  CHECK(outcome.blocked_ps == 0);
  CHECK(is_whole(model, outcome));
}

TEST_CASE("backfill lets jobs pass that delay nobody") {
  // As above: C ends at 6, before B can start at 10; D would end at 12 beside A, or at 15 after C: it waits.
  JobsModel model = gpus_alone(2, JobQueueing::backfill);
  add(model, 0, 10);
  add(model, 1, 5, 2);
  add(model, 2, 4);
  add(model, 3, 9);
  const JobsOutcome outcome = simulate_jobs(model);
  CHECK(start_s(outcome, 2) == 2);
  CHECK(start_s(outcome, 1) == 10);
  CHECK(start_s(outcome, 3) == 15);
  CHECK(is_whole(model, outcome));
}

TEST_CASE("backfill beside the place of the first job") {
  // Three GPUs. A has two until 10, B wants two at 10: one GPU is left over for as long as C likes.
  JobsModel model = gpus_alone(3, JobQueueing::backfill);
  add(model, 0, 10, 2);
  add(model, 1, 5, 2);
  add(model, 2, 100);
  const JobsOutcome outcome = simulate_jobs(model);
  CHECK(start_s(outcome, 2) == 2);
  CHECK(start_s(outcome, 1) == 10);
}

TEST_CASE("shortest first") {
  // 3, 1 and 2 s at once on one GPU: they wait 3, 0 and 1 s; in order of arrival 0, 3 and 4 s.
  JobsModel model = gpus_alone(1, JobQueueing::shortest);
  for (const std::int64_t work : {3, 1, 2}) add(model, 0, work);
  const JobsOutcome outcome = simulate_jobs(model);
  CHECK(start_s(outcome, 0) == 3);
  CHECK(start_s(outcome, 1) == 0);
  CHECK(start_s(outcome, 2) == 1);
  CHECK(waits(outcome) == 4 * kSecond);
  model.queueing = JobQueueing::fifo;
  CHECK(waits(simulate_jobs(model)) == 7 * kSecond);
}

TEST_CASE("shortest first never waits longer than first come first served, for a batch on one GPU") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed, 2);
    JobsModel model = gpus_alone(1, JobQueueing::fifo);
    for (int job = 0; job < 20; ++job) add(model, 0, random.integer(1, 1000));
    const LongPicoseconds by_arrival = waits(simulate_jobs(model));
    model.queueing = JobQueueing::shortest;
    CHECK(waits(simulate_jobs(model)) <= by_arrival);
  }
}

TEST_CASE("a job of higher priority makes another one write a checkpoint and leave") {
  // A: 0 to 4, checkpoint to 5; B: 5 to 10; A restarts until 12 and has 6 s left.
  JobsModel model = gpus_alone(1, JobQueueing::priority);
  model.checkpoint_ps = kSecond;
  model.restart_ps = 2 * kSecond;
  add(model, 0, 10, 1, 0);
  add(model, 4, 5, 1, 1);
  const JobsOutcome outcome = simulate_jobs(model);
  CHECK(start_s(outcome, 1) == 5);
  CHECK(end_s(outcome, 1) == 10);
  CHECK(end_s(outcome, 0) == 18);
  CHECK(outcome.jobs[0].preemptions == 1);
  CHECK(outcome.jobs[0].lost_ps == 3 * kSecond);
  CHECK(outcome.jobs[0].wait_ps == 5 * kSecond);
  CHECK(outcome.jobs[0].stints.size() == 2);
  CHECK(is_whole(model, outcome));
}

TEST_CASE("as few jobs leave as are needed, the latest of the lowest priority first") {
  JobsModel model = gpus_alone(3, JobQueueing::priority);
  add(model, 0, 100, 1, 1);
  add(model, 1, 100, 1, 0);
  add(model, 2, 100, 1, 0);
  add(model, 10, 5, 1, 2);
  add(model, 10, 5, 3, 0);  // as low as the others: it makes nobody leave
  const JobsOutcome outcome = simulate_jobs(model);
  CHECK(outcome.jobs[0].preemptions == 0);
  CHECK(outcome.jobs[1].preemptions == 0);
  CHECK(outcome.jobs[2].preemptions == 1);
  CHECK(start_s(outcome, 3) == 10);
  CHECK(start_s(outcome, 4) == 107);  // the third one ends then: 8 s before 10, 92 s from 15 on
}

TEST_CASE("jobs take turns of a slice") {
  // Both need 6 s of one GPU: A 0 to 4, B 4 to 8, A 8 to 10, B 10 to 12.
  JobsModel model = gpus_alone(1, JobQueueing::gang);
  model.slice_ps = 4 * kSecond;
  add(model, 0, 6);
  add(model, 0, 6);
  JobsOutcome outcome = simulate_jobs(model);
  CHECK(end_s(outcome, 0) == 10);
  CHECK(end_s(outcome, 1) == 12);
  CHECK(outcome.jobs[1].preemptions == 1);
  // Slices take in the restart: B runs from 4 to 8, A restarts and runs until 11, B restarts and runs
  // until 14.
  model.restart_ps = kSecond;
  outcome = simulate_jobs(model);
  CHECK(end_s(outcome, 0) == 11);
  CHECK(end_s(outcome, 1) == 14);
  CHECK(is_whole(model, outcome));
}

TEST_CASE("every picosecond of every GPU is accounted for once, and the same again") {
  for (std::size_t queueing = 0; queueing < kJobQueueingNames.size(); ++queueing)
    for (std::size_t placement = 0; placement < kJobPlacementNames.size(); ++placement) {
      CAPTURE(kJobQueueingNames[queueing]);
      CAPTURE(kJobPlacementNames[placement]);
      const JobsModel model = random_jobs(static_cast<JobQueueing>(queueing),
                                          static_cast<JobPlacement>(placement), 10 * queueing + placement);
      const JobsOutcome outcome = simulate_jobs(model);
      CHECK(is_whole(model, outcome));
      const JobsOutcome again = simulate_jobs(model);
      for (std::size_t job = 0; job < model.jobs.size(); ++job) {
        const JobOutcome& one = outcome.jobs[job];
        REQUIRE(one.end_ps - model.jobs[job].arrival_ps == one.wait_ps + one.running_ps + one.lost_ps);
        REQUIRE(one.running_ps == model.jobs[job].work_ps);
        REQUIRE(one.end_ps == again.jobs[job].end_ps);
      }
    }
}

// A million events, which take minutes under the sanitizers.
TEST_CASE("jobs that leave for each other for ever are an error" * doctest::skip(test::kSanitized)) {
  JobsModel model = gpus_alone(1, JobQueueing::gang);
  model.slice_ps = kSecond;
  add(model, 0, 5'000'000);
  add(model, 0, 5'000'000);
  CHECK_THROWS(static_cast<void>(simulate_jobs(model)));
}

TEST_CASE("the mean wait at one server is that of queueing theory" * doctest::skip(test::kSanitized)) {
  // Arrivals without memory at 0.6 of the server's rate. M/M/1: 0.6 / (1 - 0.6) = 1.5 service times; M/D/1:
  // half of that. Waits of neighbours are alike for some 1 / (1 - 0.6)^2 services, so that the error of the
  // mean over 200,000 jobs is about a hundredth; three times that is allowed.
  for (const bool random_service : {true, false}) {
    CAPTURE(random_service);
    constexpr int kJobs = 200'000;
    RandomStream random(random_service ? 5 : 6, 3);
    JobsModel model = gpus_alone(1, JobQueueing::fifo);
    double now = 0;
    for (int job = 0; job < kJobs; ++job) {
      now += random.exponential() / 0.6;
      const double work = random_service ? random.exponential() : 1;
      model.jobs.push_back({static_cast<LongPicoseconds>(now * 1e12),
                            std::max<LongPicoseconds>(1, static_cast<LongPicoseconds>(work * 1e12)), 1, 0, 0,
                            nullptr});
    }
    const double mean = static_cast<double>(waits(simulate_jobs(model))) * 1e-12 / kJobs;
    CHECK(mean == doctest::Approx(random_service ? 1.5 : 0.75).epsilon(0.03));
  }
}
