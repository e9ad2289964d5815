// Holds the facts about programs and tasks that figures need and that prices do not change; it is made once
// for runs that differ only in prices.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "orrery/workload.hpp"
#include "sim/metrics/stream_ops.hpp"
#include "sim/tasks/expanded_graph.hpp"

namespace orrery {

/// A program as its ranks go through it.
struct ProgramLayout {
  static constexpr std::uint32_t kNoHost = 0xffffffff;
  StreamOps streams;
  std::vector<std::uint8_t> priority;  ///< per op: of waits for it, lower wins; of communication
  std::vector<std::uint32_t> host;     ///< per op: the host operation before it, or kNoHost
  std::vector<std::uint32_t>
      classes;  ///< of ranks, by position: their tasks of an operation lie side by side
};

struct RunLayout {
  std::vector<ProgramLayout> programs;

  RunLayout() = default;
  RunLayout(const Workload& workload, const ExpandedGraph& expanded);

  [[nodiscard]] std::size_t bytes() const;
};

/// Which of several communications in flight a wait belongs to, by Dimension; lower wins.
inline constexpr std::array<std::uint8_t, kDimensionCount> kWaitPriority{0, 4, 1, 2, 3, 5};

}  // namespace orrery
