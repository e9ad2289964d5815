// A report as text, to compare all of it.
#pragma once

#include <string>
#include <string_view>

#include "orrery/report.hpp"
#include "reports/writers.hpp"

namespace orrery::test {

/// All that is written of a report, without the wall clock.
inline std::string text_of(Report report) {
  report.stats.wall_s = report.stats.tasks_per_s = report.stats.peak_rss_mb = 0;
  std::string text;
  write_json(report, {}, 0, [&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace orrery::test
