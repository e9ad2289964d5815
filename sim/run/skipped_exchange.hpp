// Whether the steps that are simulated leave out an exchange of models that comes less often.
#pragma once

#include <string>

#include "orrery/experiment.hpp"

namespace orrery {

/// A sentence on an exchange that no simulated step has, with the key to change; "" where all are there.
[[nodiscard]] std::string skipped_exchange(const Experiment& experiment);

}  // namespace orrery
