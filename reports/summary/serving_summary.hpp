// The part of the summary about requests that a model serves. Internal to reports/.
#pragma once

#include "orrery/report.hpp"
#include "reports/summary/summary_text.hpp"

namespace orrery {

/// Writes capacity, latencies, times and memory of a report on serving.
void write_serving(const Report& report, SummaryText& text);

}  // namespace orrery
