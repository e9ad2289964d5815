#include "config/schema/menus.hpp"

#include "topologies/gossip/gossip.hpp"
#include "topologies/topologies.hpp"
#include "workloads/collectives/collectives.hpp"
#include "workloads/parallel/communicators.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

template <class Entries>
std::vector<std::string> names(const Entries& entries) {
  std::vector<std::string> result;
  for (const auto& entry : entries) result.emplace_back(entry.name);
  return result;
}

void check_dimensions(const Experiment& experiment, const Complain& complain) {
  for (const CommunicatorKind* kind : communicator_kinds()) {
    if (kind->check != nullptr) kind->check(experiment, complain);
  }
}

}  // namespace

Menus menus() {
  std::vector<std::string> interleaved;
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    if (schedule.interleaved) interleaved.emplace_back(schedule.name);
  }
  return {names(node_wirings()),
          names(fabrics()),
          names(pipeline_schedules()),
          interleaved,
          names(collective_algorithms()),
          names(gossip_topologies()),
          check_dimensions};
}

}  // namespace orrery
