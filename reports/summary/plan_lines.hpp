// A plan in words: what was asked for, what overlaps, what the software decides.
#pragma once

#include <string>
#include <vector>

#include "orrery/report.hpp"

namespace orrery {

/// Whether ZeRO's parameters are gathered before they are needed.
[[nodiscard]] bool gathers_ahead(const Plan& plan);
/// Whether messages between stages travel while GPUs compute.
[[nodiscard]] bool overlaps_messages(const Report& report);
/// Whether keys and values travel between context ranks while these compute.
[[nodiscard]] bool overlaps_context(const Plan& plan);

/// In the order of the summary, each to be wrapped.
[[nodiscard]] std::vector<std::string> plan_lines(const Report& report);

}  // namespace orrery
