// Simulates one experiment: the library's front door.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

/// The figures of one validated experiment. Deterministic to the bit, except Report::stats' wall
/// clock and memory figures. Safe to call from several threads.
/// @throws InputError if the cluster cannot be built or the graph would not fit into memory.
[[nodiscard]] Report simulate(const Experiment& experiment);

/// The same report with memory and feasibility alone, without simulating: its makespan is 0.
[[nodiscard]] Report account_memory(const Experiment& experiment);

}  // namespace orrery
