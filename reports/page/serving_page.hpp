// Writes the page of a serving run (`orrery simulate --html`): figures, where the time goes, latencies, the
// iterations of replicas, requests, and cache and queue over time.
#pragma once

#include <cstdint>
#include <string>

#include "orrery/report.hpp"
#include "orrery/serving_record.hpp"
#include "orrery/write.hpp"

namespace orrery {

struct ServingPageInput {
  const Report& report;
  std::string resolved;  ///< the experiment as `simulate --resolved` prints it; "": not known
  const ServingRecord& record;
  /// Limit on the spans of iterations on stages; above it, neighbours of one kind are merged. 24 bytes each.
  std::uint64_t max_spans = 200'000;
  std::uint64_t max_requests = 50'000;  ///< on the page; figures and curves are of all. 68 bytes each.
};

void write_serving_page(const ServingPageInput& input, const Sink& sink);

}  // namespace orrery
