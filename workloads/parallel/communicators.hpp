// The communicators of a plan: which ranks form a tensor, data or embedding group, and which pairs
// exchange activations and their gradients.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/workload.hpp"
#include "workloads/sync/sync_layout.hpp"

namespace orrery {

/// Fills Workload::program_of_rank, group_begin, group_members and group_of.
/// Passes, where there are any, are done by tensor groups, though of a single rank.
void add_communicators(const Plan& plan, const SyncLayout& layout, Workload& workload);

}  // namespace orrery
