// Properties on random cases; a failing case prints its seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "tests/sim/network/flow_driver.hpp"
#include "tests/sim/network/reference_max_min.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Case {
  std::vector<std::int64_t> capacities;
  std::vector<FlowStart> starts;
};

class RandomCase {
 public:
  explicit RandomCase(std::uint32_t seed) : random_(seed) {}

  /// Few distinct times, capacities and weights, so that ties and batches are common.
  Case make() {
    Case out;
    const std::size_t links = pick(1, 12);
    const bool round = pick(0, 1) == 0;
    for (std::size_t i = 0; i < links; ++i) {
      out.capacities.push_back(round ? 50'000'000'000 * static_cast<std::int64_t>(pick(1, 2))
                                     : static_cast<std::int64_t>(pick(5, 400'000'000'000)));
    }
    const std::size_t flows = pick(1, 40);
    for (std::uint32_t f = 0; f < flows; ++f) out.starts.push_back(flow(f, out.capacities));
    return out;
  }

  void shuffle(std::vector<FlowStart>& starts) { std::shuffle(starts.begin(), starts.end(), random_); }

 private:
  std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }

  FlowStart flow(std::uint32_t name, const std::vector<std::int64_t>& capacities) {
    FlowStart out{static_cast<Picoseconds>(pick(0, 5) * 1000), name, {}, {}};
    Int128 limit = Int128{1} << 62;
    for (std::uint32_t link = 0; link < capacities.size(); ++link) {
      if (pick(0, 3) != 0) continue;
      out.uses.push_back(on_link(link, pick(0, 2) == 0 ? pick(1, 3 * kWeightOne) : kWeightOne));
      const Int128 capacity = static_cast<Int128>(capacities[link]) * static_cast<Int128>(kWeightOne);
      limit = std::min(limit, capacity / static_cast<Int128>(out.uses.back().weight));
    }
    if (pick(0, 4) == 0) limit = limit / static_cast<Int128>(pick(1, 5));
    if (!out.uses.empty() && pick(0, 9) == 0) limit *= 2;  // more than its links can carry
    const auto rate = static_cast<std::int64_t>(std::max<Int128>(1, limit));
    out.leg = data_leg(static_cast<Picoseconds>(pick(0, 5000)), rate);
    return out;
  }

  std::mt19937_64 random_;
};

std::vector<std::int64_t> reference_rates(const Case& random, const std::vector<FlowRate>& active) {
  std::vector<ReferenceFlow> flows;
  for (const FlowRate& rate : active) {
    const auto it = std::find_if(random.starts.begin(), random.starts.end(),
                                 [&](const FlowStart& start) { return start.name == rate.flow; });
    flows.push_back({it->leg.rate, it->leg.alone_ps > 0 ? it->uses : std::vector<LinkUse>{}});
  }
  return ReferenceMaxMin(random.capacities, flows).rates();
}

}  // namespace

TEST_CASE("incremental rates equal those of the plain solver, always") {
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Case random = RandomCase(seed).make();
    FlowNetwork network(random.capacities);
    drive(network, random.starts, [&](Picoseconds) {
      const std::vector<FlowRate> active = network.rates();
      const std::vector<std::int64_t> expected = reference_rates(random, active);
      for (std::size_t i = 0; i < active.size(); ++i) REQUIRE(active[i].bytes_per_s == expected[i]);
    });
  }
}

TEST_CASE("the order in which flows of one time start does not matter") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    RandomCase source(seed);
    Case random = source.make();
    FlowNetwork network(random.capacities);
    const auto ends = drive(network, random.starts);
    source.shuffle(random.starts);
    network.reset();
    REQUIRE(drive(network, random.starts) == ends);
  }
}

TEST_CASE("bytes moved are the bytes asked for, and no link is over capacity") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Case random = RandomCase(seed).make();
    std::map<std::uint32_t, FlowStart> by_name;
    for (const FlowStart& start : random.starts) by_name[start.name] = start;
    FlowNetwork network(random.capacities);
    std::map<std::uint32_t, Int128> moved;  // in rate * ps
    std::vector<FlowRate> rates;
    Picoseconds before = 0;
    drive(network, random.starts, [&](Picoseconds now) {
      for (const FlowRate& rate : rates) moved[rate.flow] += Int128{rate.bytes_per_s} * (now - before);
      before = now;
      rates = network.rates();
      std::vector<Int128> load(random.capacities.size(), 0);
      for (const FlowRate& rate : rates) {
        for (const LinkUse& use : by_name[rate.flow].uses) {
          load[index(use.link)] += Int128{rate.bytes_per_s} * static_cast<Int128>(use.weight);
        }
      }
      // A rate is at least 1 byte/s, which only the tiny links of these cases cannot always carry.
      for (std::size_t link = 0; link < load.size(); ++link) {
        if (random.capacities[link] < 1000) continue;
        REQUIRE(load[link] <= Int128{random.capacities[link]} * static_cast<Int128>(kWeightOne));
      }
    });
    for (const auto& [name, start] : by_name) {
      // The end is rounded up to a whole ps, so at most one ps at the last rate is too much.
      const Int128 asked = Int128{start.leg.alone_ps} * start.leg.rate;
      REQUIRE(moved[name] >= asked);
      REQUIRE(moved[name] < asked + start.leg.rate);
    }
  }
}
