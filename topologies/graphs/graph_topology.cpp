#include "topologies/graphs/graph_topology.hpp"

#include <algorithm>
#include <unordered_map>

#include "orrery/error.hpp"
#include "topologies/common/checks.hpp"
#include "topologies/graphs/shortest_ways.hpp"

namespace orrery {
namespace {

/// Bounds the table of next links to 64 MiB.
constexpr std::int64_t kMaxTableEntries = std::int64_t{1} << 24;
constexpr const char* kVertices = "/cluster/graph/vertices";

std::string element(const char* array, std::size_t i) { return std::string(array) + "/" + std::to_string(i); }

/// "gpu" and digits only.
bool names_gpu(const std::string& name) {
  return name.size() > 3 && name.starts_with("gpu") &&
         name.find_first_not_of("0123456789", 3) == std::string::npos;
}

void check_size(const Graph& graph, const Cluster& cluster) {
  check_range("/cluster/gpus_per_node", cluster.gpus_per_node, 1, kMaxCount);
  check_range("/cluster/nodes", cluster.nodes, 1, kMaxCount);
  check_link_count(saturating_product(2, static_cast<std::int64_t>(graph.links.size())));
  const std::int64_t gpus = saturating_product(cluster.gpus_per_node, cluster.nodes);
  const auto vertices = static_cast<std::int64_t>(graph.vertices.size());
  if (saturating_product(gpus, vertices) > kMaxTableEntries) {
    throw InputError(kVertices, "found " + std::to_string(vertices) + " vertices and " +
                                    std::to_string(gpus) + " GPUs; at most 16777216 pairs are possible");
  }
}

std::unordered_map<std::string, std::uint32_t> numbers_of(const std::vector<std::string>& names) {
  std::unordered_map<std::string, std::uint32_t> out;
  for (std::uint32_t i = 0; i < names.size(); ++i) out.emplace(names[i], i);
  return out;
}

}  // namespace

GraphTopology::GraphTopology(const Graph& graph, const Cluster& cluster) {
  check_size(graph, cluster);
  gpus_ = static_cast<std::uint32_t>(cluster.gpus());
  gpus_per_node_ = static_cast<std::uint32_t>(cluster.gpus_per_node);
  name_vertices(graph);
  add_links(graph);
  next_link_ = next_links(links_, vertices_, gpus_);
  check_connected();
}

void GraphTopology::name_vertices(const Graph& graph) {
  for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) names_.push_back("gpu" + std::to_string(gpu));
  auto numbers = numbers_of(names_);
  std::vector<bool> listed(gpus_, false);
  for (std::size_t i = 0; i < graph.vertices.size(); ++i) {
    const std::string& name = graph.vertices[i];
    const auto [found, is_new] = numbers.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new && names_gpu(name)) {
      throw InputError(element(kVertices, i),
                       "found \"" + name + "\"; the GPUs of the cluster are gpu0 to " + names_[gpus_ - 1]);
    }
    const bool is_gpu = found->second < gpus_;
    if (is_gpu ? listed[found->second] : !is_new) {
      throw InputError(element(kVertices, i), "found \"" + name + "\" twice");
    }
    if (is_gpu) listed[found->second] = true;
    if (is_new) names_.push_back(name);
  }
  const auto missing = std::find(listed.begin(), listed.end(), false);
  if (missing != listed.end()) {
    throw InputError(kVertices, "gpu" + std::to_string(missing - listed.begin()) +
                                    " is missing; the cluster has " + std::to_string(gpus_) + " GPUs");
  }
  vertices_ = static_cast<std::uint32_t>(names_.size());
}

void GraphTopology::add_links(const Graph& graph) {
  const auto numbers = numbers_of(names_);
  const auto vertex = [&](const std::string& name, const std::string& pointer) {
    const auto found = numbers.find(name);
    if (found == numbers.end()) throw InputError(pointer, "found \"" + name + "\"; no vertex has that name");
    return VertexId{found->second};
  };
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const GraphLink& spec = graph.links[i];
    const std::string pointer = element("/cluster/graph/links", i);
    const VertexId from = vertex(spec.from, pointer + "/from");
    const VertexId to = vertex(spec.to, pointer + "/to");
    if (from == to) throw InputError(pointer + "/to", "found \"" + spec.to + "\", where the link starts");
    const std::int64_t rate = link_rate(spec.gb_per_s * 1e9, 1, pointer, "gb_per_s");
    const Picoseconds latency = link_latency(spec.latency_us, pointer + "/latency_us");
    links_.push_back({from, to, rate, latency, LinkKind::graph});
    if (spec.bidirectional) links_.push_back({to, from, rate, latency, LinkKind::graph});
  }
}

void GraphTopology::check_connected() const {
  for (std::uint32_t to = 0; to < gpus_; ++to) {
    for (std::uint32_t from = 0; from < gpus_; ++from) {
      if (from == to || next_link_[std::size_t{to} * vertices_ + from] != kNoLink) continue;
      throw InputError("/cluster/graph/links", "no way leads from " + names_[from] + " to " + names_[to]);
    }
  }
}

void GraphTopology::route(GpuId from, GpuId to, std::vector<LinkId>& out) const {
  const std::uint32_t* const next = next_link_.data() + std::size_t{index(to)} * vertices_;
  for (VertexId at{index(from)}; index(at) != index(to); at = links_[next[index(at)]].to) {
    out.push_back(LinkId{next[index(at)]});
  }
}

}  // namespace orrery
