// Holds a workload expanded to tasks: the TaskGraph the engine runs, and which task is which operation of
// which rank. Ranks that cannot differ form a class and are simulated once (folding); unfolded, every rank is
// its own class. Made by expand.hpp; read by sim/metrics/.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/workload.hpp"
#include "sim/symmetry/representatives.hpp"
#include "sim/tasks/host_lag.hpp"

namespace orrery {

struct ExpandedGraph {
  TaskGraph graph;
  Representatives representatives;
  SharedArray<std::uint32_t> program;  ///< per class

  /// Tasks of one operation lie side by side, one per class or, for communication and passes, per group
  /// class.
  struct OpTasks {
    static constexpr std::uint32_t kAlone = 0xffffffff;
    std::uint32_t first = 0;
    std::uint32_t slot = kAlone;  ///< of communication and passes
  };
  SharedArray<std::vector<OpTasks>> ops;  ///< [program][op]

  HostLags host_lags;

  /// Costs of the graph are those of Workload::kernel_sequences, then of Representatives::transfers, then
  /// those of single tasks.
  std::vector<std::uint32_t> stands_for;  ///< per cost of a single task: the one it would have otherwise
  /// An operation of each task group that lie side by side, in their order.
  struct TaskGroup {
    std::uint32_t first_task = 0;
    std::uint32_t program = 0;
    std::uint32_t op = 0;
  };
  SharedArray<TaskGroup> task_groups;
  /// Tasks [begin, end) that wait for the host.
  struct Issued {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t lag = 0;  ///< of HostLags
  };
  SharedArray<Issued> issued;
  SharedArray<Issued> issued_passes;          ///< of the GPU: wait as long as they lead in addition
  SharedArray<std::uint32_t> position;        ///< per class: its place among the classes of its program
  std::uint32_t slots = kSlotCount;           ///< of each class
  SharedArray<std::uint32_t> group_position;  ///< [class * slots + slot]: place of its group's task

  /// Holds the position of a class among the tasks of an operation.
  struct Place {
    std::uint32_t alone = 0;
    const std::uint32_t* of_slot = nullptr;

    [[nodiscard]] std::uint32_t task(OpTasks tasks) const {
      return tasks.first + (tasks.slot == OpTasks::kAlone ? alone : of_slot[tasks.slot]);
    }
  };

  [[nodiscard]] std::uint32_t classes() const { return static_cast<std::uint32_t>(program.size()); }

  /// The cost of a work or transfer that `cost` stands for, or is.
  [[nodiscard]] std::uint32_t usual_cost(std::uint32_t cost) const {
    const std::size_t usual = graph.costs.size() - stands_for.size();
    return cost < usual ? cost : stands_for[cost - usual];
  }

  /// The task in which class `cls` executes operation `op` (an index into its program).
  [[nodiscard]] std::uint32_t task(std::uint32_t cls, std::uint32_t op) const {
    return task(cls, ops[program[cls]][op]);
  }
  [[nodiscard]] std::uint32_t task(std::uint32_t cls, OpTasks tasks) const { return place(cls).task(tasks); }
  [[nodiscard]] Place place(std::uint32_t cls) const {
    return {position[cls], group_position.data() + std::size_t{cls} * slots};
  }
};

}  // namespace orrery
