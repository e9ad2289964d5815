#include "sim/graph/price_list.hpp"

#include <algorithm>
#include <utility>

#include "sim/graph/host_lag.hpp"
#include "sim/graph/pass_price.hpp"

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

/// Writes the list call by call.
class Pricing {
 public:
  Pricing(const Workload& workload, const Channels& channels, const Topology& topology,
          const Experiment& experiment)
      : workload_(workload),
        channels_(channels),
        experiment_(experiment),
        pricer_(topology, experiment.plan.collectives) {
    list_.link_bytes.assign(topology.links().size(), 0.0);
  }

  PriceList price() {
    price_works();
    list_.passes.resize(workload_.passes.size());
    list_.transfers.reserve(channels_.prices);
    if (!workload_.passes.empty()) list_.leads.assign(channels_.prices, 0);
    for (const Call& call : channels_.calls) {
      if (call.request.pass) {
        price_passes(call);
      } else {
        price_messages(call);
      }
    }
    return std::move(list_);
  }

 private:
  void price_works();
  [[nodiscard]] Picoseconds launches_in(const PassWork& pass) const;
  void price_messages(const Call& call);
  void price_passes(const Call& call);
  void price_message(std::uint32_t message, std::uint32_t group, std::uint64_t operations);
  void append_transfer();

  const Workload& workload_;
  const Channels& channels_;
  const Experiment& experiment_;
  CollectivePricer pricer_;
  TransferPrice one_;  ///< the latest one
  PriceList list_;
};

void Pricing::price_works() {
  for (const ComputeWork& work : workload_.works) {
    if (work.kernels.empty()) {
      list_.works.push_back({work.host_ps, 0});
      continue;
    }
    list_.works.push_back(
        price_compute(work, experiment_.cluster.gpu, experiment_.software, experiment_.plan.precision));
  }
}

Picoseconds Pricing::launches_in(const PassWork& pass) const {
  Picoseconds sum = 0;
  if (pass.extent == PassWork::Extent::rest) return sum;
  for (const PassStep& step : pass.steps) {
    if (!step.communicates) sum = capped_sum(sum, list_.works[step.work].launch_ps);
  }
  return sum;
}

/// Leaves the price in one_ and counts its traffic.
void Pricing::price_message(std::uint32_t message, std::uint32_t group, std::uint64_t operations) {
  pricer_.price(workload_.messages[message], workload_.members(group), one_);
  slow_down(one_, workload_.messages[message].efficiency);
  for (const Leg& leg : one_.legs) {
    for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
      list_.link_bytes[index(one_.uses[u].link)] +=
          bytes_on(leg, one_.uses[u]) * static_cast<double>(operations);
    }
  }
}

void Pricing::append_transfer() {
  const auto first_use = static_cast<std::uint32_t>(list_.uses.size());
  Cost cost{one_.alone_ps(), static_cast<std::uint32_t>(list_.legs.size()), 0};
  for (Leg leg : one_.legs) {
    leg.use_begin += first_use;
    leg.use_end += first_use;
    list_.legs.push_back(leg);
  }
  list_.uses.insert(list_.uses.end(), one_.uses.begin(), one_.uses.end());
  cost.leg_end = static_cast<std::uint32_t>(list_.legs.size());
  list_.transfers.push_back(cost);
}

void Pricing::price_messages(const Call& call) {
  for (const std::uint32_t group : channels_.channels[call.channel].groups) {
    price_message(call.request.work, group, call.operations);
    append_transfer();
  }
}

/// The steps are walked through again only where a group's messages take another time than the last one's.
void Pricing::price_passes(const Call& call) {
  const PassWork& pass = workload_.passes[call.request.work];
  const std::vector<PassMessage> messages = messages_of(pass);
  std::vector<Picoseconds> durations(workload_.messages.size(), -1);
  PassPrice price = price_pass(pass, workload_, list_.works, durations);
  const bool carries = pass.extent != PassWork::Extent::rest;  // its collectives are in the other part
  for (const std::uint32_t group : channels_.channels[call.channel].groups) {
    bool changed = false;
    for (const auto& [message, steps] : messages) {
      price_message(message, group, carries ? call.operations * steps : 0);
      changed = changed || durations[message] != one_.alone_ps();
      durations[message] = one_.alone_ps();
    }
    if (changed) price = price_pass(pass, workload_, list_.works, durations);
    list_.leads[list_.transfers.size()] = price.lead_ps;
    list_.transfers.push_back({price.duration_ps, 0, 0});
  }
  list_.passes[call.request.work] = {price.compute_ps, std::min(launches_in(pass), price.compute_ps)};
}

}  // namespace

PriceList price(const Workload& workload, const Channels& channels, const Topology& topology,
                const Experiment& experiment) {
  return Pricing(workload, channels, topology, experiment).price();
}

}  // namespace orrery
