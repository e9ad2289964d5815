// What an optimizer keeps of the parameters it updates, and the memory traffic of an update.
#pragma once

#include "orrery/experiment.hpp"

namespace orrery {

/// Of so many parameters: the copy of those of 16 bits that is updated, and the moments.
[[nodiscard]] Bytes optimizer_state_bytes(const Plan& plan, std::int64_t parameters);

/// Bytes that an update reads and writes for each parameter. `software` says it of Adam in 32 bits; what
/// other states take more or less is read and written once.
[[nodiscard]] double update_bytes_per_parameter(const Experiment& experiment);

}  // namespace orrery
