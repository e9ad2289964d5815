// Prices the messages of the channels of one topology: each different one once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "orrery/content_hash.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/channel_price.hpp"
#include "sim/cost/collective_cost.hpp"
#include "sim/matching/channels.hpp"

namespace orrery {

/// Returns, per link of a topology, a number for its bandwidth and latency.
[[nodiscard]] std::vector<std::uint32_t> number_link_kinds(const Topology& topology);

/// Prices a message in groups of one kind.
class RoutedPricer {
 public:
  explicit RoutedPricer(double split_node_efficiency) : split_node_efficiency_(split_node_efficiency) {}
  [[nodiscard]] Picoseconds duration_ps(const RoutedGroup& group, const Message& message);
  /// Adds the effects of software to a price: waits, idle links, repetitions.
  void adjust(const Message& message, bool splits_nodes, TransferPrice& price) const;

 private:
  double split_node_efficiency_;
  TransferPrice best_;
  TransferPrice candidate_;
};

/// Caches prices that cannot differ: pairs whose routes have equal links, and groups of the same GPUs of
/// equal domains.
class ChannelPricer {
 public:
  /// Keeps references.
  /// @param link_kinds  number_link_kinds()
  ChannelPricer(const Topology& topology, std::span<const std::uint32_t> link_kinds,
                const std::array<std::string, kCollectiveCount>& algorithms, double split_node_efficiency);

  /// Returns how messages of the collective and servers of `message` run in the communicators of a channel.
  [[nodiscard]] ChannelRoutes route(const Workload& workload, const Channel& channel, const Message& message);
  /// Returns the price of the message in the communicators, with all links.
  /// @param like  the price of another message of the channel, whose links are shared if they are equal; or
  /// null
  [[nodiscard]] ChannelPrice price(const Workload& workload, const Channel& channel, const Message& message,
                                   const ChannelPrice* like);

 private:
  /// A price met before, on the links of the first domain.
  struct Known {
    std::uint32_t price = 0;
    std::vector<std::uint32_t> links;
  };

  [[nodiscard]] std::uint32_t domain(std::uint32_t member) const;
  [[nodiscard]] bool in_one_domain(std::span<const std::uint32_t> members) const;
  void begin();
  std::uint32_t price_group(const Message& message, std::span<const std::uint32_t> members);
  std::uint32_t price_pair(const Message& message, std::span<const std::uint32_t> members);
  [[nodiscard]] bool like_latest_pair(bool near) const;
  void find_pair(bool near, const Message& message, std::span<const std::uint32_t> members);
  std::uint32_t price_in_domain(const Message& message, std::span<const std::uint32_t> members);
  std::uint32_t price_anew(const Message& message, std::span<const std::uint32_t> members);
  void price_message(const Message& message, std::span<const std::uint32_t> members);
  std::uint32_t add_price();
  void append_uses(ContentHash& content) const;
  [[nodiscard]] std::uint32_t place_of(LinkId link, std::uint32_t place) const;

  std::uint32_t route_group(const Message& message, std::span<const std::uint32_t> members,
                            std::vector<RoutedGroup>& groups);
  std::uint32_t route_anew(const Message& message, std::span<const std::uint32_t> members,
                           std::vector<RoutedGroup>& groups);
  void append_way(std::span<const std::uint32_t> pair, ContentHash& key);
  void append_ways(std::span<const std::uint32_t> pair, ContentHash& key);

  const Topology& topology_;
  std::span<const std::uint32_t> link_kinds_;
  CollectivePricer pricer_;
  RoutedPricer routed_;
  ChannelPrice made_;  ///< of the message at hand, as all that follows
  ContentTable pair_table_;
  ContentTable domain_table_;
  ContentTable price_table_;
  ContentTable near_table_;
  ContentTable route_table_;
  std::vector<std::uint32_t> pairs_;
  std::vector<Known> in_domain_;
  std::vector<std::uint32_t> route_of_near_;  ///< [number in near_table_]: into the groups
  std::uint32_t latest_pair_ = 0;             ///< price of the pair before
  bool has_latest_ = false;
  bool latest_near_ = false;
  std::vector<std::uint32_t> latest_kinds_;
  TransferPrice one_;
  std::vector<LinkId> links_;  ///< of the group at hand
};

}  // namespace orrery
