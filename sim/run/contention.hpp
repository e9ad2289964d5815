// Which links a run overloads: on which transfers that are in flight at the same time ask for more than
// the link carries. As long as no such link is left out of the run, the others cannot change it, since a
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

 private:
  /// Calls that cross the same links, at certain prices: one after the other, gathers beside the rest.
  struct Bundle {
    std::vector<std::uint32_t> calls;
    std::vector<std::int64_t> peak;     ///< per link: bytes/s that one of them asks for at most, of the rest
    std::vector<std::int64_t> gathers;  ///< and of those on Stream::gather
    std::vector<std::uint64_t> load;    ///< per link: hash of calls, legs, rates and weights
  };
  /// A group does what a bundle says on its links.
  struct Footprint {
    std::uint32_t group = 0;
    std::uint32_t bundle = 0;
    const LinkId* links = nullptr;  ///< its list
  };

  void find_gathers();
  void list_footprints(const Channel& channel, ContentTable& numbers);
  [[nodiscard]] std::uint32_t find_bundle(std::span<const std::uint32_t> what, ContentTable& numbers);
  void add_bundle(std::uint32_t first_call, std::span<const std::uint32_t> prices);
  void add_price(Bundle& bundle, std::uint32_t call, std::uint32_t price) const;
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
  std::vector<bool> gathers_;  ///< per message: whether it is sent on Stream::gather
  std::vector<Bundle> bundles_;
  std::vector<Footprint> footprints_;  ///< of groups that use possible links
  std::vector<LinkId> possible_;
  std::vector<std::uint64_t> per_link_;  ///< scratch: demands, then hashes of loads
};

}  // namespace orrery
