// Legs, link weights, choice of algorithm and errors, on networks of one and two levels.
#include <doctest/doctest.h>

#include <algorithm>

#include "orrery/error.hpp"
#include "sim/cost/collective_shapes.hpp"
#include "tests/workloads/collectives/small_networks.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

std::string error_of(const Topology& topology, const std::string& algorithm, Collective collective,
                     std::uint32_t members) {
  try {
    (void)price(topology, algorithm, collective, members, 1000);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a group of one costs nothing, and no bytes cost the latency") {
  const Crossbar crossbar(4);
  const TransferPrice one = price(crossbar, "auto", Collective::all_reduce, 1, 1'000'000);
  CHECK(one.legs.empty());
  CHECK(one.uses.empty());
  CHECK(one.alone_ps() == 0);
  CHECK(price(crossbar, "ring", Collective::all_reduce, 4, 0).alone_ps() == 6 * Crossbar::kLatency);
}

TEST_CASE("a ring is one leg that loads every link alike") {
  const TransferPrice ring = price(Crossbar(4), "ring", Collective::all_reduce, 4, 1'000'000);
  REQUIRE(ring.legs.size() == 1);
  CHECK(ring.algorithm == "ring");
  CHECK(ring.legs[0].latency_ps == 6 * Crossbar::kLatency);
  CHECK(ring.legs[0].alone_ps == 60'000'000);  // 1.5e6 bytes / 25e9 bytes/s
  CHECK(ring.legs[0].rate == Crossbar::kBandwidth);
  CHECK(ring.uses.size() == 8);
  CHECK(std::ranges::all_of(ring.uses, [](const LinkUse& use) { return use.weight == kWeightOne; }));
}

TEST_CASE("links are ascending, and weights count messages of full size") {
  // The first sends to three others: weight 3 on its link up, a third of the bandwidth for each.
  const TransferPrice direct = price(Crossbar(4), "direct", Collective::broadcast, 4, 1'000'000);
  REQUIRE(direct.legs.size() == 1);
  REQUIRE(direct.uses.size() == 4);
  CHECK(direct.uses[0].link == LinkId{0});
  CHECK(direct.uses[0].weight == 3 * kWeightOne);
  CHECK(direct.uses[1].link == LinkId{5});
  CHECK(direct.uses[1].weight == kWeightOne);
  CHECK(direct.legs[0].rate == Crossbar::kBandwidth / 3);
  CHECK(std::ranges::is_sorted(direct.uses, {}, &LinkUse::link));
}

TEST_CASE("equal rounds in sequence are one leg") {
  // 8 members: 1/2, 1/4, 1/8 twice in a row, 1/4, 1/2.
  const TransferPrice price8 = price(Crossbar(8), "halving-doubling", Collective::all_reduce, 8, 8'000);
  REQUIRE(price8.legs.size() == 5);
  CHECK(price8.legs[2].latency_ps == 2 * Crossbar::kLatency);
  CHECK(price8.legs[2].alone_ps == 80'000);  // 2 * 1,000 bytes / 25e9 bytes/s
  CHECK(price8.legs[2].use_begin == price8.legs[1].use_end);
}

TEST_CASE("a message can be priced again into the same storage") {
  const TwoLevel network(3, 4);
  CollectivePricer pricer(network, all_by("auto"));
  const Message message{Collective::all_reduce, 123'456'789, Dimension::data};
  TransferPrice first;
  TransferPrice second;
  pricer.price(message, first_ranks(12), first);
  pricer.price({Collective::all_to_all, 99, Dimension::expert}, first_ranks(8), second);
  pricer.price(message, first_ranks(12), second);
  CHECK(second.alone_ps() == first.alone_ps());
  CHECK(second.algorithm == first.algorithm);
  CHECK(second.uses.size() == first.uses.size());
  pricer.price(message, first_ranks(1), second);
  CHECK(second.legs.empty());
}

TEST_CASE("groups of the same shape cost the same wherever they are") {
  const TwoLevel network(8, 4);
  CollectivePricer pricer(network, all_by("auto"));
  const std::vector<std::uint32_t> low{0, 4, 8, 12};
  const std::vector<std::uint32_t> high{19, 23, 27, 31};
  const Message message{Collective::all_reduce, 1'000'000, Dimension::data};
  TransferPrice price_low;
  TransferPrice price_high;
  pricer.price(message, low, price_low);
  pricer.price(message, high, price_high);
  CHECK(price_low.alone_ps() == price_high.alone_ps());
  CHECK(price_low.uses[0].link == LinkId{2});  // NIC up of GPU 0
  CHECK(price_high.uses[0].link == LinkId{19 * 4 + 2});
}

TEST_CASE("shape: nodes in order of first member, as many rings as GPUs of a node") {
  const TwoLevel network(3, 4);
  const std::vector<std::uint32_t> members{5, 1, 4, 0};  // nodes 1 and 0, interleaved
  const GroupShape shape = group_shape(network, members);
  REQUIRE(shape.nodes.size() == 2);
  CHECK(shape.nodes[0] == std::vector<std::uint32_t>{0, 2});
  CHECK(shape.nodes[1] == std::vector<std::uint32_t>{1, 3});
  REQUIRE(shape.rings.size() == 2);
  CHECK(shape.rings[0] == std::vector<std::uint32_t>{0, 2, 1, 3});
  CHECK(shape.rings[1] == std::vector<std::uint32_t>{2, 0, 3, 1});
}

TEST_CASE("shape: a node with fewer members uses its rings in turn; one circle is one ring") {
  const TwoLevel network(2, 4);
  const std::vector<std::uint32_t> uneven{0, 1, 2, 4};
  const GroupShape shape = group_shape(network, uneven);
  REQUIRE(shape.rings.size() == 3);
  for (const auto& ring : shape.rings) CHECK(ring.back() == 3);
  CHECK(group_shape(network, first_ranks(4)).rings.size() == 1);
}

TEST_CASE("a ring over two nodes uses every NIC, up to the NVLinks") {
  // n = 16 on 2 nodes of 8, 8 rings: each NIC carries M/8 * 2(n-1)/n; the NVLinks of a GPU 7 of its 8
  // messages. M = 1.6e9: 2 * 15 * 1e8 bytes in all, per NIC 3.75e8 at 25 GB/s = 15 ms;
  // per NVLink port 7/8 * 3e9 bytes at 200 GB/s = 13.125 ms.
  const Bytes bytes = 1'600'000'000;
  const TransferPrice ring = price(TwoLevel(2, 8), "ring", Collective::all_reduce, 16, bytes);
  CHECK(ring.legs[0].alone_ps == 15'000'000'000);
  CHECK(std::ranges::count_if(ring.uses, [](const LinkUse& use) { return index(use.link) % 4 == 2; }) == 16);
  // NVLinks of 100 GB/s are the limit instead: 26.25 ms.
  const TransferPrice slow =
      price(TwoLevel(2, 8, 100'000'000'000), "ring", Collective::all_reduce, 16, bytes);
  CHECK(slow.legs[0].alone_ps == 26'250'000'000);
}

TEST_CASE("a ring's latency is that of its circle, a tree's that of its way up and down") {
  // 2 nodes of 4: the circle has 6 hops of 1 us and 2 of 5 us; 14 of 8 hops: 14 * 16 / 8 = 28 us.
  const TwoLevel network(2, 4);
  CHECK(price(network, "ring", Collective::all_reduce, 8, 0).alone_ps() == 28'000'000);
  // NCCL: 2((g-1) intra + log2(N) inter) = 2(3 * 1 + 1 * 5) us.
  CHECK(price(network, "tree", Collective::all_reduce, 8, 0).alone_ps() == 16'000'000);
  // A broadcast goes 7 of the 8 hops of the circle.
  CHECK(price(network, "ring", Collective::broadcast, 8, 0).alone_ps() == 14'000'000);
  // Inside 3 * 1 us, across 2 * 5 us, inside 3 * 1 us.
  CHECK(price(network, "hierarchical", Collective::all_reduce, 8, 0).alone_ps() == 16'000'000);
}

TEST_CASE("a broadcast that starts inside its ring goes around the rest of it") {
  class OneBackwardRing : public TwoLevel {
   public:
    using TwoLevel::TwoLevel;
    [[nodiscard]] std::vector<std::vector<GpuId>> node_rings(
        const std::vector<GpuId>& members) const override {
      return {{members.rbegin(), members.rend()}};
    }
  };
  // The ring is 3 2 1 0 4 5 6 7. From 0: 5 us to 4, 3 * 1 us to 7, 5 us to 3, 2 * 1 us to 1.
  CHECK(price(OneBackwardRing(2, 4), "ring", Collective::broadcast, 8, 0).alone_ps() == 15'000'000);
}

TEST_CASE("rings stay on their rails between nodes") {
  // 4 nodes of 4: GPU i of a node only ever talks to GPU i of others, in every ring.
  const Rounds rounds = find_collective_algorithm("ring")->rounds(
      Collective::all_reduce, group_shape(TwoLevel(4, 4), first_ranks(16)));
  for (const RoundMessage& message : rounds.rounds.front().messages) {
    if (message.from / 4 != message.to / 4) CHECK(message.from % 4 == message.to % 4);
  }
}

TEST_CASE("hierarchical all-reduce sends 1/g of the data through each NIC") {
  // 4 nodes of 8, M = 1.6e9: across 2(N-1)/N M/g = 1.5 * 2e8 bytes at 25 GB/s = 12 ms.
  const TransferPrice price32 =
      price(TwoLevel(4, 8), "hierarchical", Collective::all_reduce, 32, 1'600'000'000);
  REQUIRE(price32.legs.size() == 3);
  CHECK(price32.legs[1].alone_ps == 12'000'000'000);
  CHECK(price32.legs[0].alone_ps == 7'000'000'000);  // 7/8 * 1.6e9 bytes at 200 GB/s
}

TEST_CASE("auto goes from tree to ring as messages grow, over many nodes") {
  // 64 nodes: tree 12 a + 2 M/B, ring 126 a + 126/64 M/B; equal where M/B = 114 * 32 a, at 136.8e6 bytes.
  const Crossbar crossbar(64);
  const auto taken = [&](Bytes bytes) {
    return price(crossbar, "auto", Collective::all_reduce, 64, bytes).algorithm;
  };
  CHECK(taken(0) == "tree");
  CHECK(taken(1'000'000) == "tree");
  CHECK(taken(136'799'000) == "tree");
  CHECK(taken(136'800'000) == "ring");  // equal: the first of the menu
  CHECK(taken(1'000'000'000) == "ring");
  CHECK(price(crossbar, "auto", Collective::all_gather, 64, 1).algorithm == "ring");
  CHECK(price(crossbar, "auto", Collective::broadcast, 64, 1).algorithm == "ring");
  CHECK(price(crossbar, "auto", Collective::all_to_all, 64, 1).algorithm == "direct");
  CHECK(price(crossbar, "auto", Collective::send_recv, 2, 1).algorithm == "direct");
}

TEST_CASE("what an algorithm cannot do is an error at its choice") {
  const Crossbar crossbar(4);
  CHECK(error_of(crossbar, "tree", Collective::all_gather, 4) ==
        "/plan/collectives/all-gather: \"tree\" is impossible for a group of 4 on 4 nodes: it does "
        "all-reduce only");
  CHECK(error_of(crossbar, "ring", Collective::all_to_all, 4).find("/plan/collectives/all-to-all") == 0);
  CHECK(
      error_of(crossbar, "halving-doubling", Collective::send_recv, 2).find("/plan/collectives/send-recv") ==
      0);
  CHECK(error_of(crossbar, "direct", Collective::send_recv, 3).find("between two members") !=
        std::string::npos);
  CHECK(error_of(Crossbar(4, 3), "hierarchical", Collective::all_reduce, 4).find("equally many members") !=
        std::string::npos);
  CHECK(
      error_of(crossbar, "rings", Collective::all_reduce, 4) ==
      "/plan/collectives/all-reduce: unknown algorithm \"rings\"; one of auto, ring, tree, halving-doubling, "
      "hierarchical, direct, nvls, nvls-tree");
}

TEST_CASE("an exchange of all with all has a limit, with auto too") {
  const Crossbar crossbar(2049);
  CHECK(error_of(crossbar, "direct", Collective::all_reduce, 2049).find("its limit is 2,048 members") !=
        std::string::npos);
  CHECK(error_of(crossbar, "auto", Collective::all_to_all, 2049).find("its limit is 2,048 members") !=
        std::string::npos);
  CHECK(error_of(crossbar, "hierarchical", Collective::all_to_all, 2049).find("4,194,304 messages") !=
        std::string::npos);
  CHECK(error_of(crossbar, "direct", Collective::broadcast, 2049).empty());
}

TEST_CASE("large groups: 20,000 members on 2,500 nodes") {
  const TwoLevel network(2500, 8);
  for (const std::string algorithm : {"ring", "tree", "halving-doubling", "hierarchical"}) {
    CAPTURE(algorithm);
    const TransferPrice large = price(network, algorithm, Collective::all_reduce, 20'000, 1'000'000'000);
    CHECK(large.alone_ps() > 0);
    CHECK(large.algorithm == algorithm);
  }
}
