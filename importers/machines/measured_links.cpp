#include "importers/machines/measured_links.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "importers/common/text_lines.hpp"

namespace orrery::importers::machines {
namespace {

constexpr double kBits = 8;
// Where the NICs of a node carry less than this share of what one GPU has in its node, they bound a ring over
// nodes.
constexpr double kBoundByNics = 0.7;

/// Holds the figures that a log gives of one collective.
struct Measured {
  std::string collective;
  SourceKey key;  ///< busbw, with its place
  double ranks = 0;
  double hosts = 0;
  double bus_gb_per_s = 0;
  double small_us = 0;
};

std::optional<Measured> measured_of(const Draft& draft, std::string_view collective) {
  const std::string ours = fmt::format("{}.{}", launch::kMeasured, collective);
  const Json& curve = draft.value(ours);
  const ImportItem* item = draft.origin(ours);
  if (!curve.is_object() || item == nullptr) return std::nullopt;
  const double bus = curve.at("bus_gb_per_s").get<double>();
  return Measured{std::string(collective),
                  {item->key, bus, item->place},
                  curve.at("ranks").get<double>(),
                  curve.at("hosts").get<double>(),
                  bus,
                  curve.at("small_us").get<double>()};
}

double number(const Draft& draft, std::string_view ours) {
  const Json& value = draft.value(ours);
  return value.is_number() ? value.get<double>() : 0;
}

/// The latency of a hop in the calibration of the node, 0 where it is unknown.
double hop_us(const Draft& draft, const Catalog& catalog) {
  const Json& name = draft.value("cluster.node.calibration");
  if (!name.is_string()) return 0;
  const Json entry =
      Json::parse(catalog.text(CatalogKind::calibration, name.get<std::string>()), nullptr, false, true);
  const Json::json_pointer latency("/constants/latency_us/value");
  return entry.is_object() && entry.contains(latency) && entry.at(latency).is_number()
             ? entry.at(latency).get<double>()
             : 0;
}

bool reduces_in_switch(const Draft& draft) {
  const Json& calibration = draft.value("cluster.node.calibration");
  return draft.value("cluster.node.kind") == "nvswitch" &&
         (calibration == "nvlink-h100" || calibration == "nvlink-b200" || calibration == "nvlink-h800");
}

void map_share(const Measured& m, std::string_view ours, double share, std::string arithmetic, Draft& draft) {
  if (draft.settled(ours)) return;
  if (share > 1)
    return draft.ignore(m.key,
                        fmt::format("{} is more than the links carry: they are not those that it ran on, or "
                                    "switches add up",
                                    arithmetic));
  draft.map(m.key, ours, rounded(share), std::move(arithmetic));
}

/// Bus bandwidth of a ring is what each link sustains. An all-reduce in switches moves (n+1)/n of its bytes
/// through each port, for which nccl-tests counts 2(n-1)/n.
void map_node_share(const Measured& m, Draft& draft) {
  const double link = number(draft, "cluster.node.link_gb_per_s");
  if (link <= 0) return;
  if (m.collective == "all-reduce" && reduces_in_switch(draft)) {
    const double port = m.bus_gb_per_s * (m.ranks + 1) / (2 * (m.ranks - 1));
    return map_share(m, "cluster.node.nvls_efficiency", port / link,
                     fmt::format("{} x (n+1)/(2(n-1)) / {} GB/s, n = {}", m.bus_gb_per_s, link, m.ranks),
                     draft);
  }
  map_share(m, "cluster.node.efficiency", m.bus_gb_per_s / link,
            fmt::format("{} / {} GB/s", m.bus_gb_per_s, link), draft);
}

/// Returns the hops of a small message around a ring, which are in the time beside the base; 0 for an
/// all-to-all, whose many messages have a cost that is no base of others.
double hops_of(const Measured& m) {
  if (m.collective == "all-to-all") return 0;
  return (m.collective == "all-reduce" ? 2 : 1) * (m.ranks - 1);
}

void map_base(const Measured& m, double hop, Draft& draft) {
  const double base = m.small_us - hops_of(m) * hop;
  if (hop <= 0 || hops_of(m) <= 0 || m.small_us <= 0 || base <= 0 ||
      draft.settled("cluster.node.base_latency_us"))
    return;
  draft.map({"time", m.small_us, m.key.place}, "cluster.node.base_latency_us", rounded(base),
            fmt::format("the least time of small messages less {} hops of {} us", hops_of(m), hop));
}

void map_fabric_share(const Measured& m, Draft& draft) {
  const double nics =
      number(draft, "cluster.fabric.nics_per_node") * number(draft, "cluster.fabric.nic_gbps") / kBits;
  if (nics <= 0) return draft.ignore(m.key, "no file gives the NICs, of which it would be a share");
  if (nics > kBoundByNics * number(draft, "cluster.node.link_gb_per_s"))
    return draft.ignore(m.key, fmt::format("links in the node bound a ring whose NICs carry {} GB/s", nics));
  map_share(m, "cluster.fabric.efficiency", m.bus_gb_per_s / nics,
            fmt::format("{} GB/s / {} GB/s of the NICs of a node", m.bus_gb_per_s, nics), draft);
}

/// The first of these that was measured gives a constant; the others are kin.
void apply_node(Draft& draft, const Catalog& catalog) {
  for (const std::string_view collective : {"all-gather", "reduce-scatter", "all-to-all", "all-reduce"}) {
    const auto m = measured_of(draft, collective);
    if (!m || m->hosts != 1) continue;
    map_node_share(*m, draft);
    map_base(*m, hop_us(draft, catalog), draft);
    break;
  }
  const auto sum = measured_of(draft, "all-reduce");
  if (sum && sum->hosts == 1 && reduces_in_switch(draft) && !draft.stated("cluster.node.nvls_efficiency"))
    map_node_share(*sum, draft);
}

}  // namespace

void apply_measured_links(Draft& draft, const Catalog& catalog) {
  apply_node(draft, catalog);
  for (const std::string_view collective : {"all-gather", "reduce-scatter", "all-reduce"})
    if (const auto m = measured_of(draft, collective); m && m->hosts > 1) return map_fabric_share(*m, draft);
}

}  // namespace orrery::importers::machines
