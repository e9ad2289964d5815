// Holds the part of a collective's price in a group that does not depend on its size.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Shares of a number of bytes over a bandwidth, kept as a fraction to be rounded only once.
struct SlowestLink {
  std::int64_t share = 0;
  std::int64_t bytes_per_s = 1;

  /// Becomes the slower of the two.
  void consider(std::int64_t other_share, std::int64_t other_bytes_per_s) {
    if (static_cast<Int128>(other_share) * bytes_per_s > static_cast<Int128>(share) * other_bytes_per_s)
      *this = {other_share, other_bytes_per_s};
  }
};

struct RoutedRound {
  Picoseconds latency_ps = 0;
  SlowestLink slowest;
  std::int64_t repeat = 1;

  [[nodiscard]] Picoseconds data_ps(Bytes bytes, std::int64_t share_unit) const {
    return transfer_ps(static_cast<Int128>(bytes) * slowest.share * repeat, slowest.bytes_per_s, share_unit);
  }
};

/// Holds all rounds of an algorithm.
struct RoutedRounds {
  std::vector<RoutedRound> rounds;
  std::int64_t share_unit = 1;
  CollectiveOverhead overhead;

  /// Appends their legs, without links.
  void append(Bytes bytes, std::vector<Leg>& legs) const {
    const std::size_t first = legs.size();
    Picoseconds data_ps = 0;
    for (const RoutedRound& round : rounds) {
      Leg& leg = legs.emplace_back();
      leg.latency_ps = round.latency_ps;
      leg.alone_ps = round.data_ps(bytes, share_unit);
      data_ps += leg.alone_ps;
    }
    legs[first].latency_ps += overhead.of(data_ps);
  }
};

/// The rounds of each algorithm that is considered.
using RoutedCollective = std::vector<RoutedRounds>;

}  // namespace orrery
