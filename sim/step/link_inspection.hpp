// Checks if the transfers of a finished run ask for more of a link than it carries, and finds the spans of
// fused passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/units.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/channels.hpp"
#include "sim/tasks/expanded_graph.hpp"

namespace orrery {

/// Returns the demand of a leg with this weight on a link, in units of FlowNetwork: bytes/s * kWeightOne.
[[nodiscard]] inline Int128 demand_of(const Leg& leg, std::uint64_t weight) {
  return static_cast<Int128>(leg.rate) * static_cast<Int128>(weight);
}

/// Inspects a finished run once.
class LinkInspection {
 public:
  /// Keeps references.
  LinkInspection(const Workload& workload, const Channels& channels, const PriceList& prices,
                 const ExpandedGraph& expanded, const Timeline& timeline);

  /// Holds the load of one call on the inspected link, for the groups of a class, for which it costs the
  /// same.
  struct Load {
    std::uint32_t group_class = 0;
    std::uint32_t call = 0;
    std::uint32_t cost = 0;   ///< of the call
    std::uint32_t place = 0;  ///< of the link in the list of the group
    std::uint32_t group = 0;  ///< one of them
    std::uint32_t groups = 1;
    std::int64_t most = 0;  ///< bytes/s, of a channel with passes: while any of its calls runs; 0: of a call

    [[nodiscard]] auto key() const { return std::tuple(group_class, call, cost, place); }
  };

  [[nodiscard]] bool overloaded(std::int64_t bytes_per_s, std::vector<Load>& loads);

 private:
  struct Change {
    Picoseconds time = 0;
    Int128 by = 0;
  };

  void add_change(Picoseconds time, Int128 by);

  /// A load's changes are mostly in order of time: sorts by merging the runs that are, two and two.
  void merge_runs();

  /// Groups of a class do the same at the same times.
  static void add_up(std::vector<Load>& loads);

  void list_operations();

  /// A leg moves its data no earlier and no later than the legs before and after it leave it time for.
  void add_changes(const Load& load);

  void add_changes(const Load& load, Picoseconds before, Picoseconds after, Int128 demand);

  /// Adds passes, and the messages of their group before and after their bodies, while any of them runs: the
  /// messages of a group follow each other.
  void add_spans(const Load& load);

  /// Visits (operation, task) for each transfer of the load's group.
  template <class Visit>
  void for_each_task(const Load& load, Visit visit);

  const Workload& workload_;
  const Channels& channels_;
  const PriceList& prices_;
  const ExpandedGraph& expanded_;
  const Timeline& timeline_;
  std::vector<std::vector<std::uint32_t>> operations_;  ///< [program * slots + slot]: communication there
  std::vector<Change> changes_;                         ///< on the link at hand
  std::vector<std::size_t> runs_;                       ///< where each run of them in order of time begins
  std::vector<Change> merged_;
  std::vector<std::pair<Picoseconds, Picoseconds>> spans_;
};

}  // namespace orrery
