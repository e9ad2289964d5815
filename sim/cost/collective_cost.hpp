// Computes the price of communication: lays the rounds of a collective on the routes of the topology. Knows
// algorithms, links and bytes; nothing of layers, plans or tasks. See docs/theory/collectives.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/routed_collective.hpp"

namespace orrery {

/// A communication task as the engine sees it. Leg::use_begin/use_end index `uses`.
struct TransferPrice {
  std::vector<Leg> legs;
  std::vector<LinkUse> uses;   ///< each link once per leg, in ascending order of link
  std::string_view algorithm;  ///< the one taken; empty for a group of one
  [[nodiscard]] Picoseconds alone_ps() const {
    Picoseconds sum = 0;
    for (const Leg& leg : legs) sum += leg.latency_ps + leg.alone_ps;
    return sum;
  }
};

/// Prices messages between groups of GPUs. Holds the topology by reference; keeps the rounds of each
/// group shape it has met, so one pricer serves one thread.
class CollectivePricer {
 public:
  /// `algorithms`: per Collective a name of `collective_algorithms()`, or "auto".
  /// @throws InputError at /plan/collectives/<collective> for any other name.
  CollectivePricer(const Topology& topology, const std::array<std::string, kCollectiveCount>& algorithms);
  ~CollectivePricer();
  CollectivePricer(CollectivePricer&&) noexcept;

  /// Price of `message` among `members` (different ranks; rank r is GPU r), into `out` (its storage is
  /// reused). A group of one costs nothing; a message of 0 bytes costs its latency.
  /// "auto" takes the fastest of those NCCL would consider, the first of the menu when equal.
  /// @throws InputError at /plan/collectives/<collective> if the chosen algorithm cannot do it.
  void price(const Message& message, std::span<const std::uint32_t> members, TransferPrice& out);

  /// Returns the part of price() that does not depend on the size of the message.
  /// @throws InputError as price()
  [[nodiscard]] RoutedCollective route(const Message& message, std::span<const std::uint32_t> members);
  /// The legs of a price, but for the links.
  void price(const RoutedCollective& routed, Bytes bytes, TransferPrice& out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace orrery
