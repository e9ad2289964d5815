// Describes a plan in words: the requested plan, its overlap, the software's choices.
#pragma once

#include <string>
#include <vector>

#include "orrery/report.hpp"

namespace orrery {

/// Returns true if ZeRO gathers parameters before they are needed.
[[nodiscard]] bool gathers_ahead(const Plan& plan);
/// Returns true if messages between stages overlap compute.
[[nodiscard]] bool overlaps_messages(const Report& report);
/// Returns true if keys and values travel between context ranks while they compute.
[[nodiscard]] bool overlaps_context(const Plan& plan);

/// Returns the lines in the order of the summary, each to be wrapped.
[[nodiscard]] std::vector<std::string> plan_lines(const Report& report);

}  // namespace orrery
