// Sums the memory of a GPU of a serving replica: weights as they are stored, the KV cache of the tokens in
// flight, and the workspace of the largest iteration.
#pragma once

#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/inference.hpp"

namespace orrery {

/// Holds the memory of a GPU of a pipeline stage.
struct StageServingMemory {
  Bytes weights = 0;
  Bytes workspace = 0;
  Bytes cache_per_token = 0;    ///< rounded up; of layers with a window as of others
  Bytes state_per_request = 0;  ///< of layers that recur, whatever its length
};

/// Returns the memory per pipeline stage.
/// @param tokens  of the largest iteration
[[nodiscard]] std::vector<StageServingMemory> stage_serving_memory(const Experiment& experiment,
                                                                   const Inference& inference,
                                                                   std::int64_t tokens);

}  // namespace orrery
