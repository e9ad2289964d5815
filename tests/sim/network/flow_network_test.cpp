// Hand cases: small links (bytes/s) and round times, so that the arithmetic fits in the comments.
#include "sim/network/flow_network.hpp"

#include <doctest/doctest.h>

#include <map>
#include <stdexcept>
#include <vector>

#include "tests/sim/network/flow_driver.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

using Ends = std::map<std::uint32_t, Picoseconds>;
using Capacities = std::vector<std::int64_t>;

std::map<std::uint32_t, std::int64_t> rates_by_name(FlowNetwork& network) {
  std::map<std::uint32_t, std::int64_t> out;
  for (const FlowRate& rate : network.rates()) out[rate.flow] = rate.bytes_per_s;
  return out;
}

}  // namespace

TEST_CASE("a flow alone takes exactly its time alone") {
  FlowNetwork network(Capacities{7, 9});
  // 12345 ps at a rate that divides nothing: no rounding may creep in.
  CHECK(drive(network, {{1000, 5, data_leg(12345, 7), {on_link(0), on_link(1)}}}) == Ends{{5, 13345}});
}

TEST_CASE("two flows on one link halve it") {
  FlowNetwork network(Capacities{10});
  // Each has 100 ps at 10 B/s; at 5 B/s both take 200 ps.
  const Leg leg = data_leg(100, 10);
  CHECK(drive(network, {{0, 1, leg, {on_link(0)}}, {0, 2, leg, {on_link(0)}}}) == Ends{{1, 200}, {2, 200}});
}

TEST_CASE("a rate that changes midway") {
  FlowNetwork network(Capacities{10});
  // Flow 1: 1000 work (100 ps at 10). Alone until 40: 400 done. Flow 2 (30 ps at 10 = 300 work) comes:
  // both at 5, flow 2 ends at 40 + 300/5 = 100. Flow 1 has then 600 - 300 = 300 left at 10: 130.
  CHECK(drive(network, {{0, 1, data_leg(100, 10), {on_link(0)}}, {40, 2, data_leg(30, 10), {on_link(0)}}}) ==
        Ends{{1, 130}, {2, 100}});
}

TEST_CASE("rates and times are rounded to whole numbers, down and up") {
  FlowNetwork network(Capacities{10});
  // Three flows on 10 B/s: floor(10/3) = 3 B/s each; 1000 work / 3 = 333.3 ps, rounded up to 334.
  std::vector<FlowStart> starts;
  for (std::uint32_t f = 0; f < 3; ++f) starts.push_back({0, f, data_leg(100, 10), {on_link(0)}});
  CHECK(drive(network, starts) == Ends{{0, 334}, {1, 334}, {2, 334}});
}

TEST_CASE("the classic line of links: one long flow against short ones") {
  FlowNetwork network(Capacities{10, 20, 30});
  // Flow 0 crosses all links, flow 1..3 one each. Link 0: 10/2 = 5 for flows 0 and 1. Then link 1 has
  // 20 - 5 = 15 for flow 2 and link 2 has 30 - 5 = 25 for flow 3.
  const std::vector<LinkUse> all{on_link(0), on_link(1), on_link(2)};
  const std::vector<LinkUse> one[]{{on_link(0)}, {on_link(1)}, {on_link(2)}};
  network.start(0, data_leg(1000, 10), all);
  network.start(1, data_leg(1000, 10), one[0]);
  network.start(2, data_leg(1000, 20), one[1]);
  network.start(3, data_leg(1000, 30), one[2]);
  CHECK(rates_by_name(network) == std::map<std::uint32_t, std::int64_t>{{0, 5}, {1, 5}, {2, 15}, {3, 25}});
}

TEST_CASE("a ring of four with two crossing flows") {
  FlowNetwork network(Capacities{10, 10, 10, 10});
  // Link i goes from node i to i + 1. Flow 1: 0 -> 2 over links 0, 1. Flow 2: 1 -> 3 over links 1, 2.
  // They share link 1 at 5 each. Flow 1 (1000 work) ends at 200; flow 2 (2000 work) has moved 1000
  // by then and does the rest at 10: 200 + 100 = 300.
  CHECK(drive(network, {{0, 1, data_leg(100, 10), {on_link(0), on_link(1)}},
                        {0, 2, data_leg(200, 10), {on_link(1), on_link(2)}}}) == Ends{{1, 200}, {2, 300}});
}

TEST_CASE("weights: a leg with three messages on the link gets a quarter of it per message") {
  FlowNetwork network(Capacities{12});
  // Level = 12 / (3 + 1) = 3. The heavy leg alone moves at 12/3 = 4: 400 work / 3 -> 134 ps.
  // Then the light one (rate 12 alone, 1200 work) has 1200 - 134 * 3 = 798 left at 12: 66.5 -> 67.
  CHECK(drive(network, {{0, 1, data_leg(100, 4), {on_link(0, 3 * kWeightOne)}},
                        {0, 2, data_leg(100, 12), {on_link(0)}}}) == Ends{{1, 134}, {2, 201}});
}

TEST_CASE("half weights: two legs that use half of a link each do not slow each other") {
  FlowNetwork network(Capacities{10});
  const std::vector<LinkUse> half{on_link(0, kWeightOne / 2)};
  CHECK(drive(network, {{0, 1, data_leg(70, 10), half}, {0, 2, data_leg(90, 10), half}}) ==
        Ends{{1, 70}, {2, 90}});
  CHECK(network.flows_solved() == 0);
}

TEST_CASE("a slow flow leaves the rest of the link to others") {
  FlowNetwork network(Capacities{10, 2});
  // Flow 1 is held to 2 B/s by link 1; flow 2 gets 10 - 2 = 8, not 5.
  const std::vector<LinkUse> both{on_link(0), on_link(1)};
  const std::vector<LinkUse> first{on_link(0)};
  network.start(1, data_leg(100, 2), both);
  network.start(2, data_leg(100, 10), first);
  CHECK(rates_by_name(network) == std::map<std::uint32_t, std::int64_t>{{1, 2}, {2, 8}});
}

TEST_CASE("starts and ends of one time are applied together") {
  FlowNetwork network(Capacities{10});
  // Flow 2 starts in the very ps in which flow 1 ends: they never share.
  CHECK(drive(network, {{0, 1, data_leg(100, 10), {on_link(0)}}, {100, 2, data_leg(50, 10), {on_link(0)}}}) ==
        Ends{{1, 100}, {2, 150}});
  CHECK(network.flows_solved() == 0);
}

TEST_CASE("a change is solved for its own component only") {
  FlowNetwork network(Capacities{10, 10, 10});
  const std::vector<LinkUse> uses[]{{on_link(0)}, {on_link(1)}, {on_link(2)}};
  for (std::uint32_t f = 0; f < 6; ++f) network.start(f, data_leg(100, 10), uses[f / 2]);
  CHECK(rates_by_name(network)[5] == 5);
  CHECK(network.flows_solved() == 6);
  std::vector<std::uint32_t> finished;
  network.advance(50, finished);
  network.start(6, data_leg(100, 10), uses[2]);  // joins flows 4 and 5
  CHECK(rates_by_name(network)[5] == 3);
  CHECK(network.flows_solved() == 6 + 3);
  CHECK(finished.empty());
}

TEST_CASE("flows of no data end at once and disturb nobody") {
  FlowNetwork network(Capacities{10});
  CHECK(drive(network, {{0, 1, data_leg(100, 10), {on_link(0)}},
                        {30, 2, data_leg(0, 10), {on_link(0)}},
                        {30, 3, data_leg(0, 10), {on_link(0)}}}) == Ends{{1, 100}, {2, 30}, {3, 30}});
}

TEST_CASE("a link too small for its flows gives each 1 byte/s, so that nothing hangs") {
  FlowNetwork network(Capacities{1});
  // 10 work each at 1 B/s.
  std::vector<FlowStart> starts;
  for (std::uint32_t f = 0; f < 5; ++f) starts.push_back({0, f, data_leg(10, 1), {on_link(0)}});
  for (const auto& [name, end] : drive(network, starts)) CHECK(end == 10);
}

TEST_CASE("reset forgets flows and time") {
  FlowNetwork network(Capacities{10});
  const std::vector<LinkUse> uses{on_link(0)};
  std::vector<std::uint32_t> finished;
  network.advance(77, finished);
  network.start(1, data_leg(100, 10), uses);
  network.start(2, data_leg(100, 10), uses);
  network.reset();
  CHECK(network.next_event() == kNever);
  CHECK(drive(network, {{0, 3, data_leg(40, 10), {on_link(0)}}}) == Ends{{3, 40}});
}

TEST_CASE("capacities out of range are refused") {
  CHECK_THROWS_AS(FlowNetwork(Capacities{0}), std::invalid_argument);
  CHECK_THROWS_WITH(FlowNetwork(Capacities{1, -5}),
                    "link 1: capacity of -5 bytes/s is not within 1 and 2^46");
  CHECK_THROWS_AS(FlowNetwork(Capacities{(std::int64_t{1} << 46) + 1}), std::invalid_argument);
}
