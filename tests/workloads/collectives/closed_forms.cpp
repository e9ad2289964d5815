// Every collective and algorithm against its alpha-beta formula, to the picosecond, on a crossbar
// without contention: latency a = 1.5 us and bandwidth B = 25 GB/s per direction and GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "tests/workloads/collectives/small_networks.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr Picoseconds a = Crossbar::kLatency;

/// Multiples of all n tried, and sizes that none divides.
const std::vector<Bytes> kSizes{0, 1, 5'040, 1'048'576, 7'654'321, 1'000'000'007, 3'628'800'000};
const std::vector<std::uint32_t> kMembers{2, 3, 4, 5, 6, 7, 8, 9, 16, 24};

/// Time for share/of of `bytes` on one link.
using Transfer = std::function<Picoseconds(std::int64_t share, std::int64_t of)>;
using Formula = std::function<Picoseconds(std::int64_t n, const Transfer& t)>;

Transfer transfer_of(Bytes bytes) {
  return [bytes](std::int64_t share, std::int64_t of) {
    return transfer_ps(static_cast<Int128>(bytes) * share, Crossbar::kBandwidth, of);
  };
}

void check_formula(const std::string& algorithm, Collective collective, bool one_node,
                   const Formula& formula) {
  for (const std::uint32_t n : kMembers) {
    const Crossbar crossbar(n, one_node ? n : 1);
    for (const Bytes bytes : kSizes) {
      CAPTURE(n);
      CAPTURE(bytes);
      CHECK(price(crossbar, algorithm, collective, n, bytes).alone_ps() == formula(n, transfer_of(bytes)));
    }
  }
}

/// Holds however the members are spread over nodes.
void check_everywhere(const std::string& algorithm, Collective collective, const Formula& formula) {
  check_formula(algorithm, collective, false, formula);
  check_formula(algorithm, collective, true, formula);
}

std::int64_t ceil_log2(std::int64_t n) { return std::bit_width(static_cast<std::uint64_t>(n) - 1); }

/// Recursive doubling over p = 2^L active members, r of which stand for two: before round k, a group
/// of 2^k active members holds 2^k + min(r, 2^k) of the n blocks. The r others first send their own
/// block, and at the end get the n - 1 that they lack.
Picoseconds recursive_doubling(std::int64_t n, const Transfer& t) {
  const std::int64_t p = std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(n)) - 1);
  const std::int64_t r = n - p;
  Picoseconds time = r > 0 ? 2 * a + t(1, n) + t(n - 1, n) : 0;
  for (std::int64_t size = 1; size < p; size *= 2) time += a + t(size + std::min(r, size), n);
  return time;
}

/// Halves, quarters, ... down to 1/p and back; the two rounds of 1/p are one leg. Members beyond p
/// first send all their data to their partners, and get the result at the end.
Picoseconds halving_doubling(std::int64_t n, const Transfer& t) {
  const std::int64_t p = std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(n)) - 1);
  Picoseconds time = n > p ? 2 * (a + t(1, 1)) : 0;
  for (std::int64_t size = 2; size < p; size *= 2) time += 2 * (a + t(1, size));
  return time + 2 * a + t(2, p);
}

}  // namespace

TEST_CASE("ring: 2(n-1) steps of M/n; a broadcast is a chain of many chunks") {
  check_everywhere("ring", Collective::all_reduce,
                   [](std::int64_t n, const Transfer& t) { return 2 * (n - 1) * a + t(2 * (n - 1), n); });
  for (const Collective half : {Collective::all_gather, Collective::reduce_scatter}) {
    check_everywhere("ring", half,
                     [](std::int64_t n, const Transfer& t) { return (n - 1) * a + t(n - 1, n); });
  }
  // (p - 2 + k)(a + m/(k B)) with chunks so small that k m/(k B) is m/B and the first takes (p - 1) a.
  check_everywhere("ring", Collective::broadcast,
                   [](std::int64_t n, const Transfer& t) { return (n - 1) * a + t(1, 1); });
}

TEST_CASE("tree over nodes: up and down ceil(log2 n) levels, 2 M/B") {
  // A member has up to 3 neighbours in one tree and 1 in the other, M/2 to and from each: 4 M/2.
  // n = 2: 1 and 1 neighbours, M. n = 3: 2 and 1, 3/2 M.
  check_formula("tree", Collective::all_reduce, false, [](std::int64_t n, const Transfer& t) {
    return 2 * ceil_log2(n) * a + t(n == 2 ? 2 : n == 3 ? 3 : 4, 2);
  });
}

TEST_CASE("tree in one node: a chain up and down") {
  // Members inside the chain have 2 neighbours in both trees: 4 M/2. n = 2: only 1 neighbour.
  check_formula("tree", Collective::all_reduce, true,
                [](std::int64_t n, const Transfer& t) { return 2 * (n - 1) * a + t(n == 2 ? 1 : 2, 1); });
}

TEST_CASE("halving-doubling: log2 n rounds, and two more when n is no power of two") {
  check_everywhere("halving-doubling", Collective::all_reduce, halving_doubling);
  check_everywhere("halving-doubling", Collective::all_gather, recursive_doubling);
  check_everywhere("halving-doubling", Collective::reduce_scatter, recursive_doubling);
  check_everywhere("halving-doubling", Collective::broadcast,
                   [](std::int64_t n, const Transfer& t) { return ceil_log2(n) * (a + t(1, 1)); });
}

TEST_CASE("halving-doubling of a power of two is 2 log2(n) a + 2(n-1)/n M/B") {
  // n = 8, M = 8e6 bytes: 6 * 1.5 us + 14e6 / 25e9 s = 9 us + 560 us.
  const Crossbar crossbar(8);
  CHECK(price(crossbar, "halving-doubling", Collective::all_reduce, 8, 8'000'000).alone_ps() == 569'000'000);
}

TEST_CASE("direct: everything at once") {
  check_everywhere("direct", Collective::all_reduce,
                   [](std::int64_t n, const Transfer& t) { return 2 * a + t(2 * (n - 1), n); });
  for (const Collective once : {Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all}) {
    check_everywhere("direct", once, [](std::int64_t n, const Transfer& t) { return a + t(n - 1, n); });
  }
  check_everywhere("direct", Collective::broadcast,
                   [](std::int64_t n, const Transfer& t) { return a + t(n - 1, 1); });
  // 1e6 bytes / 25e9 bytes/s = 40 us, and 1.5 us.
  CHECK(price(Crossbar(2), "direct", Collective::send_recv, 2, 1'000'000).alone_ps() == 41'500'000);
}

TEST_CASE("hierarchical: N nodes of g, g-1 steps inside and N-1 across") {
  using Case = std::pair<std::int64_t, std::int64_t>;
  for (const Case& shape : {Case{2, 1}, {5, 1}, {2, 2}, {3, 2}, {4, 4}, {2, 8}, {3, 8}, {7, 3}}) {
    const std::int64_t nodes = shape.first;
    const std::int64_t g = shape.second;
    const auto n = static_cast<std::uint32_t>(nodes * g);
    const Crossbar crossbar(n, static_cast<std::uint32_t>(g));
    for (const Bytes bytes : kSizes) {
      CAPTURE(nodes);
      CAPTURE(g);
      CAPTURE(bytes);
      const Transfer t = transfer_of(bytes);
      const auto priced = [&](Collective collective) {
        return price(crossbar, "hierarchical", collective, n, bytes).alone_ps();
      };
      const Picoseconds inside = (g - 1) * a + t(g - 1, g);
      const Picoseconds across = (nodes - 1) * a + t(nodes - 1, n);
      CHECK(priced(Collective::all_reduce) == 2 * inside + 2 * (nodes - 1) * a + t(2 * (nodes - 1), n));
      CHECK(priced(Collective::all_gather) == inside + across);
      CHECK(priced(Collective::reduce_scatter) == inside + across);
      // Scatter in the first node, a chain of 1/g for each local position, all-gather inside.
      const Picoseconds scatter = g > 1 ? a + t(g - 1, g) : 0;
      CHECK(priced(Collective::broadcast) == scatter + (nodes - 1) * a + t(1, g) + inside);
      // To g - 1 local peers 1/g each, then to N - 1 nodes 1/N each.
      CHECK(priced(Collective::all_to_all) == scatter + a + t(nodes - 1, nodes));
    }
  }
}

TEST_CASE("all-reduce takes less than 2 M/B and its halves less than M/B, for any n") {
  const Bytes bytes = 1'000'000'000;
  const Picoseconds one = transfer_ps(bytes, Crossbar::kBandwidth);
  for (std::uint32_t n = 2; n <= 512; n *= 2) {
    const Crossbar crossbar(n);
    for (const std::string algorithm : {"ring", "halving-doubling", "direct", "hierarchical"}) {
      CAPTURE(n);
      CAPTURE(algorithm);
      const auto data = [&](Collective collective) {
        Picoseconds sum = 0;
        for (const Leg& leg : price(crossbar, algorithm, collective, n, bytes).legs) sum += leg.alone_ps;
        return sum;
      };
      CHECK(data(Collective::all_reduce) < 2 * one);
      CHECK(data(Collective::all_gather) < one);
      CHECK(data(Collective::reduce_scatter) < one);
      CHECK(data(Collective::all_reduce) >= one);
    }
  }
}
