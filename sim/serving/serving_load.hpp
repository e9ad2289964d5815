// Prepares the load of a serving experiment: its requests, as many as given or as are needed for statistics,
// and the KV cache for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/serving/serve.hpp"

namespace orrery {

struct ServingLoad {
  /// Holds the limits of a kind of replica.
  struct Kind {
    std::int64_t limit = 0;  ///< requests in flight on it; 0: there is no such number
    CacheRoom room;
  };
  std::vector<Kind> kinds;
  std::int64_t in_flight = 0;  ///< on all replicas that make outputs
  std::vector<RequestSpec> requests;
  std::int64_t cut = 0;  ///< of them, as MadeRequests says

  /// Returns why a replica cannot serve; "" if it can.
  [[nodiscard]] std::string obstacle() const;
};

/// @throws InputError where no number of requests is given and those of full batches are too many, or take
/// too long to arrive.
[[nodiscard]] ServingLoad load_of(const ServingSetup& setup);

}  // namespace orrery
