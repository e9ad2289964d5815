// Names keys in charts, with their units.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

/// Returns the label of a figure or key: "step time (s)" of step_time_s, "memory peak (GB)" of
/// memory.peak_gb.
[[nodiscard]] std::string key_label(std::string_view key);

/// Returns a number as charts write it: "1024", "0.05", "2.5·10⁻⁷".
[[nodiscard]] std::string chart_number(double value);

}  // namespace orrery
