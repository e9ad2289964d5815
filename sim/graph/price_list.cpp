#include "sim/graph/price_list.hpp"

#include <algorithm>
#include <span>

namespace orrery {
namespace {

double bytes_on(const Leg& leg, const LinkUse& use) {
  const double rate =
      static_cast<double>(leg.rate) * static_cast<double>(use.weight) / static_cast<double>(kWeightOne);
  return rate * to_seconds(leg.alone_ps);
}

/// Links idle before the data move: until the last rank has come, and where software does not keep them
/// busy.
void slow_down(TransferPrice& price, Picoseconds wait, double efficiency) {
  if (price.legs.empty()) return;
  price.legs.front().latency_ps += wait;
  if (efficiency >= 1) return;
  Picoseconds data = 0;
  for (const Leg& leg : price.legs) data += leg.alone_ps;
  const double more = static_cast<double>(data) * (1 / efficiency - 1);
  price.legs.front().latency_ps += static_cast<Picoseconds>(more + 0.5);
}

/// Whether a group over several nodes has more than one, but not all, of the GPUs of a node.
bool splits_nodes(const Topology& topology, std::span<const std::uint32_t> members) {
  const auto node_of = [&](std::uint32_t rank) { return topology.node_of(GpuId{rank}); };
  const NodeId first = node_of(members.front());
  const std::int64_t beside = std::ranges::count(members, first, node_of);
  return beside > 1 && beside < topology.gpus_per_node() && beside < std::ssize(members);
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
      const Message& message = workload.messages[call.message];
      const auto members = workload.members(group);
      pricer.price(message, members, one);
      const bool split = message.dimension == Dimension::data && splits_nodes(topology, members);
      slow_down(one, message.wait_ps,
                message.efficiency * (split ? experiment.software.split_node_efficiency : 1));
      append(list, one, call.operations);
    }
  }
  return list;
}

}  // namespace orrery
