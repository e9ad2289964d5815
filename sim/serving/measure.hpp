// Computes the figures of a finished run.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/inference.hpp"
#include "orrery/serving.hpp"
#include "sim/serving/kv_cache_usage.hpp"
#include "sim/serving/replica.hpp"
#include "sim/serving/served_request.hpp"
#include "sim/serving/token_gaps.hpp"

namespace orrery {

/// Refers to all.
struct FinishedRun {
  const Inference& inference;
  const std::vector<ServedRequest>& requests;
  const std::vector<const Replica*>& replicas;
  const KvCacheUsage& meter;
  const TokenGaps& gaps;
  Picoseconds duration_ps = 0;
  const std::vector<std::uint32_t>& kind_of_replica;  ///< empty: all are alike
};

[[nodiscard]] Serving measure(const FinishedRun& run);

/// Returns the distribution by nearest rank; all 0 if there are no values.
[[nodiscard]] Distribution distribution_of(std::vector<double> values);

}  // namespace orrery
