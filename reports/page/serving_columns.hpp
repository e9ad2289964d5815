// Writes the events of a serving run as columns of a page. Internal to reports/page/.
#pragma once

#include <cstdint>

#include "orrery/serving_record.hpp"
#include "reports/page/page.hpp"

namespace orrery {

/// Iterations as spans of their stages, those of one replica side by side; where there are more than
/// `max_spans`, as many of one kind as follow each other closely are one, and where that is still too many,
/// of any kind.
/// @return  iterations that one span holds at most
std::uint64_t add_iterations(const ServingRecord& record, std::uint64_t max_spans, Page& page);

/// The first `most` requests with their moments.
void add_requests(const ServingRecord& record, std::uint64_t most, Page& page);

/// Cache and requests of each replica over time, at most some thousand points each: of several in a row the
/// highest stands for all.
void add_states(const ServingRecord& record, Page& page);

/// Latencies in seconds at percentiles, kCurvePoints of them from 0 to 100, by nearest rank.
inline constexpr std::size_t kCurvePoints = 201;
void add_latencies(const ServingRecord& record, Page& page);

}  // namespace orrery
