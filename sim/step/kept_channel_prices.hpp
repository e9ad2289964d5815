// Prices of channels that a memo keeps: plans with the same communicators share them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "orrery/content_hash.hpp"
#include "orrery/experiment.hpp"
#include "sim/cost/channel_pricer.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/channels.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/step.hpp"

namespace orrery {

/// Prices of a machine's channels, kept in the memo.
class CachedChannelPrices : public ChannelPrices {
 public:
  /// Keeps references. @param key  of the communicators, their channels and the machine
  CachedChannelPrices(const Experiment& experiment, const Machine& machine, const Workload& workload,
                      const Channels& channels, ContentHash key, Memo& memo)
      : experiment_(experiment),
        machine_(machine),
        workload_(workload),
        channels_(channels),
        key_(key),
        memo_(memo),
        latest_(channels.channels.size()) {
    append_content(key_, experiment.plan.collectives);
    append_content(key_, experiment.software.split_node_efficiency);
  }

  std::shared_ptr<const ChannelRoutes> routes(std::uint32_t channel, const Message& message) override {
    ContentHash key = key_;
    append_content(key, channel);
    append_content(key, message.collective);
    append_content(key, message.servers);
    return memo_.get<ChannelRoutes>(MemoKind::routes, key, [&] {
      return pricer().route(workload_, channels_.channels[channel], message);
    });
  }

  std::shared_ptr<const ChannelPrice> price(std::uint32_t channel, const Message& message) override {
    ContentHash key = key_;
    append_content(key, channel);
    append_content(key, message);
    auto& latest = latest_[channel];
    return latest = memo_.get<ChannelPrice>(MemoKind::prices, key, [&] {
      return pricer().price(workload_, channels_.channels[channel], message, latest.get());
    });
  }

 private:
  ChannelPricer& pricer() {
    if (!pricer_)
      pricer_.emplace(*machine_.topology, machine_.link_kinds, experiment_.plan.collectives,
                      experiment_.software.split_node_efficiency);
    return *pricer_;
  }

  const Experiment& experiment_;
  const Machine& machine_;
  const Workload& workload_;
  const Channels& channels_;
  ContentHash key_;
  Memo& memo_;
  std::optional<ChannelPricer> pricer_;                      ///< once one is new
  std::vector<std::shared_ptr<const ChannelPrice>> latest_;  ///< per channel
};

}  // namespace orrery
