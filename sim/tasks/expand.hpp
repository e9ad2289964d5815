// From programs and prices to tasks: the last step before the engine.
#pragma once

#include <span>

#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/families.hpp"
#include "sim/symmetry/fold.hpp"
#include "sim/tasks/expanded_graph.hpp"

namespace orrery {

/// Tasks of one rank per class of `folded`. Transfers that use its shared links keep their legs, with
/// classes of links (Folded::links) as links; each of the others is a fixed duration.
/// @throws InputError if the graph would not fit into memory.
[[nodiscard]] ExpandedGraph expand(const Workload& workload, const Channels& channels,
                                   const Families& families, const PriceList& prices, const Folded& folded);

/// What tasks cost and how long after the host they start, for the prices of works and of
/// StandIns::transfers: all of a graph without legs and with even ranks that prices have a part in.
/// @param lags  HostLags::values() for them
void set_costs(std::span<const ComputePrice> works, std::span<const TransferTime> transfers,
               std::span<const Picoseconds> lags, ExpandedGraph& expanded);

}  // namespace orrery
