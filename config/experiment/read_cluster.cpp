#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

constexpr auto kUnits = std::span(kPrecisionNames).first<kUnitCount>();

void read_peaks(const Json& value, Gpu& gpu, const Path& path, Scope& scope) {
  if (!expect_object(value, path, scope)) return;
  for (const auto& [key, peak] : value.items()) {
    const Path here(path, key);
    const auto found = std::ranges::find(kUnits, key);
    if (found == kUnits.end()) {
      report_unknown_key(key, {kUnits.begin(), kUnits.end()}, here, scope);
    } else if (const auto number = read_number(peak, peak_field(), here, scope)) {
      gpu.peak_tflops[static_cast<std::size_t>(found - kUnits.begin())] = *number;
    }
  }
  if (std::all_of(gpu.peak_tflops.begin(), gpu.peak_tflops.end(), [](double peak) { return peak <= 0; })) {
    scope.findings.add(path, "found no peak above 0, allowed at least one of " + joined(kUnits));
  }
}

Gpu read_gpu(const Json& value, const Path& path, Scope& scope) {
  Gpu gpu;
  if (value.is_null()) return gpu;  // reported when it was resolved
  read_fields(value, gpu_fields(), gpu, path, scope);
  for (const std::string_view key : {"peak_tflops", "memory_gb", "memory_gb_per_s"}) {
    require(value, gpu_fields(), key, "a gpu", path, scope);
  }
  const double usable = gpu.memory_usable_gb > 0 ? gpu.memory_usable_gb : gpu.memory_gb;
  if (gpu.memory_reserve_gb > 0 && gpu.memory_reserve_gb >= usable)
    scope.findings.add(Path(path, "memory_reserve_gb"),
                       fmt::format("found {} GB, allowed less than the {} GB that can be used",
                                   gpu.memory_reserve_gb, usable));
  if (gpu.power_w > 0 && gpu.sustained_clock == 0 && gpu.product_pj_per_flop > 0 &&
      gpu.static_power_w >= gpu.power_w)
    scope.findings.add(Path(path, "static_power_w"),
                       fmt::format("found {} W, allowed less than power_w, {} W: none is left for products",
                                   gpu.static_power_w, gpu.power_w));
  if (const auto peaks = value.find("peak_tflops"); peaks != value.end()) {
    read_peaks(*peaks, gpu, Path(path, "peak_tflops"), scope);
  }
  return gpu;
}

NodeWiring read_node(const Json& value, const Path& path, Scope& scope) {
  NodeWiring node;
  read_fields(value, node_fields(), node, path, scope);
  if (!value.is_object()) return node;
  require(value, node_fields(), "kind", "a node", path, scope);
  if (node.kind != "none") require(value, node_fields(), "link_gb_per_s", "a wired node", path, scope);
  return node;
}

Fabric read_fabric(const Json& value, const Path& path, Scope& scope) {
  Fabric fabric;
  read_fields(value, fabric_fields(), fabric, path, scope);
  if (value.is_object()) require(value, fabric_fields(), "nic_gbps", "a fabric", path, scope);
  return fabric;
}

const Json* list_at(const Json& value, std::string_view key, const Path& path, Scope& scope) {
  const auto found = value.find(key);
  if (found == value.end()) {
    require(value, graph_fields(), key, "a graph", path, scope);
    return nullptr;
  }
  if (found->is_array()) return &*found;
  scope.findings.add(Path(path, key), fmt::format("found {}, allowed {}", described(*found),
                                                  field_named(graph_fields(), key).help));
  return nullptr;
}

void read_vertices(const Json& list, Graph& graph, const Path& path, Scope& scope) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Path here(path, i);
    const auto name = read_name(list[i], FieldTable<Graph>::text("", {}, ""), here, scope);
    if (!name) continue;
    if (!seen.insert(list[i].get_ref<const std::string&>()).second) {
      scope.findings.add(here, fmt::format("found vertex {} twice", quote(*name)));
    }
    graph.vertices.push_back(*name);
  }
}

void read_links(const Json& list, Graph& graph, const Path& path, Scope& scope) {
  std::vector<std::string_view> known = views(graph.vertices);
  std::sort(known.begin(), known.end());
  const auto check_end = [&](std::string_view name, const Path& here) {
    if (std::binary_search(known.begin(), known.end(), name)) return;
    const std::span<const std::string_view> near(known.data(), std::min<std::size_t>(known.size(), 1000));
    scope.findings.add(here,
                       fmt::format("found {}, allowed a name of vertices{}", quote(name), hint(name, near)));
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Path here(path, i);
    GraphLink link;
    read_fields(list[i], graph_link_fields(), link, here, scope);
    if (!list[i].is_object()) continue;
    for (const std::string_view key : {"from", "to", "gb_per_s"}) {
      require(list[i], graph_link_fields(), key, "a link", here, scope);
    }
    if (!link.from.empty()) check_end(link.from, Path(here, "from"));
    if (!link.to.empty()) check_end(link.to, Path(here, "to"));
    if (!link.from.empty() && link.from == link.to) {
      scope.findings.add(Path(here, "to"),
                         fmt::format("found {}, allowed another vertex than from", quote(link.to)));
    }
    graph.links.push_back(std::move(link));
  }
}

Graph read_graph(const Json& value, const Path& path, Scope& scope) {
  Graph graph;
  read_fields(value, graph_fields(), graph, path, scope);
  if (!value.is_object()) return graph;
  const Json* vertices = list_at(value, "vertices", path, scope);
  const Json* links = list_at(value, "links", path, scope);
  if (vertices != nullptr) read_vertices(*vertices, graph, Path(path, "vertices"), scope);
  if (vertices != nullptr && links != nullptr) read_links(*links, graph, Path(path, "links"), scope);
  return graph;
}

bool is_gpu_name(std::string_view name) {
  return name.starts_with("gpu") && name.size() > 3 &&
         name.find_first_not_of("0123456789", 3) == std::string_view::npos;
}

/// The graph's GPUs must be gpu0 to gpu(n-1), n the cluster's number of GPUs.
void match_graph(Cluster& cluster, const Json& value, const Path& path, Findings& findings) {
  const std::vector<std::string>& vertices = cluster.graph->vertices;
  const std::int64_t count = std::count_if(vertices.begin(), vertices.end(), is_gpu_name);
  if (!value.contains("gpus_per_node")) cluster.gpus_per_node = count / cluster.nodes;
  if (count == 0 || count != cluster.gpus()) {
    findings.add(path.pointer() + "/graph/vertices",
                 fmt::format("found {} GPUs, allowed nodes {} x gpus_per_node {}, named gpu0, gpu1, ...",
                             count, cluster.nodes, cluster.gpus_per_node));
    return;
  }
  const std::set<std::string_view> names(vertices.begin(), vertices.end());
  for (std::int64_t i = 0; i < count; ++i) {
    if (names.contains("gpu" + std::to_string(i))) continue;
    findings.add(path.pointer() + "/graph/vertices",
                 fmt::format("found {} GPUs but no gpu{}, allowed gpu0 to gpu{}", count, i, count - 1));
    return;
  }
}

void read_wiring(Cluster& cluster, const Json& value, const Path& path, Scope& scope) {
  const auto part = [&](std::string_view key) -> const Json* {
    const auto found = value.find(key);
    return found == value.end() ? nullptr : &*found;
  };
  if (const Json* node = part("node")) cluster.node = read_node(*node, Path(path, "node"), scope);
  if (const Json* fabric = part("fabric")) cluster.fabric = read_fabric(*fabric, Path(path, "fabric"), scope);
  const Json* graph = part("graph");
  if (graph == nullptr) {
    if (cluster.gpus_per_node > 1) {
      require(value, cluster_fields(), "node", "more than one GPU per node", path, scope);
    }
    if (cluster.nodes > 1) require(value, cluster_fields(), "fabric", "more than one node", path, scope);
    return;
  }
  cluster.graph = read_graph(*graph, Path(path, "graph"), scope);
  for (const std::string_view key : {"node", "fabric"}) {
    if (!value.contains(key)) continue;
    scope.findings.add(Path(path, key), fmt::format("found both {} and graph, allowed one of them", key),
                       Anchor::key);
  }
}

void read_overrides(const Json& list, Cluster& cluster, const Path& path, Scope& scope) {
  if (!list.is_array()) {
    scope.findings.add(path, fmt::format("found {}, allowed {}", described(list),
                                         field_named(cluster_fields(), "overrides").help));
    return;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Path here(path, i);
    OverrideKeys keys;
    const std::size_t before = scope.findings.list().size();
    read_fields(list[i], override_fields(), keys, here, scope);
    if (list[i].is_object()) require(list[i], override_fields(), "speed", "an override", here, scope);
    if (scope.findings.list().size() != before) continue;
    const bool by_node = keys.node >= 0;
    const std::int64_t size = by_node ? cluster.gpus_per_node : 1;
    const std::int64_t first = by_node ? keys.node * size : keys.gpu;
    if (by_node == (keys.gpu >= 0)) {
      scope.findings.add(here, "found neither or both of gpu and node, allowed one of them");
    } else if (first + size > cluster.gpus()) {
      scope.findings.add(Path(here, by_node ? "node" : "gpu"),
                         fmt::format("found {}, allowed 0 to {}", by_node ? keys.node : keys.gpu,
                                     cluster.gpus() / size - 1));
    } else {
      cluster.overrides.push_back({first, size, keys.speed});
    }
  }
}

/// The number of the class of `gpu`, a new one where no class is like it.
std::size_t class_of(Gpu gpu, bool first, Cluster& cluster) {
  if (first) cluster.gpu = std::move(gpu);
  if (first || gpu == cluster.gpu) return 0;
  const auto known = std::ranges::find(cluster.other_gpus, gpu);
  const auto number = static_cast<std::size_t>(known - cluster.other_gpus.begin()) + 1;
  if (known == cluster.other_gpus.end()) cluster.other_gpus.push_back(std::move(gpu));
  return number;
}

void check_group_nodes(const Cluster& cluster, std::int64_t nodes, const Path& path, Scope& scope) {
  if (cluster.nodes == nodes) return;
  scope.findings.add(path,
                     fmt::format("found {} nodes in all groups, allowed nodes {}", nodes, cluster.nodes));
}

/// The group's own GPU, or the cluster's.
std::optional<Gpu> gpu_of_group(const Json& group, const Json& cluster, const Path& path, Scope& scope) {
  if (const auto own = group.find("gpu"); own != group.end()) return read_gpu(*own, Path(path, "gpu"), scope);
  if (const auto all = cluster.find("gpu"); all != cluster.end()) {
    const Path nowhere;  // its errors were reported before
    Findings known;
    Scope quiet{scope.menus, known};
    return read_gpu(*all, nowhere, quiet);
  }
  require(group, group_fields(), "gpu", "a group of a cluster without a gpu", path, scope);
  return std::nullopt;
}

void read_groups(const Json& list, const Json& value, Cluster& cluster, const Path& path, Scope& scope) {
  if (!list.is_array() || list.empty()) {
    scope.findings.add(path, fmt::format("found {}, allowed {}", described(list),
                                         field_named(cluster_fields(), "groups").help));
    return;
  }
  std::int64_t nodes = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Path here(path, i);
    NodeGroup group;
    read_fields(list[i], group_fields(), group, here, scope);
    if (!list[i].is_object()) continue;
    require(list[i], group_fields(), "nodes", "a group", here, scope);
    std::optional<Gpu> gpu = gpu_of_group(list[i], value, here, scope);
    if (gpu) group.gpu_class = class_of(*std::move(gpu), i == 0, cluster);
    nodes += group.nodes;
    cluster.groups.push_back(group);
  }
  if (value.contains("nodes")) return check_group_nodes(cluster, nodes, path, scope);
  cluster.nodes = nodes;
}

/// Its sites have the nodes of the cluster.
void take_regions(const Json& given, const Json& value, Cluster& cluster, const Path& path, Scope& scope) {
  cluster.regions = read_regions(given, path, scope);
  std::int64_t nodes = 0;
  for (const Site& site : cluster.regions->sites) nodes += site.nodes;
  if (value.contains("graph"))
    scope.findings.add(path, "found both regions and graph, allowed one of them", Anchor::key);
  const bool said = value.contains("nodes") || value.contains("groups");
  if (said && nodes != cluster.nodes)
    return scope.findings.add(
        Path(path, "sites"),
        fmt::format("found {} nodes at all sites, allowed nodes {}", nodes, cluster.nodes));
  if (nodes > 0) {
    cluster.nodes = nodes;
  } else if (!cluster.regions->sites.empty()) {
    scope.findings.add(Path(path, "sites"), "found no nodes at any site, allowed 1 or more");
  }
}

}  // namespace

Cluster read_cluster(const Json& value, const Path& path, Scope& scope) {
  Cluster cluster;
  const std::size_t before = scope.findings.list().size();
  read_fields(value, cluster_fields(), cluster, path, scope);
  const auto groups = value.find("groups");
  if (groups == value.end()) require(value, cluster_fields(), "gpu", "a cluster", path, scope);
  if (const auto gpu = value.find("gpu"); gpu != value.end()) {
    cluster.gpu = read_gpu(*gpu, Path(path, "gpu"), scope);
  }
  if (groups != value.end()) read_groups(*groups, value, cluster, Path(path, "groups"), scope);
  if (const auto regions = value.find("regions"); regions != value.end())
    take_regions(*regions, value, cluster, Path(path, "regions"), scope);
  read_wiring(cluster, value, path, scope);
  if (const auto storage = value.find("storage"); storage != value.end())
    read_fields(*storage, storage_fields(), cluster.storage, Path(path, "storage"), scope);
  if (scope.findings.list().size() != before) return cluster;
  if (cluster.graph) {
    match_graph(cluster, value, path, scope.findings);
  } else if (cluster.gpus_per_domain() == 1) {
    const bool gpu_direct = cluster.node.gpu_direct;
    cluster.node = NodeWiring{};
    cluster.node.gpu_direct = gpu_direct;
  }
  if (static_cast<double>(cluster.gpus()) > kMaxGpus) {
    scope.findings.add(Path(path, "nodes"),
                       fmt::format("found nodes {} x gpus_per_node {} = {} GPUs, allowed at most {}",
                                   cluster.nodes, cluster.gpus_per_node, cluster.gpus(), kMaxGpus));
  }
  if (const auto overrides = value.find("overrides"); overrides != value.end())
    read_overrides(*overrides, cluster, Path(path, "overrides"), scope);
  return cluster;
}

}  // namespace orrery
