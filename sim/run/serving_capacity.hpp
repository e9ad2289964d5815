// Finds the most requests per second that an experiment serves within its limits: a search over rates, each
// of them a run with the same requests and the same random gaps, scaled.
#pragma once

#include <cstdint>
#include <functional>

#include "orrery/inference.hpp"
#include "orrery/serving.hpp"

namespace orrery {

/// Rates of three digits are numbered in their order: 0 is 0.00100 per second, 900 more are ten times as
/// many.
[[nodiscard]] double numbered_rate(std::int64_t number);

/// @param serve_at  returns the serving figures for requests that arrive at this rate
[[nodiscard]] Capacity find_capacity(const ServiceLevel& slo,
                                     const std::function<Serving(double requests_per_s)>& serve_at);

}  // namespace orrery
