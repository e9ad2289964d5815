// Prices messages in the communicators of an experiment. Steps, bounds and serving set prices up here, and
// a memo keeps them: plans with the same communicators share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "orrery/content_hash.hpp"
#include "orrery/experiment.hpp"
#include "sim/cost/channel_pricer.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/channels.hpp"
#include "sim/step/machine.hpp"
#include "sim/step/memo.hpp"
#include "workloads/communicators/communicator_layout.hpp"

namespace orrery {

/// Fills in the communicators; returns their key.
ContentHash join_communicators(const CommunicatorLayout& layout, Memo& memo, Workload& workload);

/// The communicators of each channel, whatever programs do on it.
struct GroupedChannels {
  Channels channels;

  [[nodiscard]] std::size_t bytes() const {
    return sizeof *this +
           (2 * channels.group_place.size() + channels.channel_of.size()) * sizeof(std::uint32_t) +
           channels.lists->groups.size() * sizeof(std::uint32_t);
  }
};
/// @param workload  with communicators, and a program of each stage, which may be empty
/// @param communicators  their key
[[nodiscard]] std::shared_ptr<const GroupedChannels> grouped_channels(const Workload& workload,
                                                                      ContentHash communicators, Memo& memo);

/// Prices of a machine's channels, kept in the memo.
class CachedChannelPrices : public ChannelPrices {
 public:
  /// Keeps references.
  /// @param communicators  their key
  CachedChannelPrices(const Experiment& experiment, const Machine& machine, const Workload& workload,
                      const Channels& channels, ContentHash communicators, Memo& memo);

  std::shared_ptr<const ChannelRoutes> routes(std::uint32_t channel, const Message& message) override;
  std::shared_ptr<const ChannelPrice> price(std::uint32_t channel, const Message& message) override;

 private:
  ChannelPricer& pricer();

  const Experiment& experiment_;
  const Machine& machine_;
  const Workload& workload_;
  const Channels& channels_;
  ContentHash key_;
  Memo& memo_;
  std::optional<ChannelPricer> pricer_;                      ///< once one is new
  std::vector<std::shared_ptr<const ChannelPrice>> latest_;  ///< per channel
};

/// Times of messages in the communicators of each stage, where nothing else is sent and no program says when.
class CommunicatorTimes {
 public:
  /// Keeps references.
  CommunicatorTimes(const Experiment& experiment, const CommunicatorLayout& layout,
                    std::shared_ptr<const Machine> machine, Memo& memo);
  CommunicatorTimes(const CommunicatorTimes&) = delete;
  CommunicatorTimes& operator=(const CommunicatorTimes&) = delete;

  struct Range {
    Picoseconds least = 0;  ///< in the fastest communicator; 0 where there is nobody to send to
    Picoseconds most = 0;   ///< in the slowest
  };
  /// @param slot  CommunicatorLayout::slot()
  [[nodiscard]] Range times(const Message& message, std::size_t stage, std::uint16_t slot);

  /// The communicators that the stage has in a slot.
  [[nodiscard]] const Channel& channel(std::size_t stage, std::uint16_t slot) const {
    return grouped_->channels.channels[number(stage, slot)];
  }
  /// Their number; stages that meet there have the same.
  [[nodiscard]] std::uint32_t number(std::size_t stage, std::uint16_t slot) const {
    return grouped_->channels.channel_of[stage * workload_.slots + slot];
  }
  [[nodiscard]] const Machine& machine() const { return *machine_; }
  [[nodiscard]] std::size_t stages() const { return workload_.programs.size(); }
  /// Per rank: the stage whose program it runs.
  [[nodiscard]] const SharedArray<std::uint32_t>& stage_of_rank() const { return workload_.program_of_rank; }

 private:
  std::shared_ptr<const Machine> machine_;
  Workload workload_;  ///< communicators, and an empty program of each stage
  std::shared_ptr<const GroupedChannels> grouped_;
  std::optional<CachedChannelPrices> prices_;
  RoutedPricer routed_;
  /// By channel, collective and servers: what routes depend on beside.
  std::map<std::tuple<std::uint32_t, Collective, std::uint32_t>, std::shared_ptr<const ChannelRoutes>>
      routes_;
};

}  // namespace orrery
