// Refuses experiments that serve requests, for features that only a training step has.
#pragma once

#include <string>
#include <string_view>

#include "orrery/error.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// @param what  the feature that serving lacks, such as "pipeline schedule"
/// @throws InputError if the experiment serves requests
inline void require_training(const Experiment& experiment, std::string_view what) {
  if (experiment.inference)
    throw InputError("/inference",
                     "found requests to serve, which have no " + std::string(what) + ", allowed training");
}

}  // namespace orrery
