#include "importers/machines/slurm_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "importers/machines/fabric_graph.hpp"
#include "importers/machines/host_list.hpp"
#include "orrery/error.hpp"

namespace orrery::importers::machines {
namespace {

std::vector<std::string> hosts_at(const std::string& list, const FilePlace& place) {
  try {
    return expanded_hosts(list);
  } catch (const std::invalid_argument& error) {
    throw InputError({Diagnostic{place.file, place.line, 1, "", error.what()}});
  }
}

FabricGraph graph_of(const std::vector<SlurmSwitch>& switches) {
  FabricGraph graph;
  for (const SlurmSwitch& part : switches) {
    for (const std::string& host : hosts_at(part.nodes, part.place)) graph.join_host(host, part.name, 0);
    for (const std::string& child : hosts_at(part.switches, part.place))
      graph.join_switches(child, part.name, 0);
  }
  return graph;
}

void map_blocks(const std::vector<SlurmBlock>& blocks, bool alone, Draft& draft) {
  std::size_t most = 0;
  std::set<std::string> nodes;
  for (const SlurmBlock& block : blocks) {
    const std::vector<std::string> hosts = hosts_at(block.nodes, block.place);
    most = std::max(most, hosts.size());
    nodes.insert(hosts.begin(), hosts.end());
  }
  const SourceKey first{"blocks", blocks.size(), blocks.front().place};
  if (nodes.empty()) return draft.lack(first, "the blocks have no nodes");
  if (alone) draft.map({"nodes of blocks", nodes.size(), first.place}, "cluster.nodes");
  draft.map({"nodes of a block", most, first.place}, "cluster.node.domain_nodes", most,
            "blocks are taken for NVLink domains; --set cluster.node.domain_nodes=1 where they are none");
}

}  // namespace

void map_slurm(const SlurmTree& tree, Draft& draft) {
  const FabricGraph graph = graph_of(tree.switches);
  if (!graph.empty())
    map_fabric(graph.shape(), {"switches", tree.switches.size(), tree.switches.front().place}, draft);
  if (!tree.blocks.empty()) map_blocks(tree.blocks, graph.empty(), draft);
  if (graph.empty() && tree.blocks.empty())
    draft.lack("cluster.nodes", "the topology names no nodes: --set cluster.nodes=N");
}

}  // namespace orrery::importers::machines
