#include "importers/machines/complete_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "config/text/wording.hpp"
#include "importers/common/gpu_names.hpp"
#include "importers/machines/measured_links.hpp"

namespace orrery::importers::machines {
namespace {

constexpr double kNdrGbps = 400, kHdrGbps = 200;

double number_or(const Draft& draft, std::string_view ours, double otherwise) {
  const Json& value = draft.value(ours);
  return value.is_number() ? value.get<double>() : otherwise;
}

std::string text_of(const Draft& draft, std::string_view ours) {
  const Json& value = draft.value(ours);
  return value.is_string() ? value.get<std::string>() : "";
}

/// The name of the catalog's GPU, "" where the draft has none or an object.
std::string gpu_of(const Draft& draft) {
  const std::string base = text_of(draft, "cluster.gpu.base");
  return base.empty() ? text_of(draft, "cluster.gpu") : base;
}

bool has_part(const Draft& draft, const std::string& part) {
  return std::ranges::any_of(draft.facts(), [&part](const auto& fact) {
    return fact.first == part || fact.first.starts_with(part + ".");
  });
}

std::string gpu_of_cluster(const Json& cluster) {
  const Json gpu = cluster.value("gpu", Json());
  if (gpu.is_string()) return gpu.get<std::string>();
  return gpu.is_object() ? gpu.value("base", std::string()) : "";
}

/// A cluster of the catalog.
struct Pattern {
  std::string name{};
  Json cluster = Json::object();

  [[nodiscard]] Json node(std::string_view key) const {
    const Json node = cluster.value("node", Json::object());
    return node.contains(key) ? node.at(std::string(key)) : Json();
  }
  [[nodiscard]] std::string as() const { return fmt::format("as {} of the catalog", name); }
};

Pattern cluster_of(const Catalog& catalog, const std::string& name) {
  return {name, Json::parse(catalog.text(CatalogKind::cluster, name), nullptr, false, true)};
}

/// A cluster of the catalog that has this GPU and, unless "", this wiring: one of NVIDIA's own systems where
/// there is one. Without a name where there is none.
Pattern pattern_of(const Catalog& catalog, const std::string& gpu, const std::string& kind) {
  Pattern found;
  for (const std::string& name : catalog.names(CatalogKind::cluster)) {
    const Pattern pattern = cluster_of(catalog, name);
    if (gpu.empty() || gpu_of_cluster(pattern.cluster) != gpu || pattern.node("kind").is_null()) continue;
    if (!kind.empty() && pattern.node("kind") != kind) continue;
    if (found.name.empty() || name.starts_with("dgx-")) found = pattern;
  }
  return found;
}

void lack_gpu(Draft& draft) {
  if (has_part(draft, "cluster.gpu") || draft.has("cluster.base")) return;
  draft.lack("cluster.gpu",
             "no file says which GPUs the nodes have: --set cluster.gpu=NAME takes one of orrery list gpus");
}

/// Cards without peer access meet in the memory of the host, whatever the links of PCIe are.
void choose_host_way(Draft& draft, const Catalog& catalog) {
  if (draft.value("cluster.node.kind") != "pcie" || draft.settled("cluster.node.kind")) return;
  const Pattern pattern = pattern_of(catalog, gpu_of(draft), "pcie-host");
  if (pattern.name.empty() || !pattern_of(catalog, gpu_of(draft), "pcie").name.empty()) return;
  draft.drop("cluster.node.kind", "PCIe");
  draft.default_to(
      "cluster.node.kind", "pcie-host",
      "GPUs of this kind have no peer access: messages are staged in the host's memory, " + pattern.as());
  if (pattern.node("gpu_direct").is_boolean())
    draft.default_to("cluster.node.gpu_direct", pattern.node("gpu_direct"), pattern.as());
}

void choose_wiring(Draft& draft, const Catalog& catalog) {
  if (draft.has("cluster.node.kind") || number_or(draft, "cluster.gpus_per_node", 1) < 2) return;
  const Pattern pattern = pattern_of(catalog, gpu_of(draft), "");
  if (pattern.name.empty() && draft.stopped()) return;
  if (pattern.name.empty())
    return draft.lack("cluster.node.kind",
                      "no file says how the GPUs of a node are joined: --set cluster.node.kind=KIND and "
                      "cluster.node.link_gb_per_s=N");
  draft.default_to("cluster.node.kind", pattern.node("kind"),
                   "no file says how the GPUs of a node are joined: " + pattern.as());
}

void choose_link_rate(Draft& draft, const Catalog& catalog) {
  if (!draft.has("cluster.node.kind") || draft.has("cluster.node.link_gb_per_s")) return;
  const double links = number_or(draft, launch::kLinks, 0);
  const double rate = nvlink_gb_per_s(gpu_of(draft));
  if (links > 0 && rate > 0)
    return draft.default_to("cluster.node.link_gb_per_s", links * rate,
                            fmt::format("{} NVLinks of {} GB/s, one direction", links, rate));
  const Pattern pattern = pattern_of(catalog, gpu_of(draft), text_of(draft, "cluster.node.kind"));
  if (!pattern.name.empty())
    return draft.default_to("cluster.node.link_gb_per_s", pattern.node("link_gb_per_s"),
                            "no file gives the rate of the links: " + pattern.as());
  if (!draft.stopped())
    draft.lack("cluster.node.link_gb_per_s",
               "no file gives the rate of the links in a node: --set cluster.node.link_gb_per_s=N, one "
               "direction");
}

void choose_node_constants(Draft& draft, const Catalog& catalog) {
  const std::string kind = text_of(draft, "cluster.node.kind");
  if (kind.empty() || kind == "none") return;
  const Pattern pattern = pattern_of(catalog, gpu_of(draft), kind);
  if (pattern.node("calibration").is_string())
    draft.default_to("cluster.node.calibration", pattern.node("calibration"), pattern.as());
  else if (kind.starts_with("pcie"))
    draft.default_to("cluster.node.calibration", "pcie-host", "constants of messages over PCIe");
  if (draft.stated("cluster.node.domain_nodes") && !draft.settled("cluster.node.domain_nodes") &&
      !pattern.name.empty() && pattern.node("domain_nodes").is_null())
    draft.drop("cluster.node.domain_nodes", "NVLinks of these GPUs end at the node, " + pattern.as() +
                                                "; --set cluster.node.domain_nodes=N");
  else if (pattern.node("domain_nodes").is_number_integer())
    draft.default_to("cluster.node.domain_nodes", pattern.node("domain_nodes"),
                     "NVLinks go beyond the node, " + pattern.as() +
                         "; --set cluster.node.domain_nodes=1 where they do not");
}

std::string fabric_constants(const Draft& draft) {
  if (draft.value(launch::kSockets) == true) return "ethernet-tcp";
  const double gbps = number_or(draft, "cluster.fabric.nic_gbps", 0);
  return gbps >= kNdrGbps ? "infiniband-ndr" : gbps >= kHdrGbps ? "infiniband-hdr" : "infiniband-edr";
}

/// The fabric of a machine whose NICs have a rate.
void complete_fabric(Draft& draft) {
  draft.default_to("cluster.fabric.kind", "switch",
                   "no file says what joins the NICs: one switch that never blocks; --set "
                   "cluster.fabric.kind=KIND changes it");
  if (draft.has("cluster.fabric.base_latency_us") || draft.has("cluster.fabric.latency_us")) return;
  draft.default_to("cluster.fabric.calibration", fabric_constants(draft),
                   "the nearest kind of network that has constants; --set cluster.fabric.calibration=NAME");
}

void choose_fabric(Draft& draft) {
  if (draft.value("cluster.base").is_string() && !draft.has("cluster.fabric.kind")) return;
  if (draft.has("cluster.fabric.nic_gbps")) return complete_fabric(draft);
  if (has_part(draft, "cluster.fabric") || number_or(draft, "cluster.nodes", 1) > 1)
    draft.lack("cluster.fabric.nic_gbps",
               "no file gives the rate of the NICs between the nodes: --set cluster.fabric.nic_gbps=N");
}

}  // namespace

bool describes_machine(const Draft& draft) {
  return std::ranges::any_of(draft.facts(), [&draft](const auto& fact) {
    const std::string& key = fact.first;
    const bool of_machine = key.starts_with("cluster.node.") || key.starts_with("cluster.fabric.") ||
                            key.starts_with("cluster.graph") || key.starts_with("cluster.gpu") ||
                            key == launch::kMeasured || key.starts_with(std::string(launch::kMeasured) + ".");
    return of_machine && draft.stated(key) && !draft.settled(key);
  });
}

void choose_gpus_of_node(Draft& draft, const Catalog& catalog) {
  if (!describes_machine(draft) || draft.value("cluster.base").is_string() ||
      has_part(draft, "cluster.graph"))
    return;
  const Pattern pattern = pattern_of(catalog, gpu_of(draft), "");
  if (!pattern.name.empty())
    draft.default_to("cluster.gpus_per_node", pattern.cluster.value("gpus_per_node", 1),
                     "no file gives the GPUs of a node: " + pattern.as());
}

void complete_machine(Draft& draft, const Catalog& catalog) {
  if (!describes_machine(draft) || has_part(draft, "cluster.graph")) return;
  lack_gpu(draft);
  const bool named = draft.value("cluster.base").is_string();
  if (!named) choose_wiring(draft, catalog);
  // A wiring of its own takes nothing from the cluster that was named.
  if (!named || draft.has("cluster.node.kind")) {
    choose_host_way(draft, catalog);
    choose_link_rate(draft, catalog);
    choose_node_constants(draft, catalog);
  }
  choose_fabric(draft);
  if (!draft.stopped()) apply_measured_links(draft, catalog);
}

}  // namespace orrery::importers::machines
