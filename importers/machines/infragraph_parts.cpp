#include "importers/machines/infragraph_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "importers/common/text_lines.hpp"

namespace orrery::importers::machines {
namespace {

constexpr double kBitsOfByte = 8;
constexpr double kLanes = 16;
constexpr int kMostParts = 100'000;

const Json& part(const Json& value, const char* key) {
  static const Json kNone;
  if (!value.is_object()) return kNone;
  const auto found = value.find(key);
  return found == value.end() ? kNone : *found;
}

std::string text(const Json& value, const char* key) {
  const Json& found = part(value, key);
  return found.is_string() ? found.get<std::string>() : "";
}

int count_in(const Json& value) {
  const Json& found = part(value, "count");
  return found.is_number_integer() ? std::clamp(found.get<int>(), 0, kMostParts) : 0;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

int index_of(std::string_view text) {
  return static_cast<int>(std::clamp<std::int64_t>(integer_of(text).value_or(0), 0, kMostParts));
}

/// xpu.0.pcie.nic.0 in a device, server.0.nic.0.eth.leaf.0.port.0 between instances.
std::optional<GraphConnection> connection_of(std::string_view text) {
  const std::vector<std::string> w = split(text, '.');
  if (w.size() == 5) return GraphConnection{{"", w[0], index_of(w[1])}, {"", w[3], index_of(w[4])}, w[2]};
  if (w.size() != 9) return std::nullopt;
  return GraphConnection{
      {w[0] + "." + w[1], w[2], index_of(w[3])}, {w[5] + "." + w[6], w[7], index_of(w[8])}, w[4]};
}

/// A slice name[a:b], name[i] or name, which stands for all of it.
std::vector<std::pair<std::string, int>> slice_of(const std::string& text, int all) {
  const std::size_t open = text.find('['), close = text.find(']');
  const std::string name = text.substr(0, open);
  std::vector<std::pair<std::string, int>> items;
  if (open == std::string::npos || close == std::string::npos || close < open) {
    for (int i = 0; i < std::max(all, 1); ++i) items.emplace_back(name, i);
    return items;
  }
  const std::string range = text.substr(open + 1, close - open - 1);
  const std::size_t colon = range.find(':');
  const int first = index_of(std::string_view(range).substr(0, colon));
  const int last =
      colon == std::string::npos ? first + 1 : index_of(std::string_view(range).substr(colon + 1));
  for (int i = first; i < last; ++i) items.emplace_back(name, i);
  return items;
}

struct Counts {
  const std::map<std::string, GraphComponent>* components = nullptr;
  const InfraGraph* graph = nullptr;

  [[nodiscard]] int of_component(const std::string& name) const {
    if (components == nullptr) return 1;
    const auto found = components->find(name);
    return found == components->end() ? 1 : found->second.count;
  }
  [[nodiscard]] int of_instance(const std::string& name) const {
    if (graph == nullptr) return 1;
    const auto found = graph->instances.find(name);
    return found == graph->instances.end() ? 1 : found->second.second;
  }
  /// Components of the device behind an instance.
  [[nodiscard]] int of_part(const std::string& instance, const std::string& component) const {
    if (graph == nullptr) return of_component(component);
    const auto found = graph->instances.find(instance);
    if (found == graph->instances.end()) return 1;
    for (const GraphDevice& device : graph->devices)
      if (device.name == found->second.first && device.components.contains(component))
        return device.components.at(component).count;
    return 1;
  }
};

std::string base_name(const std::string& slice) { return slice.substr(0, slice.find('[')); }

std::vector<GraphEnd> ends_of(const Json& end, const Counts& counts) {
  std::vector<GraphEnd> ends;
  const std::string component = text(end, "component");
  const std::string instance = text(end, "instance").empty() ? text(end, "device") : text(end, "instance");
  const int parts = instance.empty() ? counts.of_component(base_name(component))
                                     : counts.of_part(base_name(instance), base_name(component));
  const auto components = slice_of(component, parts);
  if (instance.empty()) {
    for (const auto& [name, i] : components) ends.push_back({"", name, i});
    return ends;
  }
  for (const auto& [name, number] : slice_of(instance, counts.of_instance(base_name(instance))))
    for (const auto& [part_name, i] : components)
      if (ends.size() < static_cast<std::size_t>(kMostParts))
        ends.push_back({fmt::format("{}.{}", name, number), part_name, i});
  return ends;
}

void add_edge(const Json& edge, const Counts& counts, std::vector<GraphConnection>& out) {
  const std::vector<GraphEnd> from = ends_of(part(edge, "ep1"), counts),
                              to = ends_of(part(edge, "ep2"), counts);
  const std::string link = text(edge, "link");
  const bool pairwise = text(edge, "scheme") == "one2one";
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t j = 0; j < to.size(); ++j)
      if ((!pairwise || i == j) && !(from[i] == to[j]) && out.size() < static_cast<std::size_t>(kMostParts))
        out.push_back({from[i], to[j], link});
}

std::vector<GraphConnection> connections_of(const Json& object, const Counts& counts) {
  std::vector<GraphConnection> connections;
  for (const Json& line : part(object, "connections"))
    if (line.is_string())
      if (auto connection = connection_of(line.get<std::string>()))
        connections.push_back(std::move(*connection));
  for (const Json& edge : part(object, "edges")) add_edge(edge, counts, connections);
  return connections;
}

/// Bandwidths have their unit in the key; transfers of PCIe are those of 16 lanes.
double gb_per_s_of(const Json& link) {
  const Json& own = part(link, "bandwidth");
  const Json& bandwidth = own.is_object() ? own : part(part(link, "physical"), "bandwidth");
  constexpr std::array<std::array<const char*, 3>, 3> kSpellings{
      {{"giga_bytes_per_second", "gigabytes_per_second", "g_bytes_per_second"},
       {"giga_bits_per_second", "gigabits_per_second", "g_bits_per_second"},
       {"giga_transfers_per_second", "gigatransfers_per_second", "g_transfers_per_second"}}};
  constexpr std::array<double, 3> kFactors{1, 1 / kBitsOfByte, kLanes / kBitsOfByte};
  for (std::size_t unit = 0; unit < kFactors.size(); ++unit)
    for (const char* key : kSpellings[unit])
      if (const Json& value = part(bandwidth, key); value.is_number())
        return value.get<double>() * kFactors[unit];
  return 0;
}

std::map<std::string, double> links_of(const Json& object) {
  std::map<std::string, double> links;
  for (const Json& link : part(object, "links")) links[text(link, "name")] = gb_per_s_of(link);
  return links;
}

GraphDevice device_of(const Json& object) {
  GraphDevice device{text(object, "name"), text(object, "description"), {}, links_of(object), {}};
  for (const Json& component : part(object, "components")) {
    const std::string choice = text(component, "choice");
    device.components[text(component, "name")] = {choice.empty() ? text(component, "type") : choice,
                                                  text(component, "description"), count_in(component)};
  }
  device.connections = connections_of(object, {&device.components, nullptr});
  for (const GraphConnection& connection : device.connections)
    for (const GraphEnd* end : {&connection.from, &connection.to})
      if (const auto found = device.components.find(end->component); found != device.components.end())
        found->second.count = std::max(found->second.count, end->index + 1);
  return device;
}

void add_instances(const Json& object, const std::string& device, InfraGraph& graph) {
  for (const Json& instance : part(object, "instances")) {
    const std::string of = text(instance, "device");
    graph.instances[text(instance, "name")] = {of.empty() ? device : of, std::max(1, count_in(instance))};
  }
}

}  // namespace

std::string GraphDevice::accelerator() const {
  constexpr std::array<std::string_view, 4> kTypes{"xpu", "gpu", "npu", "tpu"};
  for (const auto& [component, about] : components)
    for (const std::string_view type : kTypes)
      if (about.type == type || component == type) return component;
  return "";
}

InfraGraph infragraph_of(const Json& document) {
  const Json& root =
      part(document, "infrastructure").is_object() ? part(document, "infrastructure") : document;
  InfraGraph graph;
  for (const Json& object : part(root, "devices")) {
    graph.devices.push_back(device_of(object));
    add_instances(object, graph.devices.back().name, graph);
  }
  if (graph.devices.empty() && part(root, "components").is_array()) graph.devices.push_back(device_of(root));
  add_instances(root, "", graph);
  graph.links = links_of(root);
  graph.connections = connections_of(root, {nullptr, &graph});
  return graph;
}

}  // namespace orrery::importers::machines
