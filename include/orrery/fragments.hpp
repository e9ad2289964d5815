// Finds the parts of a model that travel in turn, one after the other within a period (Douillard et al.
// 2025): which is due after which step, and which holds a layer. Read by workloads/ (the tasks) and
// studies/converge/ (the mathematics).
#pragma once

#include <cstdint>
#include <optional>

#include "orrery/data_parallel_sync.hpp"

namespace orrery {

/// The fragment that is needed after `step` (from 0), if any: fragment f of P after step
/// floor((f + 1) H / P) - 1 of each period of H steps. P is at most H.
[[nodiscard]] inline std::optional<std::int64_t> fragment_due(const DataParallelSync& sync,
                                                              std::int64_t step) {
  const std::int64_t at = step % sync.period + 1;
  const std::int64_t next = (at * sync.fragments + sync.period - 1) / sync.period;  // f + 1, if any
  if (next * sync.period / sync.fragments != at) return std::nullopt;
  return next - 1;
}

/// Fewest steps from one fragment to the next.
[[nodiscard]] inline std::int64_t fragment_interval(const DataParallelSync& sync) {
  return sync.period / sync.fragments;
}

/// Returns true if fragments are whole layers.
[[nodiscard]] inline bool fragments_by_layer(const DataParallelSync& sync) {
  return sync.fragments > 1 && sync.fragment_pattern != FragmentPattern::even;
}

/// Returns the fragment of a layer, among `layers`; the pattern is not even.
[[nodiscard]] inline std::int64_t fragment_of_layer(const DataParallelSync& sync, std::int64_t layer,
                                                    std::int64_t layers) {
  if (sync.fragment_pattern == FragmentPattern::strided) return layer % sync.fragments;
  return layer * sync.fragments / layers;
}

}  // namespace orrery
