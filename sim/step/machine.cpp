#include "sim/step/machine.hpp"

#include "sim/cost/channel_pricer.hpp"
#include "topologies/common/topologies.hpp"

namespace orrery {

std::size_t Machine::bytes() const {
  constexpr std::size_t kRoutes = 64;  // of a vertex
  return topology->links().size() * (sizeof(Link) + sizeof(std::uint32_t)) + topology->vertices() * kRoutes;
}

std::shared_ptr<const Machine> machine_of(const Cluster& cluster, Memo& memo) {
  return memo.get<Machine>(MemoKind::machine, machine_key(cluster), [&] {
    Machine machine{build_topology(cluster), {}};
    machine.link_kinds = number_link_kinds(*machine.topology);
    return machine;
  });
}

ContentHash machine_key(const Cluster& cluster) {
  Cluster wiring = cluster;
  wiring.name.clear();
  wiring.gpu = {};
  wiring.gpu.host_link_gb_per_s = cluster.way_out_gb_per_s();  // all that links know of GPUs
  wiring.overrides.clear();
  wiring.groups.clear();
  wiring.other_gpus.clear();
  return content_of(wiring);
}

}  // namespace orrery
