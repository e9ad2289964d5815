// Holds the price of messages in the communicators of one channel. It is computed once for a topology, a set
// of communicators and a message, and shared by all runs that send it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "orrery/shared_array.hpp"
#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "sim/cost/routed_collective.hpp"

namespace orrery {

/// The size-independent part of a collective's cost in a group.
struct RoutedGroup {
  RoutedCollective collective;
  bool splits_nodes = false;  ///< spans several nodes, with more than one but not all GPUs of one
};

/// Describes the routes of a collective in the communicators of a channel, whatever its size.
struct ChannelRoutes {
  SharedArray<std::uint32_t> of_place;  ///< per communicator: into `groups`
  std::vector<RoutedGroup> groups;      ///< each different one

  [[nodiscard]] std::size_t bytes() const;
};

/// The links that communicators use, each with a list of its own.
struct ChannelLinks {
  std::vector<std::uint32_t> begin;  ///< per communicator + 1: range in `links`
  std::vector<LinkId> links;

  [[nodiscard]] std::span<const LinkId> of(std::uint32_t place) const {
    return {links.data() + begin[place], links.data() + begin[place + 1]};
  }
  friend bool operator==(const ChannelLinks&, const ChannelLinks&) = default;
};

/// Holds the price of a message in the communicators of a channel, leg by leg. Communicators whose messages
/// cross equal links in the same order share a price.
struct ChannelPrice {
  SharedArray<std::uint32_t> of_place;        ///< per communicator: into `costs`
  std::vector<Cost> costs;                    ///< each different one
  std::vector<Leg> legs;                      ///< of costs
  std::vector<LinkUse> uses;                  ///< of legs; the link is a place in the communicator's own list
  std::vector<std::uint64_t> use_bytes;       ///< per use: bytes on the link
  std::shared_ptr<const ChannelLinks> links;  ///< shared by the messages of a channel that cross the same

  [[nodiscard]] std::size_t bytes() const;
};

}  // namespace orrery
