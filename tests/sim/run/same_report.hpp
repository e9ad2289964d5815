// Compares the parts of reports that must be equal for one experiment, however it was folded.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "orrery/report.hpp"
#include "orrery/simulate.hpp"

namespace orrery::test {

inline void check_same_times(const Report& a, const Report& b) {
  CHECK(a.makespan_ps == b.makespan_ps);
  CHECK(a.breakdown.compute_ps == b.breakdown.compute_ps);
  CHECK(a.breakdown.optimizer_ps == b.breakdown.optimizer_ps);
  CHECK(a.breakdown.exposed_ps == b.breakdown.exposed_ps);
  CHECK(a.breakdown.bubble_ps == b.breakdown.bubble_ps);
  CHECK(a.breakdown.host_ps == b.breakdown.host_ps);
  CHECK(a.pipeline_bubble_fraction == b.pipeline_bubble_fraction);
  CHECK(a.gpu_utilization_mean == b.gpu_utilization_mean);
  CHECK(a.gpu_utilization_min == b.gpu_utilization_min);
}

/// The report of a step that comes to a steady state and is told from fewer micro-batches.
inline std::optional<Report> told_from_fewer(const Experiment& e) {
  Report report = simulate(e);
  const bool fewer = std::ranges::any_of(report.assumptions, [](const std::string& sentence) {
    return sentence.find("are simulated up to the") != std::string::npos;
  });
  return fewer ? std::optional(std::move(report)) : std::nullopt;
}

}  // namespace orrery::test
