// Computes the price of every operation of a workload: compute per kernel sequence, communication per message
// and communicator, fused passes per tensor group.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/channel_price.hpp"
#include "sim/cost/compute_cost.hpp"
#include "sim/cost/pass_price.hpp"
#include "sim/cost/rank_speeds.hpp"
#include "sim/matching/channels.hpp"

namespace orrery {

/// Holds the time of a transfer and, for passes, PassPrice::lead_ps.
struct TransferTime {
  Picoseconds duration_ps = 0;
  Picoseconds lead_ps = 0;

  friend bool operator==(const TransferTime&, const TransferTime&) = default;
};

/// Holds the price of a call of a channel for its communicators.
struct CallPrice {
  SharedArray<std::uint32_t> of_place;  ///< per communicator of the channel: into `costs`
  std::vector<Cost> costs;              ///< with legs only where `links` is there
  std::vector<Picoseconds> leads;       ///< per cost: PassPrice::lead_ps; empty: 0, as for all messages
  std::shared_ptr<const ChannelPrice> routed;  ///< null: no legs

  [[nodiscard]] const Cost& cost(std::uint32_t place) const { return costs[of_place[place]]; }
  [[nodiscard]] TransferTime time(std::uint32_t place) const {
    const std::uint32_t at = of_place[place];
    return {costs[at].duration_ps, leads.empty() ? 0 : leads[at]};
  }
  [[nodiscard]] Picoseconds lead(std::uint32_t at) const { return leads.empty() ? 0 : leads[at]; }
  /// The list of links that the communicator's legs refer to; equal for calls that cross the same links.
  [[nodiscard]] std::span<const LinkId> links(std::uint32_t place) const {
    return routed == nullptr ? std::span<const LinkId>{} : routed->links->of(place);
  }
  /// Visits (number of the leg in its price, leg, link, weight) for all that the call puts on links.
  template <class Visit>
  void for_each_use(std::uint32_t place, Visit visit) const {
    if (routed == nullptr) return;
    const Cost& price = cost(place);
    const std::span<const LinkId> list = links(place);
    for (std::uint32_t l = price.leg_begin; l < price.leg_end; ++l) {
      const Leg& leg = routed->legs[l];
      for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u)
        visit(l - price.leg_begin, leg, list[index(routed->uses[u].link)], routed->uses[u].weight);
    }
  }
};

struct PriceList {
  std::vector<ComputePrice> kernel_sequences;  ///< per Workload::kernel_sequences
  std::vector<ComputePrice> passes;            ///< per Workload::passes: the compute in it
  std::vector<CallPrice> calls;                ///< per Channels::calls
  std::vector<std::vector<CallPrice>>
      in_passes;                       ///< per call of a pass: of its messages, where links are asked for
  RankSpeeds rank_speeds;              ///< of the ranks' kernels
  double interference = 0;             ///< communication_interference() of the experiment
  std::vector<Picoseconds> slowed_ps;  ///< per Workload::passes: PassPrice::slowed_ps
};

/// Returns the share of its pace that compute loses beside tensor, data and expert traffic: the software's
/// constant, else the largest one of the GPUs.
[[nodiscard]] double communication_interference(const Experiment& experiment);

/// Returns the prices of Workload::kernel_sequences on `gpu`.
[[nodiscard]] std::vector<ComputePrice> price_kernel_sequences(const Workload& workload,
                                                               const Experiment& experiment, const Gpu& gpu);
/// Returns the prices on GPUs of class 0.
[[nodiscard]] std::vector<ComputePrice> price_kernel_sequences(const Workload& workload,
                                                               const Experiment& experiment);
/// Returns the prices on each class of GPU.
[[nodiscard]] std::vector<std::vector<ComputePrice>> price_kernel_sequences_by_class(
    const Workload& workload, const Experiment& experiment);

/// Prices of one channel's messages, from wherever they are kept.
class ChannelPrices {
 public:
  virtual ~ChannelPrices() = default;
  /// Returns how the messages of a collective run in the communicators of a channel, whatever their size.
  virtual std::shared_ptr<const ChannelRoutes> routes(std::uint32_t channel, const Message& message) = 0;
  /// The price of a message with its links.
  virtual std::shared_ptr<const ChannelPrice> price(std::uint32_t channel, const Message& message) = 0;
};

/// @param with_links  transfers keep their legs, for networks in which they meet and for traffic
[[nodiscard]] PriceList price(const Workload& workload, const Channels& channels,
                              const Experiment& experiment, bool with_links, ChannelPrices& prices);

}  // namespace orrery
