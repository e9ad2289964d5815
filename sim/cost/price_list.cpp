#include "sim/cost/price_list.hpp"

#include <algorithm>
#include <span>

#include "sim/cost/pass_price.hpp"
#include "sim/cost/signature.hpp"
#include "sim/cost/transfer_pricer.hpp"

namespace orrery {
namespace {

/// Links in the list of a communicator per member or message, mostly: saves copies as the lists grow.
constexpr std::size_t kUsualLinks = 3;

/// Prices what channels carry: messages, and passes, whose steps are walked through once for each set of
/// durations of their messages.
class ListPricer {
 public:
  ListPricer(const Workload& workload, const Topology& topology, const Experiment& experiment,
             PriceList& list)
      : workload_(workload),
        list_(list),
        messages_(topology, experiment.plan.collectives, experiment.software.split_node_efficiency, list),
        link_bytes_(topology.links().size(), 0),
        pass_durations_(workload.messages.size(), 0) {
    for (const PassWork& pass : workload.passes) messages_of_.push_back(messages_of(pass));
    pass_messages_.assign(messages_of_.begin(), messages_of_.end());
  }

  /// Counts the bytes on links too.
  Transfer price(const Call& call, std::span<const std::uint32_t> members) {
    if (call.request.pass) return price_pass_of(call, members);
    return price(call.request.work, members, call.operations);
  }

  [[nodiscard]] std::span<const std::uint64_t> link_bytes() const { return link_bytes_; }
  [[nodiscard]] std::span<const std::span<const PassMessage>> pass_messages() const { return pass_messages_; }

 private:
  Transfer price(std::uint32_t message, std::span<const std::uint32_t> members, std::uint64_t operations) {
    const Transfer transfer = messages_.price(message, workload_.messages[message], members);
    messages_.for_each_load(transfer, [&](LinkId link, std::uint64_t bytes) {
      add_bytes(link_bytes_[index(link)], capped_bytes(bytes, operations));
    });
    return transfer;
  }

  Transfer price_pass_of(const Call& call, std::span<const std::uint32_t> members) {
    const std::uint32_t number = call.request.work;
    Signature key;
    key.append(number);
    for (const auto& [message, steps] : pass_messages_[number]) {
      pass_durations_[message] = list_.duration_ps(price(message, members, call.operations * steps));
      key.append(static_cast<std::uint64_t>(pass_durations_[message]));
    }
    const std::uint32_t known = pass_table_.number(key);
    if (known == passes_.size()) {
      const PassPrice price = price_pass(workload_.passes[number], workload_, list_.works, pass_durations_);
      passes_.push_back(static_cast<std::uint32_t>(list_.prices.size()));
      list_.prices.push_back({price.duration_ps, 0, 0});
      list_.leads.push_back(price.lead_ps);
      list_.passes[number] = price.compute;
    }
    return {passes_[known], 0};
  }

  const Workload& workload_;
  PriceList& list_;
  TransferPricer messages_;
  std::vector<std::uint64_t> link_bytes_;
  SignatureTable pass_table_;
  std::vector<std::uint32_t> passes_;                        ///< [number in pass_table_]: into list_.prices
  std::vector<std::vector<PassMessage>> messages_of_;        ///< per Workload::passes
  std::vector<std::span<const PassMessage>> pass_messages_;  ///< of messages_of_
  std::vector<Picoseconds> pass_durations_;                  ///< per Workload::messages: of the group at hand
};

}  // namespace

std::vector<ComputePrice> price_works(const Workload& workload, const Experiment& experiment,
                                      const Gpu& gpu) {
  std::vector<ComputePrice> prices;
  for (const ComputeWork& work : workload.works) {
    if (work.kernels.empty()) {
      prices.push_back({work.host_ps, 0});
    } else {
      prices.push_back(price_compute(work, gpu, experiment.software, experiment.plan.precision));
    }
  }
  return prices;
}

std::vector<ComputePrice> price_works(const Workload& workload, const Experiment& experiment) {
  return price_works(workload, experiment, experiment.cluster.gpu);
}

std::vector<std::vector<ComputePrice>> price_works_by_class(const Workload& workload,
                                                            const Experiment& experiment) {
  std::vector<std::vector<ComputePrice>> prices;
  for (std::size_t c = 0; c < experiment.cluster.gpu_classes(); ++c)
    prices.push_back(price_works(workload, experiment, experiment.cluster.gpu_of_class(c)));
  return prices;
}

PriceList price(const Workload& workload, const Channels& channels, const Topology& topology,
                const Experiment& experiment) {
  const bool flows = experiment.simulation.network == Network::flow;
  PriceList list;
  list.works = price_works(workload, experiment);
  list.pace = Pace(experiment);
  if (experiment.cluster.gpu_classes() > 1) list.pace.set_prices(price_works_by_class(workload, experiment));
  if (experiment.plan.data_parallel > 1) list.interference = experiment.software.communication_interference;
  list.passes.resize(workload.passes.size());
  list.transfers.resize(channels.prices);
  if (flows) list.links.reserve(kUsualLinks * (workload.group_members.size() + workload.groups()));
  ListPricer pricer(workload, topology, experiment, list);
  for (const Channel& channel : channels.channels) {
    for (std::size_t i = 0; i < channel.groups.size(); ++i) {
      const auto members = workload.members(channel.groups[i]);
      for (std::uint32_t c = channel.first_call; c < channel.last_call; ++c) {
        const Call& call = channels.calls[c];
        list.transfers[call.first_price + i] = pricer.price(call, members);
      }
      if (!flows) list.links.clear();
    }
  }
  list.traffic = {bytes_sent(workload, channels, pricer.pass_messages()),
                  traffic_of(topology.links(), pricer.link_bytes())};
  return list;
}

}  // namespace orrery
