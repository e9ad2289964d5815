// Declares the simulator of the process, whose memo all searches share.
#pragma once

#include "orrery/simulate.hpp"

namespace orrery::python {

/// It is never freed, and after a fork the child gets a new one: threads of the parent may have held its
/// locks.
[[nodiscard]] Simulator*& shared_simulator();

}  // namespace orrery::python
