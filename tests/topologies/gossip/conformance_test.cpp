#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/topologies/gossip/graphs.hpp"

namespace orrery::test {
namespace {

std::map<std::pair<std::uint32_t, std::uint32_t>, double> entries(const Mixing& mixing) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> out;
  for (std::uint32_t worker = 0; worker < mixing.workers(); ++worker) {
    for (std::size_t k = 0; k < mixing.neighbours(worker).size(); ++k) {
      out[{worker, mixing.neighbours(worker)[k]}] = mixing.weights(worker)[k];
    }
  }
  return out;
}

void check_round(const Mixing& mixing, std::uint32_t workers) {
  REQUIRE(mixing.workers() == workers);
  REQUIRE(mixing.begin.size() == workers + 1);
  REQUIRE(mixing.begin.back() == mixing.from.size());
  CHECK(is_doubly_stochastic(mixing));
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    const auto row = mixing.neighbours(worker);
    const std::set<std::uint32_t> different(row.begin(), row.end());
    CHECK(different.size() == row.size());
    CHECK(different.count(worker) == 0);
    CHECK(std::all_of(row.begin(), row.end(), [&](std::uint32_t from) { return from < workers; }));
  }
}

}  // namespace

TEST_CASE("every topology over every number of workers is doubly stochastic, or says why not") {
  for (const GossipTopologyEntry& entry : gossip_topologies()) {
    for (std::uint32_t workers = 1; workers <= 40; ++workers) {
      CAPTURE(entry.name);
      CAPTURE(workers);
      const std::string topology(entry.name);
      const std::string diagnostic = diagnostic_of(sync_of(topology), {workers, 4, 8, 1});
      if (!diagnostic.empty()) {
        CHECK(diagnostic.find("/data_parallel_sync/") == 0);
        CHECK(diagnostic.find("found") != std::string::npos);
        CHECK(diagnostic.find("allowed") != std::string::npos);
        continue;
      }
      for (const Mixing& round : graph_of(topology, workers).rounds) check_round(round, workers);
    }
  }
}

TEST_CASE("undirected graphs are symmetric") {
  for (const char* topology :
       {"ring", "grid", "torus", "star", "complete", "symmetric-exponential", "hypercube",
        "one-peer-hypercube", "base-k", "random-matching", "erdos-renyi"}) {
    CAPTURE(topology);
    for (const Mixing& round : graph_of(topology, 16).rounds) {
      const auto all = entries(round);
      for (const auto& [pair, weight] : all) {
        CHECK(all.at({pair.second, pair.first}) == doctest::Approx(weight).epsilon(1e-15));
      }
    }
  }
}

TEST_CASE("a place in the lists is one shift for all workers") {
  for (const char* topology : {"exponential", "one-peer-exponential", "complete", "one-way-ring"}) {
    CAPTURE(topology);
    for (const Mixing& round : graph_of(topology, 11).rounds) {
      for (std::uint32_t worker = 1; worker < 11; ++worker) {
        REQUIRE(round.neighbours(worker).size() == round.neighbours(0).size());
        for (std::size_t k = 0; k < round.neighbours(worker).size(); ++k) {
          CHECK(round.neighbours(worker)[k] == (round.neighbours(0)[k] + worker) % 11);
        }
      }
    }
  }
}

TEST_CASE("degrees and messages") {
  const GossipDegrees star = gossip_degrees(graph_of("star", 9));
  CHECK(star.max_in == 8);
  CHECK(star.min_in == 1);
  CHECK(gossip_degrees(graph_of("grid", 9)).min_out == 2);
  CHECK(gossip_degrees(graph_of("exponential", 17)).max_out == 5);  // 1, 2, 4, 8, 16
  CHECK(messages_per_step(graph_of("ring", 10)) == 20);
  CHECK(messages_per_step(graph_of("random-matching", 9)) == 8);
  // 64 workers at distances 1, 4, 16 on both sides; 4^2 = 16 = n / 4.
  CHECK(gossip_degrees(graph_of("symmetric-exponential", 64)).max_in == 6);
}

TEST_CASE("inner-outer graphs: one worker of a node goes outside") {
  // Nodes of 4: in round k local worker k hears from the node before, the others from their own node.
  const GossipGraph graph = graph_of("inner-outer-ring", 12);
  REQUIRE(graph.rounds.size() == 4);
  for (std::uint32_t k = 0; k < 4; ++k) {
    for (std::uint32_t worker = 0; worker < 12; ++worker) {
      REQUIRE(graph.rounds[k].neighbours(worker).size() == 1);
      const std::uint32_t from = graph.rounds[k].neighbours(worker)[0];
      if (worker % 4 == k) CHECK(from == (worker + 8) % 12);
      if (worker % 4 != k) CHECK(from / 4 == worker / 4);
    }
  }
}

TEST_CASE("push-sum splits what a sender has") {
  DataParallelSync sync = sync_of("star", SyncMethod::push_sum);
  sync.neighbours = {{1, 2}, {0}, {1}};  // 0 sends to 1; 1 to 0 and 2; 2 to 0
  const GossipGraph graph = build_gossip_graph(sync, {3, 1, 1, 0});
  const Mixing& round = graph.rounds.front();
  CHECK(round.self == std::vector<double>{1.0 / 2, 1.0 / 3, 1.0 / 2});
  CHECK(round.weight == std::vector<double>{1.0 / 3, 1.0 / 2, 1.0 / 2, 1.0 / 3});
}

TEST_CASE("a seed draws the same graph again, another one another") {
  const auto draw = [](std::int64_t seed) {
    return build_gossip_graph(sync_of("erdos-renyi"), {40, 1, 1, seed}).rounds.front().from;
  };
  CHECK(draw(3) == draw(3));
  CHECK(draw(3) != draw(4));
}

}  // namespace orrery::test
