#include "importers/machines/nccl_topology.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "importers/common/text_lines.hpp"
#include "importers/machines/nccl_node.hpp"
#include "orrery/error.hpp"

namespace orrery::importers::machines {
namespace {

bool is_topology(const SourceFile& file) { return first_element(file.text()) == "system"; }
bool is_graphs(const SourceFile& file) { return first_element(file.text()) == "graphs"; }

const XmlElement* first_named(const XmlElement& element, std::string_view name) {
  if (element.name == name) return &element;
  for (const XmlElement& child : element.children)
    if (const XmlElement* found = first_named(child, name)) return found;
  return nullptr;
}

/// Parts of the file that no key of an experiment has, each named once.
void ignore_rest(const XmlElement& system, const SourceFile& file, Draft& draft) {
  if (const XmlElement* cpu = first_named(system, "cpu"))
    draft.ignore(key_at(file, cpu->line, "cpu", std::string(cpu->attribute("vendor"))),
                 "hosts, their affinity and their bridges change nothing that is simulated");
  if (const XmlElement* link = first_named(system, "c2c"))
    draft.ignore(key_at(file, link->line, "c2c", std::string(link->attribute("bw"))),
                 "the link to the host is that of the catalog's GPU");
}

void lack_gpus(const XmlElement& system, const SourceFile& file, Draft& draft) {
  if (draft.settled("cluster.gpus_per_node") || draft.settled("cluster.base")) return;
  const std::size_t nameless = nameless_functions(system);
  draft.lack(key_at(file, system.line, "pci", nameless),
             fmt::format("no GPU in the file{}: --set cluster.gpus_per_node=N and cluster.node.kind=KIND, or "
                         "--set cluster=NAME",
                         nameless > 0 ? ", whose PCI functions have no class" : ""));
}

void read_topology(const ImportContext& context, Draft& draft) {
  const XmlElement system = parse_xml(context.file);
  NodeParts node = nccl_node(system, context.file);
  const bool hint = is_hint(system);
  if (node.gpus.empty()) lack_gpus(system, context.file, draft);
  if (hint && !node.gpus.empty()) {
    // Hints have no links: what joins the GPUs stands nowhere.
    draft.map(key_at(context.file, node.gpus.front().place.line, "gpus", node.gpus.size()),
              "cluster.gpus_per_node");
    if (!node.gpus.front().guess.words.empty())
      map_gpu(node.gpus.front().guess, node.gpus.front().told_by, draft);
    node.gpus.clear();
  }
  map_node(node, context, draft);
  ignore_rest(system, context.file, draft);
}

void read_graphs(const ImportContext& context, Draft& draft) {
  const XmlElement graphs = parse_xml(context.file);
  for (const XmlElement& graph : graphs.children)
    draft.ignore(key_at(context.file, graph.line, "graph pattern", std::string(graph.attribute("pattern"))),
                 fmt::format("{} channels at {} GB/s, as NCCL chose them: Orrery chooses rings and trees "
                             "itself, from the topology",
                             graph.attribute("nchannels"), graph.attribute("speedintra")));
  draft.lack(key_at(context.file, graphs.line, "graphs", std::string(graphs.attribute("version"))),
             "rings and trees of NCCL describe no machine: give the topology instead "
             "(NCCL_TOPO_DUMP_FILE)");
}

}  // namespace

const Importer kNcclTopology{
    {"nccl-topology", "Topology of NCCL or RCCL as XML (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE)"},
    is_topology,
    read_topology};
const Importer kNcclGraphs{
    {"nccl-graphs", "Rings and trees that NCCL found (NCCL_GRAPH_DUMP_FILE)"}, is_graphs, read_graphs};

}  // namespace orrery::importers::machines
