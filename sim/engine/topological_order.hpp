// Finds an order of tasks in which each comes after its predecessors.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/task_graph.hpp"

namespace orrery {

/// The order of ids where that is one. Throws DeadlockError when there is none.
[[nodiscard]] std::vector<std::uint32_t> topological_order(const TaskGraph& graph);

}  // namespace orrery
