// Accounts for the time of a rank's GPU in a step, from its profile: each moment belongs to one term, so
// terms add up to the step to the nanosecond. A measured run and the trace of a simulated one go through the
// same rules, so that what they leave out, they leave out on both sides.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "studies/explain/contention.hpp"
#include "studies/explain/line_up.hpp"
#include "studies/explain/measured/profile.hpp"

namespace orrery {

/// Terms of a step: kernels by KernelUse, exposed communication by Dimension, and waits.
namespace step_term {
inline constexpr std::size_t kExposed = kComputeUses;                     ///< the first of them
inline constexpr std::size_t kUnknownGroup = kExposed + kDimensionCount;  ///< communication of no known group
inline constexpr std::size_t kStragglers = kUnknownGroup + 1;  ///< waits for other ranks of a communicator
inline constexpr std::size_t kBubble = kStragglers + 1;   ///< waits for other stages, and nothing in flight
inline constexpr std::size_t kHost = kBubble + 1;         ///< the host has not issued the next kernel
inline constexpr std::size_t kLoading = kHost + 1;        ///< it fetches data meanwhile
inline constexpr std::size_t kContention = kLoading + 1;  ///< what kernels lose to messages beside them
inline constexpr std::size_t kCount = kContention + 1;
}  // namespace step_term
[[nodiscard]] std::string name_of_term(std::size_t term);

/// Counts the messages of one kind: a collective of a dimension.
struct MessageCount {
  std::int64_t calls = 0;
  double bytes = 0;
  double transfer_ns = 0;  ///< from when all had come
  double waiting_ns = 0;   ///< for the last of them
};
struct MessageKind {
  std::size_t dimension = 0;  ///< kDimensionCount: of no known group
  Collective collective{};
  friend auto operator<=>(const MessageKind&, const MessageKind&) = default;
};

/// A stretch of one term, from the beginning of its step.
struct LaneStretch {
  std::size_t term = 0;
  ClockRange range;
};

struct RankAccount {
  std::int64_t rank = 0;
  std::int64_t steps = 0;    ///< that are accounted for
  std::int64_t step_ns = 0;  ///< all of them
  std::array<std::int64_t, step_term::kCount> times_ns{};
  /// When the longest stretch of each term begins, from the beginning of its step, and how long it is.
  std::array<ClockRange, step_term::kCount> longest{};
  std::map<MessageKind, MessageCount> messages;
  std::int64_t beside_ns = 0;          ///< of kernels, while collectives are on their way
  std::int64_t beside_unknown_ns = 0;  ///< of it, of kernels of which nothing tells how long they take alone
  std::vector<std::int64_t> each_step_ns;
  std::int64_t last_begin_ns = 0;  ///< of the last step
  std::vector<LaneStretch>
      stretches;  ///< of the last step; those too short to be seen belong to the one before
};

/// @param ready_ns  of the profile, of LinedUp
[[nodiscard]] RankAccount account_for(const Profile& profile, const std::vector<std::int64_t>& ready_ns);
[[nodiscard]] std::vector<RankAccount> account_for(const std::vector<Profile>& profiles,
                                                   const LinedUp& lined);

}  // namespace orrery
