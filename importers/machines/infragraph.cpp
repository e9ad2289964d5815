#include "importers/machines/infragraph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "config/text/document.hpp"
#include "config/text/yaml_text.hpp"
#include "importers/common/text_lines.hpp"
#include "importers/machines/fabric_graph.hpp"
#include "importers/machines/infragraph_parts.hpp"
#include "importers/machines/node_parts.hpp"
#include "importers/machines/wiring.hpp"

namespace orrery::importers::machines {
namespace {

constexpr double kGigabitsPerGigabyte = 8;

bool is_infragraph(const SourceFile& file) {
  bool connections = false, parts = false;
  const SourceFile head = head_of(file, kMaxYamlBytes);
  for (const TextLine& line : lines_of(head)) {
    const std::string_view text = trimmed(line.text);
    connections = connections || text == "connections:" || text == "edges:" ||
                  text.starts_with("\"edges\"") || text.starts_with("\"connections\"");
    parts = parts || text == "components:" || text == "devices:" || text == "infrastructure:" ||
            text.starts_with("\"devices\"") || text.starts_with("\"components\"");
  }
  return connections ? parts : file.text().starts_with("devices:") && parts;
}

const GraphDevice* node_device(const InfraGraph& graph) {
  const auto found =
      std::ranges::find_if(graph.devices, [](const GraphDevice& d) { return !d.accelerator().empty(); });
  return found == graph.devices.end() ? nullptr : &*found;
}

bool is_pcie(const std::string& link) { return small(link).find("pci") != std::string::npos; }

/// Links of one accelerator but those of PCIe.
std::vector<NodeLink> links_of_part(const GraphDevice& device, const std::string& xpu, int index,
                                    const FilePlace& place) {
  std::vector<NodeLink> links;
  for (const GraphConnection& c : device.connections) {
    const bool out = c.from.component == xpu && c.from.index == index;
    const bool in = c.to.component == xpu && c.to.index == index;
    if ((!out && !in) || is_pcie(c.link)) continue;
    const GraphEnd& other = out ? c.to : c.from;
    links.push_back({fmt::format("{}.{}", other.component, other.index), 1, other.component != xpu, place});
  }
  return links;
}

/// The rate of links of accelerators among each other or to their switches; 0 where the file has none.
double rate_of_links(const GraphDevice& device, const std::string& xpu, bool pcie) {
  for (const GraphConnection& c : device.connections)
    if ((c.from.component == xpu || c.to.component == xpu) && is_pcie(c.link) == pcie)
      if (const auto link = device.links.find(c.link); link != device.links.end()) return link->second;
  return 0;
}

std::vector<NodeGpu> accelerators_of(const GraphDevice& device, const std::string& xpu,
                                     const FilePlace& place) {
  std::vector<NodeGpu> gpus;
  for (int i = 0; i < device.components.at(xpu).count; ++i) {
    NodeGpu gpu;
    gpu.id = fmt::format("{}.{}", xpu, i);
    gpu.links = links_of_part(device, xpu, i, place);
    gpu.place = place;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

void map_accelerator(const GraphDevice& device, const std::string& xpu, const FilePlace& place,
                     Draft& draft) {
  const GraphComponent& component = device.components.at(xpu);
  const std::string& words = component.description.empty() ? device.description : component.description;
  const GpuGuess guess = gpu_of_words(words);
  const SourceKey key{xpu, words, place};
  if (guess.words.empty())
    draft.ignore(key, "no GPU of the catalog is called so");
  else
    map_gpu(guess, key, draft);
  if (component.count > 0) draft.map({xpu, component.count, place}, "cluster.gpus_per_node");
}

void map_device_links(const GraphDevice& device, const std::string& xpu, const ImportContext& context,
                      Draft& draft) {
  const FilePlace place{context.file.path(), 1};
  const FoundWiring wiring = wiring_of(accelerators_of(device, xpu, place));
  if (wiring.kind.empty() || device.connections.empty()) return;
  const SourceKey key{"connections", wiring.found, place};
  if (wiring.nearest && !context.options.approximate)
    return draft.lack(key, "cluster.node.kind",
                      "no wiring of Orrery is like this: --approximate takes a full mesh, --set "
                      "cluster.node.kind=KIND another one");
  draft.map(key, "cluster.node.kind", wiring.kind);
  const bool pcie = wiring.kind == "pcie";
  const double rate = rate_of_links(device, xpu, pcie) * (pcie ? 1 : wiring.links);
  if (rate > 0)
    draft.map({"bandwidth", rate, place}, "cluster.node.link_gb_per_s", rate,
              pcie ? "" : fmt::format("{} links", wiring.links));
}

int nics_in(const GraphDevice& device) {
  int nics = 0;
  for (const auto& [name, component] : device.components)
    if (component.type == "nic" || name == "nic") nics += component.count;
  return nics;
}

std::string instance_of(const GraphEnd& end) { return end.instance.substr(0, end.instance.find('.')); }

/// Names of instances that are nodes: of the device with accelerators, or those whose NICs are connected.
std::set<std::string> node_instances(const InfraGraph& graph, const GraphDevice* device) {
  std::set<std::string> names;
  for (const auto& [name, of] : graph.instances)
    if (device != nullptr && (of.first == device->name)) names.insert(name);
  if (!names.empty()) return names;
  for (const GraphConnection& c : graph.connections)
    for (const GraphEnd* end : {&c.from, &c.to})
      if (end->component == "nic" || (device != nullptr && device->components.contains(end->component) &&
                                      !graph.instances.contains(instance_of(*end))))
        names.insert(instance_of(*end));
  return names;
}

FabricGraph fabric_of(const InfraGraph& graph, const std::set<std::string>& nodes) {
  FabricGraph fabric;
  for (const GraphConnection& c : graph.connections) {
    const auto link = graph.links.find(c.link);
    const double gbps = link == graph.links.end() ? 0 : link->second * kGigabitsPerGigabyte;
    const bool from_node = nodes.contains(instance_of(c.from)), to_node = nodes.contains(instance_of(c.to));
    if (from_node && !to_node) fabric.join_host(c.from.instance, c.to.instance, gbps);
    if (to_node && !from_node) fabric.join_host(c.to.instance, c.from.instance, gbps);
    if (!from_node && !to_node) fabric.join_switches(c.from.instance, c.to.instance, gbps);
  }
  return fabric;
}

/// Adapters that are devices of their own hang on the node as switches would.
bool joins_adapters(const InfraGraph& graph) {
  return std::ranges::all_of(graph.connections, [](const GraphConnection& c) { return is_pcie(c.link); });
}

void map_instances(const InfraGraph& graph, const GraphDevice* device, const FilePlace& place, Draft& draft) {
  const std::set<std::string> nodes = node_instances(graph, device);
  const FabricGraph fabric = fabric_of(graph, nodes);
  if (!fabric.empty()) {
    const FabricShape shape = fabric.shape();
    if (!joins_adapters(graph)) return map_fabric(shape, {"connections", shape.switches, place}, draft);
    return draft.map({"adapters", shape.nics_per_node, place}, "cluster.fabric.nics_per_node");
  }
  for (const auto& [name, of] : graph.instances)
    if (nodes.contains(name)) draft.map({"instances " + name, of.second, place}, "cluster.nodes");
}

void read_infragraph(const ImportContext& context, Draft& draft) {
  const Document document = parse_document(context.file.text(), context.file.path());
  const InfraGraph graph = infragraph_of(document.value);
  const FilePlace place{context.file.path(), 1};
  const GraphDevice* device = node_device(graph);
  if (device == nullptr && graph.connections.empty())
    return draft.lack({"devices", graph.devices.size(), place},
                      "no device has accelerators (components of type xpu): give the file of the node too");
  if (device != nullptr) {
    const std::string xpu = device->accelerator();
    map_accelerator(*device, xpu, place, draft);
    map_device_links(*device, xpu, context, draft);
  }
  map_instances(graph, device, place, draft);
  if (device != nullptr && nics_in(*device) > 0)
    draft.map({"nic", nics_in(*device), place}, "cluster.fabric.nics_per_node");
}

}  // namespace

const Importer kInfragraph{
    {"infragraph", "Machine as InfraGraph describes it"}, is_infragraph, read_infragraph};

}  // namespace orrery::importers::machines
