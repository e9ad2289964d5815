// Traces of single ranks in the dialect of PyTorch's profiler.
#pragma once

#include <string_view>

#include "reports/trace/plan.hpp"

namespace orrery {

/// Writes one of the plan's ranks, with all its operations.
/// @return its number of kernels and copies
std::uint64_t write_kineto_rank(const TracePlan& plan, std::uint32_t rank, std::string_view metadata_json,
                                const Sink& sink);

}  // namespace orrery
