// Charts of requests that were served: how many had a latency of at most so much, and latencies over rates.
#pragma once

#include <string>
#include <vector>

#include "orrery/report.hpp"
#include "orrery/serving_record.hpp"
#include "reports/chart/scene.hpp"

namespace orrery {

/// Returns the shares of requests over their latencies: time to first token, time per output token, and until
/// the last token; limits of the experiment are drawn in.
[[nodiscard]] ChartScene latency_scene(const ServingRecord& record, const Report& report);

/// A service at one rate of arrivals.
struct ServedRate {
  double requests_per_s = 0;
  Serving serving;
};

/// Returns latencies over the rate of requests: the median and the 99th percentile of the time to first
/// token, or of the figures that the limits are of; with the limits, and the most requests within them.
[[nodiscard]] ChartScene rate_scene(const std::vector<ServedRate>& rates, const Report& at_capacity);

}  // namespace orrery
