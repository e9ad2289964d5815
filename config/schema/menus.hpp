// The names an experiment may choose from that other rooms own: the caller collects their menus.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

/// Says what is wrong at the first of the keys of the plan that is given.
using ReportProblem = std::function<void(std::initializer_list<std::string_view> keys, std::string message)>;

class Catalog;

/// A plan that was chosen for an experiment that gives none.
struct ChosenPlan {
  std::string plan;    ///< JSON of the key `plan`
  std::string reason;  ///< what it was chosen over, a sentence
};

struct Menus {
  std::vector<std::string> node_wirings;           ///< cluster.node.kind
  std::vector<std::string> fabrics;                ///< cluster.fabric.kind
  std::vector<std::string> pipeline_schedules;     ///< plan.pipeline_schedule
  std::vector<std::string> interleaved_schedules;  ///< those of them that take virtual stages
  std::vector<std::string> collective_algorithms;  ///< plan.collectives.*, besides "auto"
  std::vector<std::string> gossip_topologies;      ///< data_parallel_sync.topology
  /// Says what is wrong with the degrees of a plan, and at which of its keys; null: nothing.
  void (*check_dimensions)(const Experiment&, const ReportProblem&) = nullptr;
  std::vector<std::string> v_schedules{};  ///< those of pipeline_schedules that have two chunks per rank
  std::vector<std::string> warm_up_schedules{};  ///< those that take a warm-up from the plan
  /// Says what stands against the schedule of a completed plan; null: nothing.
  void (*check_schedule)(const Experiment&, const ReportProblem&) = nullptr;
  std::vector<std::string> nvlink_wirings{};  ///< those of node_wirings that are made of NVLinks
  /// The plan for an experiment, JSON, whose plan is "auto" or has the base "auto", or which has none;
  /// nothing where the one that it has anyway will do. Null: nobody is there to choose.
  std::optional<ChosenPlan> (*choose_plan)(const std::string& experiment, const Catalog&) = nullptr;
};

/// Returns the names that an experiment can use, from the tables of all rooms.
[[nodiscard]] Menus menus();

}  // namespace orrery
