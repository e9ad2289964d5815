// Turns the rounds of a collective into legs, that is into load on links. Inside sim/cost/ only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "orrery/units.hpp"
#include "sim/cost/routed_collective.hpp"
#include "workloads/collectives/collectives.hpp"

namespace orrery {

/// Adds up the load of each round on each link. Scratch arrays are as long as the topology has links.
class LegBuilder {
 public:
  explicit LegBuilder(const Topology& topology);

  /// The group of the collectives that follow; stays valid until the next one.
  void set_group(std::span<const std::uint32_t> members);

  /// Appends one leg per round of a collective of `bytes` in the group, the first with the overhead of
  /// all of them. Rounds stay where they are until the next group.
  void append(const Rounds& rounds, Bytes bytes, std::vector<Leg>& legs, std::vector<LinkUse>& uses);

  /// The messages of a round on the links of the group; of whatever size, and however often repeated.
  struct RoutedMessages {
    const Round* round = nullptr;
    SlowestLink slowest;
    std::int64_t stages = 0;
    Int128 stage_latency_sum = 0;
    std::int64_t near_stages = 0;  ///< of these, all of whose messages stay in their domains
    Int128 near_latency_sum = 0;
    std::int64_t near_share = 0;  ///< most that a member sends, or receives, within its domain
    std::int64_t nic_share = 0;   ///< most that a NIC carries of a group that shares domains
    std::uint32_t largest_share = 0;
    std::int64_t rate = 0;  ///< pace of a full-size message, with its uses
    std::vector<LinkUse> uses;
  };

  /// Returns the part of append() that does not depend on the size. It looks for the rounds' messages in
  /// `known` of the group and adds them, without rate and uses; rounds stay at their address as long as
  /// `known` lives.
  [[nodiscard]] RoutedRounds route(const Rounds& rounds, std::vector<RoutedMessages>& known);

 private:
  [[nodiscard]] const RoutedMessages& route_messages(const Round& round);
  [[nodiscard]] RoutedRound route_round(const Round& round, const Rounds& rounds,
                                        const RoutedMessages& routed) const;
  /// Loads the links with a round, and finds out all but rate and uses.
  void load(const Round& round, RoutedMessages& routed);
  void load_links(const Round& round);
  void load_message(const RoundMessage& message);
  void sort_touched();
  [[nodiscard]] SlowestLink slowest_link() const;
  [[nodiscard]] std::int64_t most_rate() const;
  [[nodiscard]] std::int64_t busiest_nic() const;
  void add_latencies(RoutedMessages& routed) const;
  void append_round(const Round& round, const Rounds& rounds, Bytes bytes, std::vector<Leg>& legs,
                    std::vector<LinkUse>& uses);
  void take_uses(RoutedMessages& routed) const;
  void drop_loads();

  const Topology& topology_;
  std::span<const std::uint32_t> members_;
  bool inside_domain_ = false;
  bool shares_domains_ = false;         ///< several members of a domain, and several domains
  std::vector<RoutedMessages> routed_;  ///< of the group, the first routed_count_ ones
  std::size_t routed_count_ = 0;
  std::vector<std::int64_t> load_;      ///< per link: shares of the round at hand
  std::vector<std::uint32_t> touched_;  ///< links with a load
  std::vector<std::uint64_t> bits_;     ///< scratch of sort_touched; zero
  /// Holds the shares that a member sends and receives in a round.
  struct Moved {
    std::int64_t sent = 0;
    std::int64_t received = 0;
  };
  /// The largest sum of shares that a member sends or receives.
  [[nodiscard]] static std::int64_t busiest(const std::vector<Moved>& moved);

  std::vector<Picoseconds> stage_latency_;  ///< per stage: of its slowest message; -1 if it has none
  std::vector<bool> stage_leaves_;          ///< per stage: a message of it leaves its domain
  std::vector<LinkId> route_;
  std::uint32_t largest_share_ = 0;
  std::uint32_t largest_flow_ = 0;  ///< largest share of a message from a domain to another one
  std::vector<Moved> near_;         ///< per member: within its domain
  std::vector<Moved> far_;          ///< to other domains and from them
  std::vector<Moved> all_;
};

}  // namespace orrery
