// Computes the states that an optimizer keeps per parameter, and the memory traffic of an update.
#pragma once

#include "orrery/experiment.hpp"

namespace orrery {

/// Returns the bytes of the fp32 copies of 16-bit parameters, which the optimizer updates.
[[nodiscard]] Bytes main_weight_bytes(const Plan& plan, std::int64_t parameters);
/// Returns the bytes of all moments of the parameters.
[[nodiscard]] Bytes moment_bytes(const Plan& plan, std::int64_t parameters);
/// Both.
[[nodiscard]] Bytes optimizer_state_bytes(const Plan& plan, std::int64_t parameters);

/// Returns how many of the `owned` parameters that a rank updates have their states in host memory.
[[nodiscard]] std::int64_t offloaded_parameters(const Plan& plan, std::int64_t owned);

/// Returns the bytes held beside states while the optimizer updates `parameters` of a rank on the GPU: 32-bit
/// copies of 16-bit gradients, of all of them or, under ZeRO-3, of one group after the other.
[[nodiscard]] Bytes update_memory(const Experiment& experiment, std::int64_t parameters);

/// Returns the bytes that an update reads and writes for each parameter. `software` gives them for Adam in 32
/// bits; the difference of other states is read and written once.
[[nodiscard]] double update_bytes_per_parameter(const Experiment& experiment);

}  // namespace orrery
