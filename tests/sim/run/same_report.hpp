// What must be equal in the reports of one experiment, however it was folded.
#pragma once

#include <doctest/doctest.h>

#include "orrery/report.hpp"

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

}  // namespace orrery::test
