// Finds the links that a run overloads: on which transfers that are in flight at the same time ask for more
// than the link carries. As long as no such link is left out of the run, the others cannot change it, since a
// link that is not overloaded slows no one down (sim/network/flow_network.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/symmetry/fold.hpp"
#include "sim/tasks/expanded_graph.hpp"

namespace orrery {

class ContentTable;

class Contention {
 public:
  /// Keeps references.
  Contention(const Workload& workload, const Channels& channels, const PriceList& prices,
             const Topology& topology);

  /// The links that the run overloads without having shared them, in ascending order.
  [[nodiscard]] std::vector<LinkId> overloaded(const Folded& folded, const ExpandedGraph& expanded,
                                               const Timeline& timeline);

  /// The links that could be overloaded if everything came together, in ascending order.
  [[nodiscard]] const std::vector<LinkId>& possible() const { return possible_; }
  /// Returns those of possible() that are NICs crossed by messages between stages. They carry both directions
  /// at once in the steady part of most schedules, so they are likely to be overloaded.
  [[nodiscard]] std::vector<LinkId> between_stages() const;
  /// Returns all possible links except those of fused passes, which have no transfers that could share them.
  [[nodiscard]] std::vector<LinkId> possible_beside_passes() const;
  void erase_those_of_passes(std::vector<LinkId>& links) const;
  /// Returns true if fused passes use one of these links, or links that are not known. A pass is assumed to
  /// ask, from its begin to its end, for the highest rate of any of its messages.
  [[nodiscard]] bool slow_passes(const std::vector<LinkId>& links) const;

 private:
  /// Groups calls that cross the same links, at certain prices: one after the other, gathers beside the rest.
  /// For a channel with fused passes it has all calls.
  struct Bundle {
    std::vector<std::uint32_t> calls;
    std::vector<std::int64_t> peak;     ///< per link: bytes/s that one of them asks for at most, of the rest
    std::vector<std::int64_t> gathers;  ///< and of those on Stream::gather
    std::vector<std::uint64_t> load;    ///< per link: hash of calls, legs, rates and weights
    bool has_passes = false;
  };
  /// Says that a group loads its links as a bundle describes.
  struct LinkLoad {
    std::uint32_t group = 0;
    std::uint32_t bundle = 0;
    const LinkId* links = nullptr;  ///< its list
  };

  void look_at_operations();
  void list_footprints(const Channel& channel, ContentTable& numbers);
  void list_pass_footprints(const Channel& channel, ContentTable& numbers);
  [[nodiscard]] bool has_passes(const Channel& channel) const;
  /// Visits (call, its price or that of a message of it) of a channel with passes.
  template <class Visit>
  void for_each_message(const Channel& channel, Visit visit) const;
  [[nodiscard]] std::uint32_t find_bundle(std::span<const std::uint32_t> what, ContentTable& numbers);
  void add_bundle(std::uint32_t first_call, std::span<const std::uint32_t> prices);
  void add_price(Bundle& bundle, std::uint32_t call, const CallPrice& of_call, std::uint32_t price) const;
  void find_possible();
  /// Visits (footprint, bundle, place of the link, link).
  template <class Visit>
  void for_each_link(Visit visit) const;
  const std::vector<std::uint64_t>& hash_loads(const Folded& folded);
  [[nodiscard]] std::vector<bool> inspect(std::span<const LinkId> links, const Folded& folded,
                                          const ExpandedGraph& expanded, const Timeline& timeline) const;

  const Workload& workload_;
  const Channels& channels_;
  const PriceList& prices_;
  const Topology& topology_;
  std::vector<bool> gathers_;         ///< per message: whether it is sent on Stream::gather
  std::vector<bool> between_stages_;  ///< per channel: whether stages hand over on it
  std::vector<Bundle> bundles_;
  std::vector<LinkLoad> footprints_;  ///< of groups that use possible links
  std::vector<LinkId> possible_;
  std::vector<bool> of_passes_;          ///< per link: fused passes use it; empty: there are none
  bool unlike_ = false;                  ///< the messages of a pass cross unlike links
  std::vector<std::uint64_t> per_link_;  ///< scratch: demands, then hashes of loads
};

}  // namespace orrery
