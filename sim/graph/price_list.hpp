// The price of every operation of a workload: compute per kind of work, communication per message
// and communicator, passes per tensor group.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/task_graph.hpp"
#include "sim/cost/collective_cost.hpp"
#include "sim/cost/compute_cost.hpp"
#include "sim/graph/channels.hpp"

namespace orrery {

struct PriceList {
  std::vector<ComputePrice> works;   ///< per Workload::works
  std::vector<ComputePrice> passes;  ///< per Workload::passes: the compute in it
  std::vector<Cost> transfers;       ///< per Call::first_price + place of the communicator
  std::vector<Leg> legs;
  std::vector<LinkUse> uses;
  std::vector<Picoseconds> leads;  ///< as transfers, of passes: PassPrice::lead_ps; empty without passes
  std::vector<double> link_bytes;  ///< per link: bytes it carries over all operations of all ranks
};

[[nodiscard]] PriceList price(const Workload& workload, const Channels& channels, const Topology& topology,
                              const Experiment& experiment);

}  // namespace orrery
