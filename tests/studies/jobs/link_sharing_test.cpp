// Jobs that share links against what is known on paper: four nodes of a GPU below two leaves of two, whose
// way up carries as much as one NIC.
#include "studies/jobs/link_sharing.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "studies/jobs/jobs_simulation.hpp"
#include "topologies/common/topologies.hpp"

using namespace orrery;

namespace {

/// @param leaf_nodes  nodes of a leaf, of two
JobsModel narrow_tree(std::int64_t leaf_nodes, std::int64_t jobs, double sending) {
  Cluster cluster;
  cluster.nodes = 2 * leaf_nodes;
  cluster.gpus_per_node = 1;
  cluster.fabric.kind = "fat-tree";
  cluster.fabric.nic_gbps = 80;
  cluster.fabric.shape = {leaf_nodes, 2};
  cluster.fabric.oversubscription = static_cast<double>(leaf_nodes);
  JobsModel model;
  model.topology = build_topology(cluster);
  model.nodes = cluster.nodes;
  model.nodes_per_leaf = leaf_nodes;
  model.placement = JobPlacement::spread;
  for (std::int64_t job = 0; job < jobs; ++job)
    model.jobs.push_back({0, 100 * LongPicoseconds{kPicosecondsPerSecond}, 2, 0, sending, nullptr});
  return model;
}

double slowdown(const JobsModel& model, std::size_t job) {
  const JobsOutcome outcome = simulate_jobs(model);
  return static_cast<double>(outcome.jobs[job].running_ps) / static_cast<double>(model.jobs[job].work_ps);
}

}  // namespace

TEST_CASE("a job alone on its links is not slowed") {
  CHECK(slowdown(narrow_tree(2, 1, 0.7), 0) == 1);
  JobsModel side_by_side = narrow_tree(2, 2, 0.7);
  side_by_side.placement = JobPlacement::packed;
  CHECK(slowdown(side_by_side, 0) == 1);
  CHECK(slowdown(side_by_side, 1) == 1);
}

TEST_CASE("jobs that always send share the link evenly") {
  for (const std::int64_t jobs : {2, 4}) {
    CAPTURE(jobs);
    CHECK(slowdown(narrow_tree(jobs, jobs, 1), 0) ==
          doctest::Approx(static_cast<double>(jobs)).epsilon(1e-9));
  }
  // More jobs than are tried in all sets; paces are whole numbers of 2^-16.
  CHECK(slowdown(narrow_tree(8, 8, 1), 3) == doctest::Approx(8).epsilon(1e-9));
  CHECK(slowdown(narrow_tree(9, 9, 1), 3) == doctest::Approx(9).epsilon(2e-4));
}

TEST_CASE("jobs that send at times meet as often as chance has it") {
  // Messages of each are 1 + p times as long, where p is the other's share of time in which it sends: with s
  // of a step alone, p = s x / (1 + s (x - 1)).
  const double s = 0.3;
  double x = 1;
  for (int round = 0; round < 100; ++round) x = 1 + s * x / (1 + s * (x - 1));
  CHECK(slowdown(narrow_tree(2, 2, s), 0) == doctest::Approx(1 + s * (x - 1)).epsilon(1e-5));
}

TEST_CASE("unlike jobs slow each other by each other's share") {
  JobsModel model = narrow_tree(2, 2, 0.1);
  model.jobs[1].sending = 0.6;
  double x[2] = {1, 1};
  const double s[2] = {0.1, 0.6};
  for (int round = 0; round < 100; ++round)
    for (int job : {0, 1}) {
      const int other = 1 - job;
      x[job] = 1 + s[other] * x[other] / (1 + s[other] * (x[other] - 1));
    }
  // Both have 100 s of work; the first one ends earlier, and the second is alone from then on.
  const double first = 1 + s[0] * (x[0] - 1);
  const double second = 1 + s[1] * (x[1] - 1);
  CHECK(slowdown(model, 0) == doctest::Approx(first).epsilon(1e-5));
  CHECK(first < second);
  CHECK(slowdown(model, 1) == doctest::Approx(1 + first * (1 - 1 / second)).epsilon(1e-5));
}

TEST_CASE("drawn moments agree with all of them") {
  // Eight jobs that send 0.2 of their time, one of them beyond the six that are tried in all sets: a job's
  // messages meet 7 x p others on average, and the link carries one.
  const double s = 0.2;
  double x = 1;
  for (int round = 0; round < 100; ++round) x = 1 + 7 * s * x / (1 + s * (x - 1));
  CHECK(slowdown(narrow_tree(8, 8, s), 0) == doctest::Approx(1 + s * (x - 1)).epsilon(0.15));
}

TEST_CASE("the ring of a job climbs once each way, however many of its nodes are below a leaf") {
  JobsModel model = narrow_tree(4, 1, 0.5);
  model.jobs[0].gpus = 4;
  CHECK(slowdown(model, 0) == 1);
}

TEST_CASE("a simulated slowdown is asked for the stretch") {
  JobsModel model = narrow_tree(2, 2, 1);
  for (ModelJob& job : model.jobs)
    job.slowdown = std::make_shared<const StepSlowdown>([](double stretch) { return 1 + (stretch - 1) / 4; });
  // Half hidden behind compute: they send all the time only at first. p = x / (1 + (x - 1) / 4), at most 1.
  CHECK(slowdown(model, 0) == doctest::Approx(1.25).epsilon(1e-5));
}
