// Declares the names an experiment may choose from that other rooms own: the caller collects their menus.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

/// Reports an error at the first of the plan's keys that the user gave.
using ReportProblem = std::function<void(std::initializer_list<std::string_view> keys, std::string message)>;

class Catalog;

/// A plan that was chosen for an experiment that gives none.
struct ChosenPlan {
  std::string plan;    ///< JSON of the key `plan`
  std::string reason;  ///< one sentence on the alternatives it was chosen over
};

struct Menus {
  std::vector<std::string> node_wirings;           ///< cluster.node.kind
  std::vector<std::string> fabrics;                ///< cluster.fabric.kind
  std::vector<std::string> pipeline_schedules;     ///< plan.pipeline_schedule
  std::vector<std::string> interleaved_schedules;  ///< those of them that take virtual stages
  std::vector<std::string> collective_algorithms;  ///< plan.collectives.*, besides "auto"
  std::vector<std::string> gossip_topologies;      ///< data_parallel_sync.topology
  /// Reports errors in the degrees of a plan, with their keys; null: no check.
  void (*check_dimensions)(const Experiment&, const ReportProblem&) = nullptr;
  std::vector<std::string> v_schedules{};  ///< those of pipeline_schedules that have two chunks per rank
  std::vector<std::string> warm_up_schedules{};  ///< schedules whose plan sets the warm-up
  /// Reports the obstacle to the schedule of a completed plan; null: no check.
  void (*check_schedule)(const Experiment&, const ReportProblem&) = nullptr;
  std::vector<std::string> nvlink_wirings{};  ///< those of node_wirings that are made of NVLinks
  /// Chooses the plan of an experiment, JSON, whose plan is "auto" or has the base "auto", or which has none;
  /// nullopt if its own plan will do. Null: no planner is present.
  std::optional<ChosenPlan> (*choose_plan)(const std::string& experiment, const Catalog&) = nullptr;
};

/// Returns the names that an experiment can use, from the tables of all rooms.
[[nodiscard]] Menus menus();

}  // namespace orrery
