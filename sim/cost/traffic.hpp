// Counts the bytes that GPUs send and links carry over a whole run, over all ranks. Folding does not change
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/pass_price.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/channels.hpp"

namespace orrery {

/// Links of one kind and bandwidth.
struct LinkTraffic {
  LinkKind kind{};
  std::int64_t bytes_per_s = 0;
  std::int64_t links = 0;
  std::uint64_t most = 0;  ///< bytes that the busiest of them carries
  Int128 bytes = 0;        ///< that all of them carry
};

struct Traffic {
  std::array<double, kDimensionCount> sent{};  ///< bytes, by Dimension
  std::vector<LinkTraffic> links;              ///< by kind, then bandwidth
};

/// Bytes one of `members` ranks sends in a communication: 2(n-1)/n * M for all_reduce, (n-1)/n * M
/// for the other collectives (for broadcast the mean over members), M for the sender of send_recv.
/// `first`: the rank is the group's first member. Ring and direct algorithms move just this much.
[[nodiscard]] double bytes_sent(const Message& message, std::size_t members, bool first);

/// Bytes that all ranks of a channel send when each of its communicators does it once.
[[nodiscard]] double bytes_sent(const Message& message, const Channel& channel);

/// a * b, and a + b, up to the end of 64 bits: sums of bytes do not depend on their order.
[[nodiscard]] std::uint64_t capped_bytes(std::uint64_t a, std::uint64_t b);
inline void add_bytes(std::uint64_t& sum, std::uint64_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) sum = ~std::uint64_t{0};
}

/// Returns the traffic of links, from the bytes that each carries.
[[nodiscard]] std::vector<LinkTraffic> traffic_of(const std::vector<Link>& links,
                                                  std::span<const std::uint64_t> bytes);

/// The traffic of a run, and of a period of it that may come more often.
class TrafficCounts {
 public:
  TrafficCounts() = default;
  /// @param prices            with links
  /// @param calls_in_period   per Channels::calls; empty: there is none
  TrafficCounts(const Workload& workload, const Channels& channels, const PriceList& prices,
                const Topology& topology, std::span<const std::uint64_t> calls_in_period);

  /// Returns the traffic if the period is repeated `more` times beyond the simulated run.
  [[nodiscard]] Traffic traffic(std::uint64_t more) const;
  [[nodiscard]] std::size_t bytes() const {
    return sizeof *this + sent_.size() * sizeof(Sent) + links_.size() * sizeof(Links);
  }

 private:
  struct Sent {
    Dimension dimension{};
    double bytes = 0;  ///< by all ranks, each time
    std::uint64_t times = 0;
    std::uint64_t times_in_period = 0;
  };
  /// Links of a kind that carry the same.
  struct Links {
    std::uint32_t kind = 0;
    std::uint32_t links = 0;
    std::uint64_t bytes = 0;  ///< on each
    std::uint64_t bytes_in_period = 0;
  };
  class Counter;

  std::vector<Sent> sent_;
  std::vector<LinkTraffic> kinds_;  ///< without bytes
  std::vector<Links> links_;
};

}  // namespace orrery
