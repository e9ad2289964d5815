#include "sim/graph/price_list.hpp"

namespace orrery {
namespace {

double bytes_on(const Leg& leg, const LinkUse& use) {
  const double rate =
      static_cast<double>(leg.rate) * static_cast<double>(use.weight) / static_cast<double>(kWeightOne);
  return rate * to_seconds(leg.alone_ps);
}

/// Where software does not keep the links busy, they idle before the data move.
void slow_down(TransferPrice& price, double efficiency) {
  if (efficiency >= 1 || price.legs.empty()) return;
  Picoseconds data = 0;
  for (const Leg& leg : price.legs) data += leg.alone_ps;
  const double more = static_cast<double>(data) * (1 / efficiency - 1);
  price.legs.front().latency_ps += static_cast<Picoseconds>(more + 0.5);
}

/// Appends a price and counts its traffic, `operations` times.
void append(PriceList& list, const TransferPrice& price, std::uint64_t operations) {
  const auto first_use = static_cast<std::uint32_t>(list.uses.size());
  Cost cost{price.alone_ps(), static_cast<std::uint32_t>(list.legs.size()), 0};
  for (Leg leg : price.legs) {
    for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
      list.link_bytes[index(price.uses[u].link)] +=
          bytes_on(leg, price.uses[u]) * static_cast<double>(operations);
    }
    leg.use_begin += first_use;
    leg.use_end += first_use;
    list.legs.push_back(leg);
  }
  list.uses.insert(list.uses.end(), price.uses.begin(), price.uses.end());
  cost.leg_end = static_cast<std::uint32_t>(list.legs.size());
  list.transfers.push_back(cost);
}

}  // namespace

PriceList price(const Workload& workload, const Channels& channels, const Topology& topology,
                const Experiment& experiment) {
  PriceList list;
  list.link_bytes.assign(topology.links().size(), 0.0);
  for (const ComputeWork& work : workload.works) {
    if (work.kernels.empty()) {
      list.works.push_back({work.host_ps, 0});
      continue;
    }
    list.works.push_back(
        price_compute(work, experiment.cluster.gpu, experiment.software, experiment.plan.precision));
  }
  CollectivePricer pricer(topology, experiment.plan.collectives);
  TransferPrice one;
  list.transfers.reserve(channels.prices);
  for (const Call& call : channels.calls) {
    const auto& groups = channels.channels[call.channel].groups;
    for (const std::uint32_t group : groups) {
      pricer.price(workload.messages[call.message], workload.members(group), one);
      slow_down(one, workload.messages[call.message].efficiency);
      append(list, one, call.operations);
    }
  }
  return list;
}

}  // namespace orrery
