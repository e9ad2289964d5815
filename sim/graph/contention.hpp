// Which links a run overloads: on which transfers that are in flight at the same time ask for more than
// the link carries. As long as no such link is left out of the run, the others cannot change it, since a
// link that is not overloaded slows no one down (sim/network/flow_network.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/graph/expanded_graph.hpp"
#include "sim/graph/fold.hpp"
#include "sim/graph/price_list.hpp"

namespace orrery {

class Contention {
 public:
  /// Keeps references.
  Contention(const Workload& workload, const Channels& channels, const PriceList& prices,
             const Topology& topology);

  /// The links that the run overloads without having shared them, in ascending order.
  [[nodiscard]] std::vector<LinkId> overloaded(const Folded& folded, const ExpandedGraph& expanded,
                                               const Timeline& timeline) const;

  /// The links that could be overloaded if everything came together.
  [[nodiscard]] std::vector<LinkId> all() const;

 private:
  void add_demands(const Channel& channel, std::uint32_t group);
  void describe_prices();
  template <class Visit>
  void for_each_load(Visit visit) const;

  const Workload& workload_;
  const Channels& channels_;
  const PriceList& prices_;
  const Topology& topology_;
  std::vector<std::uint32_t> first_place_;  ///< per price: of its links, in what follows
  std::vector<std::int64_t> peak_;          ///< per link of a price: bytes/s it asks for at most
  std::vector<std::uint64_t> load_;         ///< per link of a price: hash of legs, rates and weights
  std::vector<std::int64_t> demand_;        ///< per link: sum over groups of the most they ask for
};

}  // namespace orrery
