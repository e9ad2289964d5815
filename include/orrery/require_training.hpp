// For what only a training step has: experiments that serve requests are refused there.
#pragma once

#include <string>
#include <string_view>

#include "orrery/error.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// @param what  that requests have none of, such as "pipeline schedule"
/// @throws InputError where the experiment serves requests
inline void require_training(const Experiment& experiment, std::string_view what) {
  if (experiment.inference)
    throw InputError("/inference",
                     "found requests to serve, which have no " + std::string(what) + ", allowed training");
}

}  // namespace orrery
