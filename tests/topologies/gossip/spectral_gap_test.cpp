#include <cmath>
#include <numbers>

#include "tests/sanitized.hpp"
#include "tests/topologies/gossip/graphs.hpp"
#include "topologies/gossip/spectral_norm.hpp"

namespace orrery::test {
namespace {

struct Gap {
  const char* topology;
  std::uint32_t workers;
  double gap;
};

/// To five digits (9 and 33 workers: four). Closed forms: ring 1 - (1 + 2 cos(2 pi /
/// n)) / 3, star 1/n, exponential over even n 2 / (2 + floor(log2(n - 1))).
constexpr Gap kGaps[] = {
    {"ring", 8, 0.19526},           {"ring", 16, 0.05075},         {"ring", 32, 0.01281},
    {"ring", 64, 0.00321},          {"ring", 256, 0.00020},        {"one-way-ring", 8, 0.07612},
    {"one-way-ring", 16, 0.01921},  {"one-way-ring", 32, 0.00482}, {"one-way-ring", 64, 0.00120},
    {"one-way-ring", 256, 0.00008}, {"grid", 8, 0.14645},          {"grid", 16, 0.13136},
    {"grid", 32, 0.03422},          {"grid", 64, 0.03230},         {"grid", 256, 0.00792},
    {"torus", 8, 0.50000},          {"torus", 16, 0.40000},        {"torus", 32, 0.11716},
    {"torus", 64, 0.11716},         {"torus", 256, 0.03045},       {"star", 8, 0.12500},
    {"star", 16, 0.06250},          {"star", 32, 0.03125},         {"star", 64, 0.01562},
    {"star", 256, 0.00391},         {"exponential", 8, 0.50000},   {"exponential", 16, 0.40000},
    {"exponential", 32, 0.33333},   {"exponential", 64, 0.28571},  {"exponential", 256, 0.22222},
    {"hypercube", 8, 0.50000},      {"hypercube", 16, 0.40000},    {"hypercube", 32, 0.33333},
    {"hypercube", 64, 0.28571},     {"hypercube", 256, 0.22222},   {"exponential", 6, 0.5},
    {"exponential", 12, 0.4},       {"exponential", 20, 1.0 / 3},  {"exponential", 24, 1.0 / 3},
    {"exponential", 48, 2.0 / 7},   {"exponential", 9, 0.5582},    {"exponential", 33, 0.3922},
    {"complete", 8, 1.0},           {"complete", 256, 1.0},
};

}  // namespace

TEST_CASE("spectral gaps are those of the definition to five digits") {
  for (const Gap& expected : kGaps) {
    CAPTURE(expected.topology);
    CAPTURE(expected.workers);
    const double digits = expected.workers == 9 || expected.workers == 33 ? 5.0001e-5 : 5.0001e-6;
    CHECK(std::abs(spectral_gap(graph_of(expected.topology, expected.workers)) - expected.gap) <= digits);
  }
}

TEST_CASE("both ways to the norm agree") {
  for (const char* topology :
       {"ring", "one-way-ring", "grid", "torus", "star", "exponential", "hypercube", "one-peer-exponential",
        "symmetric-exponential", "erdos-renyi", "base-k", "random-matching", "inner-outer-ring"}) {
    for (const std::uint32_t workers : {64U, test::kSanitized ? 128U : 512U}) {
      CAPTURE(topology);
      CAPTURE(workers);
      const GossipGraph graph = graph_of(topology, workers);
      CHECK(std::abs(dense_distance_to_average(graph) - iterative_distance_to_average(graph)) <= 1e-8);
    }
  }
  const GossipGraph odd = graph_of("one-peer-exponential", 100);
  CHECK(std::abs(dense_distance_to_average(odd) - iterative_distance_to_average(odd)) <= 1e-8);
}

TEST_CASE("gaps of large rings and tori are the closed forms") {
  // Ring: 2/3 (1 - cos(2 pi / n)); 1.3e-7 for 10,000 workers. Torus of 125 x 160: 2/5 (1 - cos(2 pi / 160)).
  const double pi = std::numbers::pi;
  const double ring = 4.0 / 3 * std::pow(std::sin(pi / 10'000), 2);
  CHECK(spectral_gap(graph_of("ring", 10'000)) == doctest::Approx(ring).epsilon(1e-5));
  const double torus = 4.0 / 5 * std::pow(std::sin(pi / 160), 2);
  CHECK(spectral_gap(graph_of("torus", 20'000)) == doctest::Approx(torus).epsilon(1e-5));
  CHECK(spectral_gap(graph_of("exponential", 10'000)) == doctest::Approx(2.0 / 15).epsilon(1e-6));
}

TEST_CASE("one-peer-exponential is exact if and only if n is a power of two") {
  for (std::uint32_t workers = 2; workers <= 64; ++workers) {
    CAPTURE(workers);
    const auto period = averaging_period(graph_of("one-peer-exponential", workers));
    const bool power = (workers & (workers - 1)) == 0;
    CHECK(period.has_value() == power);
    if (power) CHECK((1U << *period) == workers);
  }
  // n = 12: ||product - 11^T/n|| = 0.2091 after 4 rounds.
  CHECK(std::abs(dense_distance_to_average(graph_of("one-peer-exponential", 12)) - 0.2091) <= 5e-5);
}

TEST_CASE("one-peer-exponential is exact from any starting round") {
  GossipGraph graph = graph_of("one-peer-exponential", 16);
  for (int turn = 0; turn < 4; ++turn) {
    CHECK(averaging_period(graph) == 4U);
    graph.rounds.push_back(graph.rounds.front());
    graph.rounds.erase(graph.rounds.begin());
  }
}

TEST_CASE("base-k averages exactly over any number of workers") {
  for (std::uint32_t workers = 2; workers <= 40; ++workers) {
    for (std::int64_t peers = 1; peers <= 4; ++peers) {
      CAPTURE(workers);
      CAPTURE(peers);
      const GossipGraph graph = base_k(workers, peers);
      CHECK(averaging_period(graph).has_value());
      CHECK(gossip_degrees(graph).max_in <= peers);
      const double bound = 2 * std::log(workers) / std::log(static_cast<double>(peers) + 1) + 2;
      CHECK(static_cast<double>(graph.rounds.size()) <= bound + 1e-9);
    }
  }
  // n = 5 = 4 + 1: two rounds within the four, one to meet the fifth, two within the four again.
  CHECK(base_k(5, 1).rounds.size() == 5);
  // n = 6 = 2 x 3: the simple graph over 4 + 2 takes 2 + 1 + 2; over 3 = 2 + 1 it takes 1 + 1 + 1, and one
  // more across the two halves.
  CHECK(base_k(6, 1).rounds.size() == 4);
  CHECK(base_k(16, 1).rounds.size() == 4);
  CHECK(base_k(25, 4).rounds.size() == 2);
}

TEST_CASE("one-peer-hypercube averages in log2 n steps") {
  for (const std::uint32_t workers : {2U, 8U, 64U}) {
    CHECK((1U << averaging_period(graph_of("one-peer-hypercube", workers)).value()) == workers);
  }
  CHECK(averaging_period(graph_of("complete", 7)) == 1U);
  CHECK(averaging_period(graph_of("ring", 8)) == std::nullopt);
}

}  // namespace orrery::test
