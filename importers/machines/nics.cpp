#include "importers/machines/nics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

namespace orrery::importers::machines {
namespace {

/// Rates of ports as they are sold, in Gb/s. Figures between them have been reduced by whoever wrote them.
constexpr std::array kPortRates{1.0, 10.0, 20.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0, 1600.0};

bool is_port_rate(double gbps) { return std::ranges::find(kPortRates, gbps) != kPortRates.end(); }

/// The kind of NICs over which traffic of GPUs goes: RDMA where one has it, then those that reach the memory
/// of GPUs, and the fastest of those.
struct Choice {
  bool rdma = false;
  bool gpu_direct = false;
  double gbps = 0;

  [[nodiscard]] bool takes(const NodeNic& nic) const {
    return nic.rdma == rdma && nic.gpu_direct == gpu_direct && nic.gbps == gbps;
  }
};

Choice choice_of(const std::vector<NodeNic>& nics) {
  const auto better = [](const NodeNic& a, const NodeNic& b) {
    return std::tuple(a.rdma, a.gpu_direct, a.gbps) < std::tuple(b.rdma, b.gpu_direct, b.gbps);
  };
  const NodeNic& best = *std::ranges::max_element(nics, better);
  return {best.rdma, best.gpu_direct, best.gbps};
}

SourceKey key_of(const NodeNic& nic) {
  const std::string speed = nic.gbps > 0 ? fmt::format("{} Gb/s", nic.gbps) : "no speed";
  return {nic.name.empty() ? "net" : "net " + nic.name, speed, nic.place};
}

std::string why_not(const NodeNic& nic, const Choice& choice) {
  if (nic.rdma != choice.rdma) return "no RDMA: traffic of GPUs goes over the other NICs";
  if (nic.gpu_direct != choice.gpu_direct)
    return "does not reach the memory of GPUs, whose traffic goes over the other NICs";
  return "slower than the other NICs, over which traffic of GPUs goes";
}

void ignore_others(const std::vector<NodeNic>& nics, const Choice& choice, Draft& draft) {
  for (const NodeNic& nic : nics)
    if (!choice.takes(nic)) draft.ignore(key_of(nic), why_not(nic, choice));
}

std::vector<const NodeNic*> chosen(const std::vector<NodeNic>& nics, const Choice& choice) {
  std::vector<const NodeNic*> list;
  for (const NodeNic& nic : nics)
    if (choice.takes(nic)) list.push_back(&nic);
  return list;
}

/// Ports by card; a NIC without one is a card of its own.
std::size_t cards_of(const std::vector<const NodeNic*>& ports) {
  std::map<std::string, int> cards;
  for (std::size_t i = 0; i < ports.size(); ++i)
    ++cards[ports[i]->card.empty() ? fmt::format("#{}", i) : ports[i]->card];
  return cards.size();
}

void map_speed(const NodeNic& nic, double ports_per_card, Draft& draft) {
  const double gbps = nic.gbps * ports_per_card;
  draft.map(key_of(nic), "cluster.fabric.nic_gbps", gbps,
            ports_per_card > 1 ? fmt::format("{} ports of {} Gb/s", ports_per_card, nic.gbps) : "");
  if (!is_port_rate(nic.gbps))
    draft.default_to("cluster.fabric.efficiency", 1,
                     fmt::format("{} Gb/s is no rate of a port: the file has it reduced already", nic.gbps));
}

}  // namespace

void map_nics(const std::vector<NodeNic>& nics, Draft& draft) {
  if (nics.empty()) return;
  const Choice choice = choice_of(nics);
  ignore_others(nics, choice, draft);
  const std::vector<const NodeNic*> ports = chosen(nics, choice);
  const std::size_t cards = cards_of(ports);
  draft.map({"net", ports.size(), ports.front()->place}, "cluster.fabric.nics_per_node", cards,
            cards < ports.size() ? fmt::format("{} ports on {} cards", ports.size(), cards) : "");
  if (!choice.rdma) draft.map({"gdr", 0, ports.front()->place}, launch::kSockets, true);
  if (choice.rdma && !choice.gpu_direct)
    draft.map({"gdr", 0, ports.front()->place}, "cluster.node.gpu_direct", false);
  if (choice.gbps > 0)
    map_speed(*ports.front(), static_cast<double>(ports.size()) / static_cast<double>(cards), draft);
}

}  // namespace orrery::importers::machines
