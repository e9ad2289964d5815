// Writes the result of weeks of training.
#pragma once

#include <string>

#include "reports/chart/scene.hpp"
#include "sim/long_run/long_run_result.hpp"

namespace orrery {

/// The summary for a terminal.
[[nodiscard]] std::string long_run_text(const LongRunResult& result);
[[nodiscard]] std::string long_run_json(const LongRunResult& result);
/// A row of figures below a row of their names.
[[nodiscard]] std::string long_run_csv(const LongRunResult& result);
/// The shown repetition for Chrome's and Perfetto's viewers.
[[nodiscard]] std::string long_run_trace(const LongRunResult& result);
/// The shown repetition over its days.
[[nodiscard]] ChartScene long_run_scene(const LongRunResult& result);
/// The page has the picture and the summary, and asks no machine.
[[nodiscard]] std::string long_run_page(const LongRunResult& result);

}  // namespace orrery
