// From programs and prices to tasks: the last step before the engine.
#pragma once

#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/graph/expanded_graph.hpp"
#include "sim/graph/fold.hpp"
#include "sim/graph/price_list.hpp"

namespace orrery {

/// Tasks of one rank per class of `folded`. With `flows`, transfers keep their legs, so that they
/// can share links; without, each is a fixed duration.
/// @throws InputError if the graph would not fit into memory, RunError on a deadlock.
[[nodiscard]] ExpandedGraph expand(const Workload& workload, const Channels& channels,
                                   const PriceList& prices, const Folded& folded, bool flows);

}  // namespace orrery
