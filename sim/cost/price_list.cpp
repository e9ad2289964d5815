#include "sim/cost/price_list.hpp"

#include <algorithm>
#include <utility>

#include "orrery/content_hash.hpp"
#include "sim/cost/channel_pricer.hpp"

namespace orrery {
namespace {

class ListPricer {
 public:
  ListPricer(const Workload& workload, const Channels& channels, double split_node_efficiency,
             bool with_links, ChannelPrices& prices, PriceList& list)
      : workload_(workload),
        channels_(channels),
        routed_(split_node_efficiency),
        with_links_(with_links),
        prices_(prices),
        list_(list),
        durations_(workload.messages.size(), 0) {}

  void run() {
    list_.in_passes.resize(channels_.calls.size());
    for (const Call& call : channels_.calls)
      list_.calls.push_back(call.request.pass ? price_pass_of(call) : price(call.channel, call.request.work));
  }

 private:
  CallPrice price(std::uint32_t channel, std::uint32_t message) {
    const Message& what = workload_.messages[message];
    if (with_links_) {
      std::shared_ptr<const ChannelPrice> routed = prices_.price(channel, what);
      return {routed->of_place, routed->costs, {}, routed};
    }
    const std::shared_ptr<const ChannelRoutes> routes = prices_.routes(channel, what);
    CallPrice call{routes->of_place, {}, {}, nullptr};
    for (const RoutedGroup& group : routes->groups)
      call.costs.push_back({routed_.duration_ps(group, what), 0, 0});
    return call;
  }

  /// The steps of a pass are walked through once for each set of durations of its messages.
  CallPrice price_pass_of(const Call& call) {
    const std::uint32_t pass = call.request.work;
    const std::vector<PassMessage> steps = messages_of(workload_.passes[pass]);
    std::vector<CallPrice> messages;
    for (const PassMessage& message : steps) messages.push_back(price(call.channel, message.message));
    CallPrice result;
    std::vector<std::uint32_t> of_place(channels_.channels[call.channel].groups.size(), 0);
    const bool even = std::ranges::all_of(messages, &takes_equally_long);
    ContentTable known;
    for (std::size_t place = 0; place < (even ? 1 : of_place.size()); ++place) {
      ContentHash key;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        durations_[steps[i].message] = messages[i].cost(static_cast<std::uint32_t>(place)).duration_ps;
        key.append(static_cast<std::uint64_t>(durations_[steps[i].message]));
      }
      of_place[place] = known.number(key);
      if (of_place[place] == result.costs.size()) add_pass(pass, result);
    }
    result.of_place = std::move(of_place);
    if (with_links_) list_.in_passes[list_.calls.size()] = std::move(messages);
    return result;
  }

  void add_pass(std::uint32_t pass, CallPrice& result) {
    const PassPrice price =
        price_pass(workload_.passes[pass], workload_, list_.kernel_sequences, durations_, list_.interference);
    result.costs.push_back({price.duration_ps, 0, 0});
    result.leads.push_back(price.lead_ps);
    list_.passes[pass] = price.compute;
    list_.slowed_ps[pass] = price.slowed_ps;
  }

  static bool takes_equally_long(const CallPrice& price) {
    return std::ranges::all_of(
        price.costs, [&](const Cost& cost) { return cost.duration_ps == price.costs.front().duration_ps; });
  }

  const Workload& workload_;
  const Channels& channels_;
  RoutedPricer routed_;
  bool with_links_;
  ChannelPrices& prices_;
  PriceList& list_;
  std::vector<Picoseconds> durations_;  ///< per Workload::messages: of the communicator at hand
};

}  // namespace

double communication_interference(const Experiment& experiment) {
  if (experiment.software.communication_interference >= 0)
    return experiment.software.communication_interference;
  double most = 0;
  for (std::size_t c = 0; c < experiment.cluster.gpu_classes(); ++c)
    most = std::max(most, experiment.cluster.gpu_of_class(c).communication_interference);
  return most;
}

std::vector<ComputePrice> price_kernel_sequences(const Workload& workload, const Experiment& experiment,
                                                 const Gpu& gpu) {
  std::vector<ComputePrice> prices;
  prices.reserve(workload.kernel_sequences.size());
  const double slowest = slowest_node(experiment);
  for (const KernelSequence& work : workload.kernel_sequences) {
    if (work.kernels.empty()) {
      prices.push_back({work.host_ps, 0});
    } else {
      prices.push_back(price_compute(work, gpu, experiment.software, experiment.plan.precision));
      Picoseconds& all = prices.back().duration_ps;
      all +=
          static_cast<Picoseconds>(static_cast<double>(all - prices.back().launch_ps) * (slowest - 1) + 0.5);
    }
  }
  return prices;
}

std::vector<ComputePrice> price_kernel_sequences(const Workload& workload, const Experiment& experiment) {
  return price_kernel_sequences(workload, experiment, experiment.cluster.gpu);
}

std::vector<std::vector<ComputePrice>> price_kernel_sequences_by_class(const Workload& workload,
                                                                       const Experiment& experiment) {
  std::vector<std::vector<ComputePrice>> prices;
  for (std::size_t c = 0; c < experiment.cluster.gpu_classes(); ++c)
    prices.push_back(price_kernel_sequences(workload, experiment, experiment.cluster.gpu_of_class(c)));
  return prices;
}

PriceList price(const Workload& workload, const Channels& channels, const Experiment& experiment,
                bool with_links, ChannelPrices& prices) {
  PriceList list;
  list.kernel_sequences = price_kernel_sequences(workload, experiment);
  list.passes.resize(workload.passes.size());
  list.rank_speeds = RankSpeeds(experiment);
  if (experiment.cluster.gpu_classes() > 1)
    list.rank_speeds.set_prices(price_kernel_sequences_by_class(workload, experiment));
  list.slowed_ps.resize(workload.passes.size());
  list.interference = communication_interference(experiment);
  ListPricer(workload, channels, experiment.software.split_node_efficiency, with_links, prices, list).run();
  return list;
}

}  // namespace orrery
