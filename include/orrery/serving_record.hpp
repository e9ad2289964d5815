// Records the events of a serving run over time, for traces, pictures and pages. Made by sim/serving/ on
// request.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "orrery/inference.hpp"
#include "orrery/units.hpp"

namespace orrery {

struct StageSpan {
  Picoseconds start_ps = 0;
  Picoseconds finish_ps = 0;
};

/// Holds one iteration of a replica.
struct ServedIteration {
  std::uint32_t replica = 0;
  std::uint32_t prompt_requests = 0;  ///< whose prompts, or pieces of them, are in it
  std::uint32_t decode_requests = 0;
  std::uint32_t decode_tokens = 0;  ///< more than requests where tokens are proposed and checked
  std::int64_t prompt_tokens = 0;
  Picoseconds end_ps = 0;  ///< its tokens are chosen

  [[nodiscard]] std::int64_t requests() const {
    return std::int64_t{prompt_requests} + std::int64_t{decode_requests};
  }
};

/// Holds the state of a replica from a time on.
struct ReplicaState {
  Picoseconds at_ps = 0;
  std::uint32_t replica = 0;
  std::int64_t pages = 0;    ///< of its cache
  std::int64_t running = 0;  ///< requests with a place in its batch
  std::int64_t waiting = 0;  ///< without one, or for their keys and values to travel
};

/// A request and its moments; none of them is missing at the end of a run but those of a transfer.
struct RequestMoments {
  static constexpr Picoseconds kNever = -1;
  RequestSpec spec;
  std::uint32_t replica = 0;         ///< to which it came
  std::uint32_t decode_replica = 0;  ///< the same, but where its keys and values travelled
  std::uint32_t preemptions = 0;     ///< times that it lost its place in the cache
  Picoseconds start_ps = 0;          ///< its first iteration begins
  Picoseconds first_token_ps = 0;
  Picoseconds transfer_start_ps = kNever;
  Picoseconds transfer_end_ps = kNever;
  Picoseconds end_ps = 0;

  [[nodiscard]] bool was_transferred() const { return transfer_end_ps != kNever; }
};

/// Holds the KV cache capacity of a replica, on a GPU of its fullest stage.
struct ReplicaRoom {
  std::int64_t pages = 0;     ///< of its cache
  Bytes bytes_per_token = 0;  ///< of a cached token
  Bytes held_bytes = 0;       ///< weights and activations
  Bytes usable_bytes = 0;     ///< for all of it; 0: not known
};

struct ServingRecord {
  /// Iterations, and states, that are kept at most: 64 bytes each and 16 a stage, so about a gigabyte.
  static constexpr std::uint64_t kUsualMost = 4'000'000;
  std::uint64_t most = kUsualMost;

  std::uint32_t stages = 0;            ///< of a replica
  std::uint32_t replicas = 0;          ///< the first of them for prompts where those are apart
  std::uint32_t prefill_replicas = 0;  ///< that only compute prompts
  std::int64_t pages = 0;              ///< of a replica's cache
  std::int64_t page_tokens = 0;
  Bytes bytes_per_token = 0;        ///< of a cached token, on a GPU of the fullest stage
  Bytes held_bytes = 0;             ///< weights and activations there
  Bytes usable_bytes = 0;           ///< there; 0: not known
  std::vector<ReplicaRoom> unlike;  ///< by replica, in place of the four above; empty: all are alike
  Picoseconds duration_ps = 0;
  std::vector<ServedIteration> iterations;  ///< in order of their beginning
  std::vector<StageSpan> spans;             ///< [iteration][stage]
  std::vector<ReplicaState> states;         ///< in order of time; of one time and replica the last
  std::vector<RequestMoments> requests;     ///< in order of arrival
  std::uint64_t left_out = 0;               ///< iterations beyond `most`
  Picoseconds recorded_until_ps = 0;        ///< iterations and states are complete up to then

  [[nodiscard]] const StageSpan* spans_of(std::size_t iteration) const {
    return spans.data() + iteration * stages;
  }
  [[nodiscard]] ReplicaRoom room_of(std::uint32_t replica) const {
    return unlike.empty() ? ReplicaRoom{pages, bytes_per_token, held_bytes, usable_bytes} : unlike[replica];
  }
  /// Returns the largest usable memory of any GPU of a replica; 0: not known.
  [[nodiscard]] Bytes most_usable_bytes() const {
    Bytes largest = usable_bytes;
    for (const ReplicaRoom& room : unlike) largest = std::max(largest, room.usable_bytes);
    return largest;
  }
  [[nodiscard]] Bytes cache_bytes(std::uint32_t replica, std::int64_t pages_held) const {
    return pages_held * page_tokens * room_of(replica).bytes_per_token;
  }
};

}  // namespace orrery
