// Experiments that cannot differ, as one.
#pragma once

#include "orrery/content_hash.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// Returns `experiment` with one value for all settings that are equivalent beside its other values: orders
/// of ranks that place all ranks alike, sharding over a single copy, a schedule of chunks with one chunk.
/// Names are left out.
[[nodiscard]] Experiment normal_form(Experiment experiment);

/// Hashes the normal form.
[[nodiscard]] ContentHash content_of_normal_form(const Experiment& experiment);

}  // namespace orrery
