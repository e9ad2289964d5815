// Matches the communication operations of different programs with each other.
//
// A channel joins the program slots whose operations communicate: the tensor slot of one stage, say, or
// forward_out of a stage and forward_in of the next. The k-th operation on each of its ends is one task
// group, with one task per communicator. A call is a message that a channel carries, or a pass of its tensor
// groups; each communicator has its own price for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "orrery/workload.hpp"

namespace orrery {

inline constexpr std::uint32_t kNone = 0xffffffff;

struct Channel {
  /// Says that `count` communicators have `members` members.
  struct Size {
    std::uint32_t members = 0;
    std::uint32_t groups = 0;
  };
  std::span<const std::uint32_t> groups;  ///< its communicators
  std::span<const Size> sizes;            ///< in ascending order of members
  std::uint32_t first_call = 0;           ///< Channels::calls[first_call, last_call)
  std::uint32_t last_call = 0;
  std::uint32_t operations = 0;        ///< task groups it has
  std::uint32_t ends = 0;              ///< program slots whose operations are in each of them
  std::uint32_t first_task_group = 0;  ///< counted over channels only
};

/// Describes the collective call that an operation makes on its communicator.
struct Request {
  bool pass = false;
  std::uint32_t work = 0;  ///< index into Workload::messages, or Workload::passes

  friend bool operator==(Request a, Request b) { return a.work == b.work && a.pass == b.pass; }
};

[[nodiscard]] inline Request request_of(const Op& op) { return {op.kind == Op::Kind::pass, op.work}; }

struct Call {
  std::uint32_t channel = 0;
  Request request;
  std::uint64_t operations = 0;  ///< how often each communicator does it
};

struct Channels {
  /// Holds the lists that channels refer to, for all channels of one grouping.
  struct Lists {
    std::vector<std::uint32_t> groups;  ///< by channel
    std::vector<Channel::Size> sizes;   ///< by channel
  };
  std::shared_ptr<const Lists> lists;
  std::vector<Channel> channels;
  std::vector<Call> calls;
  std::vector<std::uint32_t> channel_of;     ///< [program * Workload::slots + slot], or kNone
  std::vector<std::uint32_t> channel_group;  ///< per group: its channel
  std::vector<std::uint32_t> group_place;    ///< per group: its place in Channel::groups
  std::uint32_t task_groups = 0;             ///< that communicate, over all channels

  /// The call for `request` on `channel`.
  [[nodiscard]] std::uint32_t call(std::uint32_t channel, Request request) const {
    std::uint32_t at = channels[channel].first_call;
    while (calls[at].request != request) ++at;
    return at;
  }
};

/// The communicators of each channel, whatever programs do on it.
/// @throws std::logic_error if a slot of a program meets two channels.
[[nodiscard]] Channels group_channels(const Workload& workload);

/// @throws std::logic_error if the ends of a channel do not have equally many operations or disagree
///         on a message, or if a program uses a slot on two streams other than Stream::gather: a mistake in a
///         schedule, not in an experiment.
/// @param grouped  group_channels() of the workload
[[nodiscard]] Channels match_channels(const Workload& workload, Channels grouped);
[[nodiscard]] inline Channels match_channels(const Workload& workload) {
  return match_channels(workload, group_channels(workload));
}

}  // namespace orrery
