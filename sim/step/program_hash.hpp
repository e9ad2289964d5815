// Hashes the structure of programs, whatever it costs: programs whose tasks and streams are alike have equal
// signatures.
#pragma once

#include "orrery/content_hash.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Hashes the fields of all operations, their indices of kernel sequences, messages and passes, and their
/// dependencies. Names of layers, bytes of memory and the contents of kernel sequences and messages are left
/// out.
[[nodiscard]] ContentHash hash_programs(const Workload& workload);

}  // namespace orrery
