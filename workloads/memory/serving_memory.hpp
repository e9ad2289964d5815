// What a GPU of a serving replica holds: weights as they are stored, keys and values of the tokens in flight,
// and what the largest iteration works in.
#pragma once

#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/inference.hpp"

namespace orrery {

/// On a GPU of a pipeline stage.
struct StageServingMemory {
  Bytes weights = 0;
  Bytes workspace = 0;
  Bytes cache_per_token = 0;    ///< rounded up; of layers with a window as of others
  Bytes state_per_request = 0;  ///< of layers that recur, whatever its length
};

/// Per pipeline stage.
/// @param tokens  of the largest iteration
[[nodiscard]] std::vector<StageServingMemory> stage_serving_memory(const Experiment& experiment,
                                                                   const Inference& inference,
                                                                   std::int64_t tokens);

}  // namespace orrery
