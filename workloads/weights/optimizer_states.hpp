// What an optimizer keeps of the parameters it updates, and the memory traffic of an update.
#pragma once

#include "orrery/experiment.hpp"

namespace orrery {

/// Of so many parameters: the copy of those of 16 bits that is updated.
[[nodiscard]] Bytes main_weight_bytes(const Plan& plan, std::int64_t parameters);
/// All moments of them.
[[nodiscard]] Bytes moment_bytes(const Plan& plan, std::int64_t parameters);
/// Both.
[[nodiscard]] Bytes optimizer_state_bytes(const Plan& plan, std::int64_t parameters);

/// Of so many parameters that a rank updates, those whose states lie in the memory of the host.
[[nodiscard]] std::int64_t offloaded_parameters(const Plan& plan, std::int64_t owned);

/// Bytes that an update reads and writes for each parameter. `software` says it of Adam in 32 bits; what
/// other states take more or less is read and written once.
[[nodiscard]] double update_bytes_per_parameter(const Experiment& experiment);

}  // namespace orrery
