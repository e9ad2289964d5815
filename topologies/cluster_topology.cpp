#include "topologies/cluster_topology.hpp"

#include <algorithm>

#include "orrery/error.hpp"
#include "topologies/common/menu_lookup.hpp"
#include "topologies/common/rings.hpp"
#include "topologies/common/topologies.hpp"
#include "topologies/regions/regional_fabric.hpp"

namespace orrery {
namespace {

void check_size(const Cluster& cluster) {
  check_range("/cluster/gpus_per_node", cluster.gpus_per_node, 1, kMaxCount);
  check_range("/cluster/nodes", cluster.nodes, 1, kMaxCount);
  check_link_count(saturating_product(cluster.gpus_per_node, cluster.nodes));
  check_range("/cluster/node/domain_nodes", cluster.node.domain_nodes, 1, kMaxCount);
}

/// A rate of GPUs' links, of which the fabric sustains its share; kMaxLinkBytesPerS where it is unknown.
std::int64_t way_out_rate(const Cluster& cluster, double share) {
  const double rate = cluster.way_out_gb_per_s() * 1e9 * share;
  if (rate <= 0 || rate >= static_cast<double>(kMaxLinkBytesPerS)) return kMaxLinkBytesPerS;
  return link_rate(rate, cluster.fabric.efficiency, "/cluster/gpu", "host_link_gb_per_s");
}

/// Rates of each port of a node; a port pools the NICs of one GPU, which its own link bounds, and half of it
/// where messages are staged, or is one NIC of several GPUs.
std::vector<std::int64_t> port_rates(const Cluster& cluster, std::uint32_t ports) {
  const Fabric& spec = cluster.fabric;
  const std::int64_t most = ports < cluster.gpus_per_node
                                ? kMaxLinkBytesPerS
                                : way_out_rate(cluster, cluster.node.gpu_direct ? 1 : 0.5);
  std::vector<std::int64_t> nics(ports, 0);
  for (std::int64_t port = 0; port < ports; ++port) {
    // NIC j belongs to port floor(j * ports / nics): those from ceil(port * nics / ports) on.
    const std::int64_t first = (port * spec.nics_per_node + ports - 1) / ports;
    const std::int64_t last = ((port + 1) * spec.nics_per_node + ports - 1) / ports;
    nics[static_cast<std::size_t>(port)] = last - first;
  }
  for (std::int64_t& value : nics) {
    const double rate = static_cast<double>(value) * spec.nic_gbps * 1e9 / 8;
    value = std::min(link_rate(rate, spec.efficiency, "/cluster/fabric", "nic_gbps"), most);
  }
  return nics;
}

}  // namespace

ClusterTopology::ClusterTopology(const Cluster& cluster) : regions_(cluster.regions) {
  check_size(cluster);
  nodes_ = static_cast<std::uint32_t>(cluster.nodes);
  gpus_per_node_ = static_cast<std::uint32_t>(cluster.gpus_per_node);
  gpus_ = nodes_ * gpus_per_node_;
  build_domains(cluster);
  build_wiring(cluster);
  build_fabric(cluster);
  set_overheads(cluster);
  count_vertices();
  add_links();
}

void ClusterTopology::build_domains(const Cluster& cluster) {
  if (cluster.node.domain_nodes > 1 && cluster.node.kind != "nvswitch") {
    throw InputError("/cluster/node/domain_nodes", "found " + std::to_string(cluster.node.domain_nodes) +
                                                       " for the wiring \"" + cluster.node.kind +
                                                       "\"; only nvswitch joins several nodes");
  }
  nodes_per_domain_ = static_cast<std::uint32_t>(std::min(cluster.node.domain_nodes, cluster.nodes));
  domains_ = (nodes_ + nodes_per_domain_ - 1) / nodes_per_domain_;
}

void ClusterTopology::build_wiring(const Cluster& cluster) {
  const NodeWiringEntry& entry = find_entry(node_wirings(), cluster.node.kind, "/cluster/node/kind");
  if (gpus_per_domain() > 1) wiring_ = entry.build({cluster.node, gpus_per_domain(), domains_});
  const std::uint32_t rest = gpus_ % gpus_per_domain();
  if (rest > 0) last_wiring_ = entry.build({cluster.node, rest, 1});
  if (wiring_) domain_links_ = static_cast<std::uint32_t>(wiring_->links().size());
  const std::int64_t node_switches = wiring_ ? std::int64_t{wiring_->switches()} * domains_ : 0;
  check_link_count(gpus_ + node_switches);
  first_nic_ = static_cast<std::uint32_t>(gpus_ + node_switches);
  first_switch_ = first_nic_;
}

void ClusterTopology::build_fabric(const Cluster& cluster) {
  const FabricEntry& entry = find_entry(fabrics(), cluster.fabric.kind, "/cluster/fabric/kind");
  if (domains_ == 1 && (wiring_ || gpus_ == 1)) return;
  if (nodes_ == 1 && cluster.fabric.nic_gbps == 0) {
    throw InputError("/cluster/node/kind", "found \"" + cluster.node.kind + "\" for a node of " +
                                               std::to_string(gpus_per_node_) +
                                               " GPUs; without a wiring they need a fabric with nic_gbps");
  }
  check_range("/cluster/fabric/nics_per_node", cluster.fabric.nics_per_node, 1, kMaxCount);
  if (!(cluster.fabric.oversubscription >= 1)) {
    throw InputError("/cluster/fabric/oversubscription",
                     "found " + number_text(cluster.fabric.oversubscription) + "; allowed is 1 or more");
  }
  const std::int64_t nics = cluster.fabric.nics_per_node;
  ports_ = static_cast<std::uint32_t>(std::min<std::int64_t>(nics, gpus_per_node_));
  for (std::int64_t gpu = 0; gpu < gpus_per_node_; ++gpu) {
    port_of_.push_back(static_cast<std::uint32_t>(gpu * ports_ / gpus_per_node_));
  }
  slow_wiring_ = wiring_is_slower(cluster);
  number_nics(ports_ < gpus_per_node_);
  fabric_ = fabric_of(entry, cluster);
  if (nics_apart_ || !slow_wiring_ || fabric_->port_change() == PortChange::in_fabric) return;
  number_nics(true);
  fabric_ = fabric_of(entry, cluster);
}

std::unique_ptr<FabricModel> ClusterTopology::fabric_of(const FabricEntry& entry,
                                                        const Cluster& cluster) const {
  if (!regions_) return entry.build(fabric_site(cluster));
  for (const Site& site : regions_->sites) {
    if (site.nodes % nodes_per_domain_ == 0) continue;
    throw InputError("/cluster/regions/sites", "found " + std::to_string(site.nodes) + " nodes at \"" +
                                                   site.name + "\"; allowed are whole NVLink domains of " +
                                                   std::to_string(nodes_per_domain_));
  }
  return std::make_unique<RegionalFabric>(entry, fabric_site(cluster), *regions_);
}

bool ClusterTopology::wiring_is_slower(const Cluster& cluster) const {
  if (!wiring_) return false;
  const std::int64_t nic =
      link_rate(cluster.fabric.nic_gbps * 1e9 / 8, cluster.fabric.efficiency, "/cluster/fabric", "nic_gbps");
  return std::ranges::any_of(wiring_->links(), [nic](const Link& link) { return link.bytes_per_s < nic; });
}

/// With NICs apart, all GPUs of a node can use each of them.
void ClusterTopology::number_nics(bool apart) {
  nics_apart_ = apart;
  const std::int64_t nic_vertices = apart ? std::int64_t{ports_} * nodes_ : 0;
  check_link_count(first_nic_ + nic_vertices);
  first_switch_ = static_cast<std::uint32_t>(first_nic_ + nic_vertices);
}

void ClusterTopology::set_overheads(const Cluster& cluster) {
  const NodeWiring& node = cluster.node;
  const Fabric& fabric = cluster.fabric;
  fabric_overhead_ =
      collective_overhead(fabric.base_latency_us, fabric.ramp_us, fabric.ramp_efficiency, "/cluster/fabric");
  node_overhead_ =
      wiring_ ? collective_overhead(node.base_latency_us, node.ramp_us, node.ramp_efficiency, "/cluster/node")
              : fabric_overhead_;
  if (fabric_ && fabric.flow_gbps > 0)
    flow_bytes_per_s_ =
        link_rate(fabric.flow_gbps * 1e9 / 8, fabric.efficiency, "/cluster/fabric", "flow_gbps");
  if (fabric_) set_ways_out(cluster);
  if (!wiring_) return;
  gpu_bytes_per_s_ = 0;
  for (const Link& link : wiring_->links()) {
    if (link.from == VertexId{0}) gpu_bytes_per_s_ += link.bytes_per_s;
  }
  reduction_bytes_per_s_ = wiring_->reduction_bytes_per_s();
  reduction_latency_ps_ = wiring_->reduction_latency_ps();
  const auto refuse = [&](const std::string& key, double value, const std::string& why) {
    throw InputError("/cluster/node/" + key,
                     "found " + number_text(value) + " for the wiring \"" + node.kind + "\"; only " + why);
  };
  if (node.nvls_efficiency > 0 && reduction_bytes_per_s_ == 0)
    refuse("nvls_efficiency", node.nvls_efficiency, "nvswitch reduces in the switch");
  if (node.host_gb_per_s > 0 && node.kind != "pcie-host")
    refuse("host_gb_per_s", node.host_gb_per_s, "pcie-host stages messages in the host's memory");
}

/// Sets the bandwidth of routes out of the node. Staged messages have half of a switch's link to the host if
/// NICs are faster.
void ClusterTopology::set_ways_out(const Cluster& cluster) {
  way_out_bytes_per_s_ = way_out_rate(cluster, 1);
  if (cluster.node.gpu_direct) return;
  const std::int64_t staged = way_out_rate(cluster, 0.5);
  const std::int64_t nic =
      link_rate(cluster.fabric.nic_gbps * 1e9 / 8, cluster.fabric.efficiency, "/cluster/fabric", "nic_gbps");
  if (staged < nic) staged_bytes_per_s_ = staged;
}

FabricSite ClusterTopology::fabric_site(const Cluster& cluster) const {
  FabricSite site{cluster.fabric, nodes_};
  site.ports = ports_;
  site.wired = wiring_ != nullptr || gpus_per_node_ == 1;
  site.port_bytes_per_s = port_rates(cluster, ports_);
  for (const std::int64_t rate : site.port_bytes_per_s) site.node_bytes_per_s += rate;
  site.latency = link_latency(cluster.fabric.latency_us, "/cluster/fabric/latency_us");
  site.first_port = nics_apart_ ? first_nic_ : 0;
  site.first_switch = first_switch_;
  site.first_link = static_cast<std::uint32_t>(wiring_links());
  return site;
}

void ClusterTopology::count_vertices() {
  const std::int64_t vertices = first_switch_ + (fabric_ ? fabric_->switch_count() : 0);
  check_link_count(vertices);
  vertices_ = static_cast<std::uint32_t>(vertices);
}

void ClusterTopology::add_links() {
  const std::int64_t count = wiring_links() + (fabric_ ? fabric_->link_count() : 0);
  check_link_count(count);
  check_memory(gpus_, count);
  links_.reserve(static_cast<std::size_t>(count));
  for (std::uint32_t domain = 0; wiring_ && domain < domains_; ++domain) add_wiring_links(domain);
  if (fabric_) fabric_->add_links(links_);
}

void ClusterTopology::add_wiring_links(std::uint32_t domain) {
  const std::uint32_t first = domain * gpus_per_domain();
  const std::uint32_t gpus = std::min(gpus_per_domain(), gpus_ - first);
  const auto global = [&](VertexId local) {
    const std::uint32_t i = index(local);
    return VertexId{i < gpus ? first + i : gpus_ + domain * wiring_->switches() + (i - gpus)};
  };
  for (Link link : wiring_of(domain).links()) {
    link.from = global(link.from);
    link.to = global(link.to);
    links_.push_back(link);
  }
}

const NodeWiringModel& ClusterTopology::wiring_of(std::uint32_t domain) const {
  return last_wiring_ && domain + 1 == domains_ ? *last_wiring_ : *wiring_;
}

std::int64_t ClusterTopology::wiring_links() const {
  if (!last_wiring_) return std::int64_t{domain_links_} * domains_;
  return std::int64_t{domain_links_} * (domains_ - 1) + std::ssize(last_wiring_->links());
}

void ClusterTopology::route(GpuId from, GpuId to, std::vector<LinkId>& out) const {
  if (from == to) return;
  if (wiring_ && domain_of(from) == domain_of(to)) {
    route_within(index(from), index(to), out);
  } else {
    route_between(index(from), index(to), out);
  }
}

void ClusterTopology::route_within(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& out) const {
  const std::uint32_t domain = from / gpus_per_domain();
  const std::uint32_t first = domain * gpus_per_domain();
  wiring_of(domain).route(from - first, to - first, domain * domain_links_, out);
}

void ClusterTopology::route_between(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& out) const {
  const std::uint32_t from_node = from / gpus_per_node_;
  const std::uint32_t to_node = to / gpus_per_node_;
  const std::uint32_t from_local = from - from_node * gpus_per_node_;
  const std::uint32_t to_local = to - to_node * gpus_per_node_;
  std::uint32_t exit = port_of_[from_local];
  std::uint32_t entry = port_of_[to_local];
  const PortChange change = exit == entry ? PortChange::in_fabric : fabric_->port_change();
  if (change == PortChange::before) {
    if (!slow_wiring_) route_within(from, from - from_local + to_local, out);
    exit = entry;
  }
  if (change == PortChange::after) entry = exit;
  fabric_->route({from_node, exit}, {to_node, entry}, out);
  if (change == PortChange::after && !slow_wiring_) route_within(to - to_local + from_local, to, out);
}

std::vector<std::vector<GpuId>> ClusterTopology::node_rings(const std::vector<GpuId>& members) const {
  if (members.size() < 2) return {members};
  const std::uint32_t first = index(domain_of(members.front())) * gpus_per_domain();
  std::vector<std::uint32_t> local;
  local.reserve(members.size());
  for (const GpuId gpu : members) local.push_back(index(gpu) - first);
  const auto tours = wiring_ ? wiring_->tours(local) : std::vector<std::vector<std::uint32_t>>{local};
  std::vector<std::vector<GpuId>> rings;
  for (const std::vector<std::uint32_t>& ring : cut_tours(tours, local)) {
    std::vector<GpuId>& out = rings.emplace_back();
    for (const std::uint32_t gpu : ring) out.push_back(GpuId{first + gpu});
  }
  return rings;
}

std::string ClusterTopology::vertex_name(VertexId vertex) const {
  const std::uint32_t i = index(vertex);
  const auto in_part = [](const char* part, std::uint32_t number) {
    return part + std::to_string(number) + "/";
  };
  if (i < gpus_) return "gpu" + std::to_string(i);
  if (i < first_nic_) {
    const std::uint32_t number = i - gpus_;
    return in_part(nodes_per_domain_ > 1 ? "domain" : "node", number / wiring_->switches()) +
           wiring_->switch_name(number % wiring_->switches());
  }
  if (i < first_switch_) {
    const std::uint32_t number = i - first_nic_;
    return in_part("node", number / ports_) + "nic" + std::to_string(number % ports_);
  }
  return fabric_->switch_name(i - first_switch_);
}

}  // namespace orrery
