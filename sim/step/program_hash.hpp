// What programs do, whatever it costs: equal signatures for programs whose tasks and streams are alike.
#pragma once

#include "orrery/content_hash.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Of all operations, their places in kernel sequences, messages and passes, and dependencies; names of
/// layers, bytes of memory and what kernel sequences and messages hold are left out.
[[nodiscard]] ContentHash hash_programs(const Workload& workload);

}  // namespace orrery
