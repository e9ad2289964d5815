// Defines collective algorithms: which member sends how much to which, round by round. They know members by
// position in the group and which of them share a node, never links or times; sim/cost/ lays the rounds on
// the routes of a topology. One algorithm per file; `collective_algorithms()` is the menu.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "orrery/menu.hpp"
#include "orrery/plan.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Describes one message of a round. It carries `share` / Rounds::share_unit of the collective's bytes.
struct RoundMessage {
  std::uint32_t from = 0;  ///< position in the group
  std::uint32_t to = 0;
  std::uint32_t share = 0;
  /// Stage in the pipeline of the round: data received in stage s is sent on in stage s + 1, and in a ring
  /// stage 0 follows the last. 0 for all messages of a round that is no pipeline.
  std::uint32_t stage = 0;

  friend bool operator==(const RoundMessage&, const RoundMessage&) = default;
};

/// Messages that move at the same time; the next round starts when all have arrived. A pipelined
/// round (chain, tree, ring) is in the limit of many small chunks: all stages are busy at once, so
/// it lasts as long as its busiest link, and the latency is that of one chunk's way.
struct Round {
  std::vector<RoundMessage> messages;
  std::int64_t repeat = 1;  ///< the same round this many times in a row
  /// Stages one chunk goes through per repeat. The latency of the round is
  /// repeat * hops * (mean over its stages of the latency of the stage's slowest message):
  /// all stages of a chain or tree, one of the n stages of a ring.
  std::int64_t hops = 1;
};

struct Rounds {
  std::vector<Round> rounds;
  std::int64_t share_unit = 1;  ///< every message moves bytes * share / share_unit
  /// The switches of the nodes reduce and copy. A message within a node then stands for the data that its
  /// sender gives to the switch and its receiver takes from it, at Topology::reduction_bytes_per_s().
  bool in_switch = false;
  /// Rings and trees through nodes, which leave a node by the GPUs nearest to its NICs: a NIC then moves
  /// Topology::staged_bytes_per_s() at most.
  bool by_nearest = false;
};

/// The members of a group as an algorithm sees them: by position, in order, gathered by node.
struct GroupShape {
  std::uint32_t members = 1;
  std::vector<std::vector<std::uint32_t>> nodes;  ///< positions in each node, in order of first member
  /// Channels to split a ring or tree over, at least one. Each visits every position once, node by
  /// node in the order of `nodes`.
  std::vector<std::vector<std::uint32_t>> rings;
  bool switch_reduces = false;  ///< the switches of the nodes can reduce and copy
  bool staged = false;          ///< Topology::stages_messages()
};

/// A group of several members on one node, or one on each of several nodes, with a single ring.
[[nodiscard]] GroupShape one_node_shape(std::uint32_t members);
[[nodiscard]] GroupShape one_per_node_shape(std::uint32_t members);

/// Groups are of two members or more.
struct CollectiveAlgorithm : MenuEntry {
  /// Returns why it cannot do this collective in this group, as the end of a sentence; "" if it can.
  std::string_view (*obstacle)(Collective, const GroupShape&);
  /// Requires no obstacle.
  Rounds (*rounds)(Collective, const GroupShape&);
  /// Returns true if NCCL considers the algorithm when the choice is "auto". It is called only if nothing
  /// rules the algorithm out.
  bool (*automatic)(Collective, const GroupShape&);
};

/// Returns the obstacle to an all-reduce through that many servers among the members, as CollectiveAlgorithm
/// does.
[[nodiscard]] std::string_view server_obstacle(const GroupShape& shape, std::uint32_t servers);
[[nodiscard]] Rounds server_rounds(const GroupShape& shape, std::uint32_t servers);

[[nodiscard]] std::span<const CollectiveAlgorithm> collective_algorithms();
/// The algorithm of that name, or nullptr.
[[nodiscard]] const CollectiveAlgorithm* find_collective_algorithm(std::string_view name);

}  // namespace orrery
