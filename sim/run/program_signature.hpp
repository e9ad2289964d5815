// What programs do, whatever it costs: equal signatures for programs whose tasks and streams are alike.
#pragma once

#include "orrery/workload.hpp"
#include "sim/cost/signature.hpp"

namespace orrery {

/// Of all operations, their places in works, messages and passes, and dependencies; names of layers, bytes of
/// memory and what works and messages hold are left out.
[[nodiscard]] Signature sign_programs(const Workload& workload);

}  // namespace orrery
