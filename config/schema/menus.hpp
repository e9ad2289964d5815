// The names an experiment may choose from that other rooms own: the caller collects their menus.
#pragma once

#include <string>
#include <vector>

namespace orrery {

struct Menus {
  std::vector<std::string> node_wirings;           ///< cluster.node.kind
  std::vector<std::string> fabrics;                ///< cluster.fabric.kind
  std::vector<std::string> pipeline_schedules;     ///< plan.pipeline_schedule
  std::vector<std::string> interleaved_schedules;  ///< those of them that take virtual stages
  std::vector<std::string> collective_algorithms;  ///< plan.collectives.*, besides "auto"
  std::vector<std::string> gossip_topologies;      ///< data_parallel_sync.topology
};

/// What an experiment can name, from the tables of all rooms.
[[nodiscard]] Menus menus();

}  // namespace orrery
