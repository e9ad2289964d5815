// Serves the requests of an experiment on replicas of a plan: an event loop in whole picoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "orrery/inference.hpp"
#include "orrery/serving.hpp"
#include "orrery/serving_record.hpp"
#include "sim/serving/iteration.hpp"
#include "sim/serving/served_request.hpp"

namespace orrery {

struct ServingSetup {
  const Inference& inference;
  std::int64_t context_tokens = 0;  ///< most of a request
  std::int64_t replicas = 1;        ///< of which Disaggregation has its two shares
  ServingMemory memory;
  std::uint64_t seed = 0;
  Picoseconds front_end_ps = 0;  ///< from a request's arrival to its place in the queue of a replica
};

struct ServedRun {
  std::string obstacle;  ///< why nothing can be served, a sentence; else empty
  Serving serving;
  std::vector<ServedRequest> requests;  ///< in the order of their arrival
  std::int64_t pages_left = 0;          ///< that are held at the end, without those that always are
  Int128 in_system_ps = 0;              ///< requests that have arrived and not ended, over time
};

/// What is told of a run beside its figures.
struct ServingObserver {
  ServingRecord* record = nullptr;  ///< of what happens when; null: nothing is kept of it
  std::function<void(std::size_t ended, std::size_t requests)> progress{};  ///< as requests end; may be empty
};

/// Serves every request to its end, however long that takes.
/// @param cost  of each of the replicas, which are alike
/// @throws InputError where it takes longer than picoseconds can count.
[[nodiscard]] ServedRun serve(const ServingSetup& setup, IterationCost& cost,
                              const ServingObserver& observer = {});

/// Why nothing can be served, without serving anything; else empty.
[[nodiscard]] std::string serving_obstacle_of_memory(const ServingSetup& setup);

/// Pages of a replica's cache, and what hinders it from holding any request.
struct CacheRoom {
  std::int64_t pages = 0;
  std::int64_t lasting_pages = 0;  ///< of the beginning that prompts have in common
  std::string obstacle;
};

/// Whether the memory holds all that each of the requests needs alone.
[[nodiscard]] CacheRoom cache_room(const ServingSetup& setup, const std::vector<RequestSpec>& requests);

/// Requests in flight on a replica at most: of the experiment, or else how many mean ones `pages` hold where
/// their number has to be known. 0: there is no such number.
[[nodiscard]] std::int64_t most_in_flight(const Inference& inference, std::int64_t pages);

}  // namespace orrery
