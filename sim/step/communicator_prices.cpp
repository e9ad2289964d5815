#include "sim/step/communicator_prices.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "workloads/communicators/communicators.hpp"

namespace orrery {
namespace {

/// Ranks and groups, as a memo keeps them.
struct RanksAndGroups {
  Workload workload;

  [[nodiscard]] std::size_t bytes() const {
    return sizeof *this + workload.program_of_rank.bytes() + workload.group_begin.bytes() +
           workload.group_members.bytes() + workload.group_of.bytes();
  }
};

}  // namespace

ContentHash join_communicators(const CommunicatorLayout& layout, Memo& memo, Workload& workload) {
  const CommunicatorSpec& spec = layout.spec();
  const ContentHash key = content_of(spec);
  const auto known = memo.get<RanksAndGroups>(MemoKind::communicators, key, [&] {
    RanksAndGroups made;
    add_communicators(spec, made.workload);
    return made;
  });
  const Workload& groups = known->workload;
  workload.program_of_rank = groups.program_of_rank;
  workload.replicas = groups.replicas;
  workload.replica_stride = groups.replica_stride;
  workload.slots = groups.slots;
  workload.common_slots = groups.common_slots;
  workload.streams = layout.streams();
  workload.group_begin = groups.group_begin;
  workload.group_members = groups.group_members;
  workload.group_of = groups.group_of;
  return key;
}

std::shared_ptr<const GroupedChannels> grouped_channels(const Workload& workload, ContentHash communicators,
                                                        Memo& memo) {
  append_content(communicators, workload.programs.size());
  return memo.get<GroupedChannels>(MemoKind::groupings, communicators,
                                   [&] { return GroupedChannels{group_channels(workload)}; });
}

CachedChannelPrices::CachedChannelPrices(const Experiment& experiment, const Machine& machine,
                                         const Workload& workload, const Channels& channels,
                                         ContentHash communicators, Memo& memo)
    : experiment_(experiment),
      machine_(machine),
      workload_(workload),
      channels_(channels),
      key_(communicators),
      memo_(memo),
      latest_(channels.channels.size()) {
  append_content(key_, workload.programs.size());
  key_.append(machine_key(experiment.cluster));
  append_content(key_, experiment.plan.collectives);
  append_content(key_, experiment.software.split_node_efficiency);
}

ChannelPricer& CachedChannelPrices::pricer() {
  if (!pricer_)
    pricer_.emplace(*machine_.topology, machine_.link_kinds, experiment_.plan.collectives,
                    experiment_.software.split_node_efficiency);
  return *pricer_;
}

std::shared_ptr<const ChannelRoutes> CachedChannelPrices::routes(std::uint32_t channel,
                                                                 const Message& message) {
  ContentHash key = key_;
  append_content(key, channel);
  append_content(key, message.collective);
  append_content(key, message.servers);
  return memo_.get<ChannelRoutes>(
      MemoKind::routes, key, [&] { return pricer().route(workload_, channels_.channels[channel], message); });
}

std::shared_ptr<const ChannelPrice> CachedChannelPrices::price(std::uint32_t channel,
                                                               const Message& message) {
  ContentHash key = key_;
  append_content(key, channel);
  append_content(key, message);
  auto& latest = latest_[channel];
  return latest = memo_.get<ChannelPrice>(MemoKind::prices, key, [&] {
    return pricer().price(workload_, channels_.channels[channel], message, latest.get());
  });
}

CommunicatorTimes::CommunicatorTimes(const Experiment& experiment, const CommunicatorLayout& layout,
                                     std::shared_ptr<const Machine> machine, Memo& memo)
    : machine_(std::move(machine)), routed_(experiment.software.split_node_efficiency) {
  workload_.programs.resize(static_cast<std::size_t>(experiment.plan.pipeline_parallel));
  const ContentHash key = join_communicators(layout, memo, workload_);
  grouped_ = grouped_channels(workload_, key, memo);
  prices_.emplace(experiment, *machine_, workload_, grouped_->channels, key, memo);
}

CommunicatorTimes::Range CommunicatorTimes::times(const Message& message, std::size_t stage,
                                                  std::uint16_t slot) {
  const std::uint32_t channel = number(stage, slot);
  auto& routes = routes_[{channel, message.collective, message.servers}];
  if (routes == nullptr) routes = prices_->routes(channel, message);
  if (routes->groups.empty()) return {};  // nobody to send to
  Range range{std::numeric_limits<Picoseconds>::max(), 0};
  for (const RoutedGroup& group : routes->groups) {
    const Picoseconds duration = routed_.duration_ps(group, message);
    range = {std::min(range.least, duration), std::max(range.most, duration)};
  }
  return range;
}

}  // namespace orrery
