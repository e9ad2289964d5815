// The price of every operation of a workload: compute per kind of work, communication per message
// and communicator, passes per tensor group. Communicators whose messages cross like links in like places
// share a price; each keeps a list of its own links only.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/task_graph.hpp"
#include "sim/cost/collective_cost.hpp"
#include "sim/cost/compute_cost.hpp"
#include "sim/cost/pace.hpp"
#include "sim/cost/traffic.hpp"
#include "sim/matching/channels.hpp"

namespace orrery {

/// What a message costs a communicator.
struct Transfer {
  std::uint32_t price = 0;       ///< into PriceList::prices
  std::uint32_t first_link = 0;  ///< PriceList::links[first_link + i] is the price's link i
};

/// How long a transfer takes, and PassPrice::lead_ps of passes.
struct TransferTime {
  Picoseconds duration_ps = 0;
  Picoseconds lead_ps = 0;

  friend bool operator==(const TransferTime&, const TransferTime&) = default;
};

struct PriceList {
  std::vector<ComputePrice> works;   ///< per Workload::works
  std::vector<ComputePrice> passes;  ///< per Workload::passes: the compute in it
  std::vector<Transfer> transfers;   ///< per Call::first_price + place of the communicator
  std::vector<Cost> prices;          ///< each different one
  std::vector<Picoseconds> leads;    ///< per price: PassPrice::lead_ps of passes, else 0
  std::vector<Leg> legs;             ///< of prices
  std::vector<LinkUse> uses;         ///< of legs; the link is a number of the communicator's own
  std::vector<LinkId> links;         ///< of communicators; empty where links are not shared (alpha-beta)
  Pace pace;                         ///< of the ranks' kernels
  double interference = 0;           ///< Software::communication_interference, where replicas communicate
  Traffic traffic;                   ///< of all operations of all ranks

  [[nodiscard]] Picoseconds duration_ps(const Transfer& transfer) const {
    return prices[transfer.price].duration_ps;
  }
  /// The range of a price in `uses`; its legs lie side by side.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> uses_of(const Cost& price) const {
    if (price.leg_begin == price.leg_end) return {0, 0};
    return {legs[price.leg_begin].use_begin, legs[price.leg_end - 1].use_end};
  }
  /// Visits (number of the leg in its price, leg, link, weight) for all that a transfer puts on links.
  template <class Visit>
  void for_each_use(const Transfer& transfer, Visit visit) const {
    const Cost& price = prices[transfer.price];
    for (std::uint32_t l = price.leg_begin; l < price.leg_end; ++l) {
      for (std::uint32_t u = legs[l].use_begin; u < legs[l].use_end; ++u) {
        visit(l - price.leg_begin, legs[l], links[transfer.first_link + index(uses[u].link)], uses[u].weight);
      }
    }
  }
};

/// Of Workload::works on `gpu`.
[[nodiscard]] std::vector<ComputePrice> price_works(const Workload& workload, const Experiment& experiment,
                                                    const Gpu& gpu);
/// On GPUs of class 0.
[[nodiscard]] std::vector<ComputePrice> price_works(const Workload& workload, const Experiment& experiment);
/// On each class of GPU.
[[nodiscard]] std::vector<std::vector<ComputePrice>> price_works_by_class(const Workload& workload,
                                                                          const Experiment& experiment);

[[nodiscard]] PriceList price(const Workload& workload, const Channels& channels, const Topology& topology,
                              const Experiment& experiment);

}  // namespace orrery
