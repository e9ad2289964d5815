#include "config/schema/menus.hpp"

#include "topologies/common/topologies.hpp"
#include "topologies/gossip/gossip.hpp"
#include "workloads/collectives/collectives.hpp"
#include "workloads/communicators/communicators.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

template <class Entries>
std::vector<std::string> names(const Entries& entries) {
  std::vector<std::string> result;
  for (const auto& entry : entries) result.emplace_back(entry.name);
  return result;
}

void check_dimensions(const Experiment& experiment, const ReportProblem& complain) {
  for (const CommunicatorKind* kind : communicator_kinds()) {
    if (kind->check != nullptr) kind->check(experiment, complain);
  }
}

void check_schedule(const Experiment& experiment, const ReportProblem& complain) {
  const auto obstacle = schedule_obstacle(experiment.plan);
  if (obstacle)
    complain({obstacle->key}, "found " + obstacle->found + ", allowed " + obstacle->allowed + " for " +
                                  experiment.plan.pipeline_schedule);
}

/// Names of the entries for which `has` holds.
template <class Entries, class Has>
std::vector<std::string> names_with(const Entries& entries, const Has& has) {
  std::vector<std::string> result;
  for (const auto& entry : entries) {
    if (has(entry)) result.emplace_back(entry.name);
  }
  return result;
}

template <class Has>
std::vector<std::string> schedules_with(const Has& has) {
  return names_with(pipeline_schedules(), has);
}

}  // namespace

Menus menus() {
  return {names(node_wirings()),
          names(fabrics()),
          names(pipeline_schedules()),
          schedules_with([](const PipelineSchedule& s) { return s.chunks == kAnyChunks; }),
          names(collective_algorithms()),
          names(gossip_topologies()),
          check_dimensions,
          schedules_with([](const PipelineSchedule& s) { return s.chunks == 2; }),
          schedules_with([](const PipelineSchedule& s) { return s.sets_warm_up; }),
          check_schedule,
          names_with(node_wirings(), [](const NodeWiringEntry& wiring) { return wiring.nvlink; })};
}

}  // namespace orrery
