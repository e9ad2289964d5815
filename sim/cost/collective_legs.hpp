// Inside sim/cost/ only: the rounds of a collective as legs, that is as load on links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "workloads/collectives/collectives.hpp"

namespace orrery {

/// Adds up what each round puts on each link. Scratch arrays are as long as the topology has links.
class LegBuilder {
 public:
  explicit LegBuilder(const Topology& topology);

  /// Appends one leg per round of a collective of `bytes` among `members`, the first with the overhead
  /// of all of them.
  void append(const Rounds& rounds, Bytes bytes, std::span<const std::uint32_t> members,
              std::vector<Leg>& legs, std::vector<LinkUse>& uses);

 private:
  /// Shares of a number of bytes over a bandwidth, kept as a fraction to be rounded only once.
  struct Slowest {
    std::int64_t share = 0;
    std::int64_t bytes_per_s = 1;
  };

  void load_links(const Round& round, std::span<const std::uint32_t> members);
  void sort_touched();
  [[nodiscard]] Slowest slowest_link(bool in_switch) const;
  [[nodiscard]] Picoseconds latency(const Round& round) const;
  void append_round(const Round& round, const Rounds& rounds, Bytes bytes,
                    std::span<const std::uint32_t> members, std::vector<Leg>& legs,
                    std::vector<LinkUse>& uses);
  [[nodiscard]] bool inside_node(std::span<const std::uint32_t> members) const;
  /// Appends the uses and clears the loads. Returns the pace of a full-size message.
  std::int64_t take_uses(std::vector<LinkUse>& uses);

  const Topology& topology_;
  std::vector<std::int64_t> load_;          ///< per link: shares of the round at hand
  std::vector<std::uint32_t> touched_;      ///< links with a load
  std::vector<Picoseconds> stage_latency_;  ///< per stage: of its slowest message; -1 if it has none
  std::vector<LinkId> route_;
  std::uint32_t largest_share_ = 0;
};

}  // namespace orrery
