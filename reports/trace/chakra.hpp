// Execution traces of single ranks in the schema of MLCommons Chakra (schema/protobuf/et_def.proto), with the
// attributes that its feeder gives to ASTRA-sim (src/feeder/et_feeder_node.cpp).
#pragma once

#include "reports/trace/plan.hpp"

namespace orrery {

/// Limit on nodes of all files of a run together: some gigabytes.
inline constexpr std::uint64_t kMostChakraNodes = 20'000'000;

/// Writes one of the plan's ranks, a node an operation, in the order of issue. A node depends on the
/// operation before it on its stream and on those that its program names.
/// @return the number of nodes
std::uint64_t write_chakra_rank(const TracePlan& plan, std::uint32_t rank, const Sink& sink);

/// Writes the ranks of all communicators that nodes name, as ASTRA-sim reads them.
void write_chakra_groups(const TracePlan& plan, const Sink& sink);

}  // namespace orrery
