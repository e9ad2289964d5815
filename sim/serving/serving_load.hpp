// What an experiment serves: its requests, as many as it says or as tell something, and the room for them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/serving/serve.hpp"

namespace orrery {

struct ServingLoad {
  std::int64_t limit = 0;  ///< requests in flight on a replica
  std::vector<RequestSpec> requests;
  std::int64_t cut = 0;  ///< of them, as MadeRequests says
  CacheRoom room;
};

/// @throws InputError where no number of requests is given and those of full batches are too many, or take
/// too long to arrive.
[[nodiscard]] ServingLoad load_of(const ServingSetup& setup);

}  // namespace orrery
