// The rows of `gossip` as CSV and as a chart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/gossip_graph.hpp"
#include "reports/chart/scene.hpp"

namespace orrery {

/// One line of the table: figures, or why there is no such graph.
struct GossipRow {
  std::string topology;
  std::uint32_t workers = 0;
  std::string problem;
  std::size_t rounds = 0;
  std::uint32_t degree = 0;
  double messages = 0;
  double gap = 0;
  std::optional<std::uint32_t> period;
  double smallest = 0, largest = 0;  ///< weights of neighbours
  GossipGraph graph;                 ///< empty where there is none
};

/// A header line and a line per row; one without a graph has the reason in its last column.
[[nodiscard]] std::string gossip_csv(const std::vector<GossipRow>& rows);

/// The law of each topology: its spectral gap over the number of workers. Graphs that average exactly within
/// a period have a gap of 1.
[[nodiscard]] ChartScene gossip_scene(const std::vector<GossipRow>& rows);

}  // namespace orrery
