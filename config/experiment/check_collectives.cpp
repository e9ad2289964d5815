#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/experiment/read_parts.hpp"
#include "workloads/collectives/collectives.hpp"

namespace orrery {
namespace {

/// Half of the members on each of two nodes.
GroupShape two_nodes_shape(std::uint32_t members, bool switch_reduces) {
  GroupShape shape = one_node_shape(members);
  const auto& all = shape.rings.front();
  const auto half = all.begin() + members / 2;
  shape.nodes = {{all.begin(), half}, {half, all.end()}};
  shape.switch_reduces = switch_reduces;
  return shape;
}

/// Groups of several sizes, one of each way to lie on nodes. A message is between two.
std::vector<GroupShape> shapes_of(Collective collective, bool switch_reduces) {
  std::vector<GroupShape> shapes;
  for (const std::uint32_t members : {2U, 8U, 16U}) {
    shapes.push_back(one_node_shape(members));
    shapes.back().switch_reduces = switch_reduces;
    shapes.push_back(one_per_node_shape(members));
    if (members > 2) shapes.push_back(two_nodes_shape(members, switch_reduces));
    if (collective == Collective::send_recv) break;
  }
  return shapes;
}

}  // namespace

void check_collectives(const Experiment& experiment, Findings& findings) {
  const bool switch_reduces = experiment.cluster.node.nvls_efficiency > 0;
  for (std::size_t i = 0; i < kCollectiveCount; ++i) {
    const std::string& name = experiment.plan.collectives[i];
    const CollectiveAlgorithm* algorithm = find_collective_algorithm(name);
    if (algorithm == nullptr) continue;  // "auto"
    const auto collective = static_cast<Collective>(i);
    const std::vector<GroupShape> shapes = shapes_of(collective, switch_reduces);
    const auto impossible = [&](const GroupShape& shape) {
      return !algorithm->obstacle(collective, shape).empty();
    };
    if (!std::ranges::all_of(shapes, impossible)) continue;
    findings.add("/plan/collectives/" + std::string(kCollectiveNames[i]),
                 fmt::format("found \"{}\", which no group can use here: {}", name,
                             algorithm->obstacle(collective, shapes.front())));
  }
}

}  // namespace orrery
