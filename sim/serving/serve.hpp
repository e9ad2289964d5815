// Serves the requests of an experiment on replicas of a plan: an event loop in whole picoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "orrery/inference.hpp"
#include "orrery/serving.hpp"
#include "orrery/serving_record.hpp"
#include "sim/serving/front_end.hpp"
#include "sim/serving/iteration.hpp"
#include "sim/serving/served_request.hpp"

namespace orrery {

/// Replicas that are not alike.
struct ReplicaMix {
  std::vector<ServingMemory> memories;         ///< by kind of replica, the fastest first
  std::vector<std::uint32_t> kind_of_replica;  ///< empty: all are alike
};

struct ServingSetup {
  const Inference& inference;
  std::int64_t context_tokens = 0;  ///< most of a request
  std::int64_t replicas = 1;        ///< of which Disaggregation has its two shares
  ServingMemory memory;             ///< of each of them, where they are alike
  std::uint64_t seed = 0;
  FrontEnd front_end{};
  ReplicaMix mix{};
  std::int64_t lengthened =
      1;  ///< times the requests of the experiment, or the usual ones where it gives none

  [[nodiscard]] bool is_mixed() const { return !mix.kind_of_replica.empty(); }
  [[nodiscard]] std::size_t kinds() const { return is_mixed() ? mix.memories.size() : 1; }
  [[nodiscard]] std::size_t kind_of(std::int64_t replica) const {
    return is_mixed() ? mix.kind_of_replica[static_cast<std::size_t>(replica)] : 0;
  }
  [[nodiscard]] const ServingMemory& memory_of(std::size_t kind) const {
    return is_mixed() ? mix.memories[kind] : memory;
  }
  /// The first replicas, which compute prompts alone; 0: there are none.
  [[nodiscard]] std::int64_t prompt_replicas() const { return inference.disaggregated.prefill; }
};

struct ServedRun {
  std::string obstacle;  ///< why nothing can be served, a sentence; else empty
  Serving serving;
  std::vector<ServedRequest> requests;  ///< in the order of their arrival
  std::int64_t pages_left = 0;          ///< pages held at the end, beyond those that always are
  Int128 token_gaps_ps = 0;             ///< between the deliveries of all requests
  Int128 in_system_ps = 0;              ///< requests that have arrived and not ended, over time
};

/// Receives the events of a run beside its figures.
struct ServingObserver {
  ServingRecord* record = nullptr;  ///< records events; null: nothing is recorded
  std::function<void(std::size_t ended, std::size_t requests)> progress{};  ///< as requests end; may be empty
};

/// Serves every request to its end, however long that takes.
/// @param costs  by kind of replica
/// @throws InputError where it takes longer than picoseconds can count.
[[nodiscard]] ServedRun serve(const ServingSetup& setup, std::span<IterationCost* const> costs,
                              const ServingObserver& observer = {});

/// Serves requests on identical replicas.
[[nodiscard]] inline ServedRun serve(const ServingSetup& setup, IterationCost& cost,
                                     const ServingObserver& observer = {}) {
  IterationCost* const one = &cost;
  return serve(setup, {&one, 1}, observer);
}

/// Returns why nothing can be served, without serving anything; "" if all can.
[[nodiscard]] std::string serving_obstacle_of_memory(const ServingSetup& setup);

/// Describes the pages of a replica's KV cache, and the obstacle that keeps it from holding some request.
struct CacheRoom {
  std::int64_t pages = 0;
  std::int64_t lasting_pages = 0;  ///< of the beginning that prompts have in common
  std::int64_t state_pages = 0;    ///< that the state of a request takes, whatever its length
  std::string obstacle;
};

/// Returns the KV cache of a kind of replica, with an obstacle if its memory does not hold each of the
/// requests alone.
[[nodiscard]] CacheRoom cache_room(const ServingSetup& setup, std::size_t kind,
                                   const std::vector<RequestSpec>& requests);

/// Requests in flight on a replica at most: of the experiment, or else how many mean ones `pages` hold where
/// their number has to be known. 0: there is no such number.
[[nodiscard]] std::int64_t max_num_seqs(const Inference& inference, const CacheRoom& room);

}  // namespace orrery
