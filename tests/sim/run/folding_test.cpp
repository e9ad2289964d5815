// Folded and unfolded runs are the same to the bit, over random plans, clusters and both networks.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::example;
using orrery::test::RandomExperiment;
using orrery::test::read;

namespace {

/// Every rank's operations at the same times in both runs.
bool same_times(const Run& a, const Run& b) {
  for (std::uint32_t rank = 0; rank < a.workload.ranks(); ++rank) {
    const std::uint32_t ca = a.expanded.representatives.class_of_rank[rank];
    const std::uint32_t cb = b.expanded.representatives.class_of_rank[rank];
    const auto& ops = a.workload.programs[a.workload.program_of_rank[rank]].ops;
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      const std::uint32_t ta = a.expanded.task(ca, op);
      const std::uint32_t tb = b.expanded.task(cb, op);
      if (a.timeline.start_ps[ta] != b.timeline.start_ps[tb]) return false;
      if (a.timeline.finish_ps[ta] != b.timeline.finish_ps[tb]) return false;
    }
  }
  return true;
}

/// Nothing for the plans that a random cluster or its GPUs do not allow.
std::optional<Run> run_if_valid(const std::string& text, Folding folding,
                                std::optional<Network> network = {}) {
  try {
    Experiment e = read(text);
    e.simulation.folding = folding;
    if (network) e.simulation.network = *network;
    return run(e);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void check_same(const Report& a, const Report& b) {
  check_same_times(a, b);
  CHECK(a.bytes_per_gpu == b.bytes_per_gpu);
  REQUIRE(a.links.size() == b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    CHECK(a.links[i].mean == b.links[i].mean);
    CHECK(a.links[i].peak == b.links[i].peak);
  }
}

/// Returns true if the groups of a rank are those of its counterpart in replica 0, shifted, and groups over
/// replicas are as large.
bool alike(const Workload& w, std::uint32_t rank, std::uint32_t moved_by) {
  const auto in_first = [&w](std::uint32_t r) { return r / w.replica_stride % w.replicas == 0; };
  if (w.program_of_rank[rank] != w.program_of_rank[rank + moved_by]) return false;
  for (std::uint8_t slot = 0; slot < w.slots; ++slot) {
    const std::uint32_t a = w.group(rank, slot);
    const std::uint32_t b = w.group(rank + moved_by, slot);
    if ((a == kNoGroup) != (b == kNoGroup)) return false;
    if (a == kNoGroup) continue;
    const auto here = w.members(a);
    const auto there = w.members(b);
    if (here.size() != there.size()) return false;
    if (!std::ranges::all_of(here, in_first)) continue;
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (here[i] + moved_by != there[i]) return false;
    }
  }
  return true;
}

/// Runs experiments folded and unfolded; counts the cases, so that a test can require enough of each.
struct FoldedRuns {
  std::uint64_t smaller = 0;  ///< folded
  std::uint64_t waited = 0;   ///< for the host
  std::uint64_t shared = 0;   ///< links

  void compare(const std::string& text, std::optional<Network> network = {}) {
    CAPTURE(text);
    const auto folded_or_not = run_if_valid(text, Folding::automatic, network);
    if (!folded_or_not) return;
    const Run& folded = *folded_or_not;
    const Run unfolded = *run_if_valid(text, Folding::off, network);
    CHECK(unfolded.expanded.classes() == unfolded.workload.ranks());
    CHECK(same_times(folded, unfolded));
    check_same(folded.report, unfolded.report);
    smaller += folded.expanded.classes() < unfolded.expanded.classes() ? 1 : 0;
    waited += folded.report.breakdown.host_ps > 0 ? 1 : 0;
    shared += folded.expanded.graph.uses.empty() ? 0 : 1;
  }
};

}  // namespace

TEST_CASE("replicas of a workload are built alike") {
  for (std::uint64_t seed = 500; seed < 560; ++seed) {
    CAPTURE(seed);
    std::optional<Experiment> e;
    try {
      e = read(RandomExperiment(seed).text_with_leaves());
    } catch (const InputError&) {
      continue;
    }
    const Workload w = lower(*e);
    CHECK(w.replicas == e->plan.data_parallel);
    std::uint32_t ranks = 0;
    w.for_each_rank_of_first_replica([&](std::uint32_t rank) {
      ++ranks;
      for (std::uint32_t d = 1; d < w.replicas; ++d) CHECK(alike(w, rank, d * w.replica_stride));
    });
    CHECK(ranks * w.replicas == w.ranks());
  }
}

TEST_CASE("folded equals unfolded over random plans") {
  FoldedRuns runs;
  for (std::uint64_t seed = 1; seed <= test::trials(250); ++seed) {
    CAPTURE(seed);
    runs.compare(RandomExperiment(seed).text());
  }
  CHECK(runs.smaller > test::trials(100));
}

TEST_CASE("folded equals unfolded with random host costs, under both networks") {
  FoldedRuns runs;
  for (std::uint64_t seed = 3000; seed < 3000 + test::trials(150); ++seed) {
    CAPTURE(seed);
    for (const Network network : {Network::alpha_beta, Network::flow}) {
      CAPTURE(network);
      runs.compare(RandomExperiment(seed).text_with_software(), network);
    }
  }
  CHECK(runs.smaller > test::trials(100));
  CHECK(runs.waited > test::trials(100));
}

TEST_CASE("folded equals unfolded where replicas do not fill leaf switches evenly, under both networks") {
  FoldedRuns runs;
  for (std::uint64_t seed = 7000; seed < 7000 + test::trials(150); ++seed) {
    CAPTURE(seed);
    for (const Network network : {Network::alpha_beta, Network::flow}) {
      CAPTURE(network);
      runs.compare(RandomExperiment(seed).text_with_leaves(), network);
    }
  }
  CHECK(runs.smaller > test::trials(100));
  CHECK(runs.shared > test::trials(30));
}

TEST_CASE("folded equals unfolded with NVLink domains of several nodes, under both networks") {
  FoldedRuns runs;
  for (std::uint64_t seed = 9000; seed < 9000 + test::trials(100); ++seed) {
    CAPTURE(seed);
    for (const Network network : {Network::alpha_beta, Network::flow}) {
      CAPTURE(network);
      runs.compare(RandomExperiment(seed).text_with_domains(), network);
    }
  }
  CHECK(runs.smaller > test::trials(60));
  CHECK(runs.shared > test::trials(20));
}

TEST_CASE("the main job folds, and folds without changing a picosecond") {
  Experiment e = example("megatron-145b.json");
  e.plan.global_batch_size = 24 * 2 * 8;  // eight micro-batches in place of 48
  const Run folded = run(e);
  CHECK(folded.expanded.classes() < 200);
  e.simulation.folding = Folding::off;
  const Run unfolded = run(e);
  CHECK(same_times(folded, unfolded));
  check_same(folded.report, unfolded.report);
}

TEST_CASE("a long ring with one slow worker is not refined worker by worker, and is the same unfolded") {
  for (const char* network : {"alpha-beta", "flow"}) {
    CAPTURE(network);
    Experiment e = read(R"({"model": {"kind": "mlp", "layers": 2, "hidden": 256, "seq_length": 64},
        "cluster": {"base": "v100-tcp-25g", "nodes": 150, "gpus_per_node": 2,
                    "node": {"kind": "nvswitch", "link_gb_per_s": 50}, "overrides": [{"gpu": 7, "speed": 0.5}]},
        "data_parallel_sync": {"method": "gossip", "topology": "ring"},
        "simulation": {"network": ")" +
                        std::string(network) + R"("}})");
    const Run folded = run(e);
    e.simulation.folding = Folding::off;
    const Run unfolded = run(e);
    CHECK(same_times(folded, unfolded));
    check_same(folded.report, unfolded.report);
    CHECK(folded.expanded.classes() == 300);
  }
}
