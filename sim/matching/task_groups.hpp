// Forms task groups and the order in which they are laid out. A task group is one operation of one program,
// or the operations of several programs that meet on a channel; its tasks lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "orrery/workload.hpp"
#include "sim/matching/channels.hpp"

namespace orrery {

/// An operation of a program.
struct OpRef {
  std::uint32_t program = 0;
  std::uint32_t op = 0;
};

struct TaskGroups {
  /// Per program: the number of its first operation, counted over all programs.
  std::vector<std::size_t> first_op;
  /// Predecessors of each operation on its own rank: its dependencies and the operation before it on its
  /// stream, without those that the others imply. If the program has host operations, those of its GPU and
  /// host streams name the latest of them first. [predecessor_begin[first_op[program] + op] ...)
  std::unique_ptr<std::uint32_t[]> predecessor_begin;
  std::unique_ptr<std::uint32_t[]> predecessors;
  /// TaskGroups in an order in which each comes after all it waits for.
  std::vector<std::uint32_t> order;
  /// Per task group: its operations, group_operations[ops_begin[f], ops_begin[f + 1]). Compute task groups
  /// come after all communication task groups.
  std::vector<std::uint32_t> ops_begin;
  std::vector<OpRef> group_operations;

  [[nodiscard]] std::span<const OpRef> operations(std::uint32_t task_group) const {
    return {group_operations.data() + ops_begin[task_group],
            group_operations.data() + ops_begin[task_group + 1]};
  }
  /// Returns the operations of task groups that do not communicate.
  [[nodiscard]] std::span<const OpRef> compute_operations(const Channels& channels) const {
    return std::span(group_operations).subspan(ops_begin[channels.task_groups]);
  }
  [[nodiscard]] std::span<const std::uint32_t> before(OpRef at) const {
    const std::uint32_t* const begin = predecessor_begin.get() + first_op[at.program] + at.op;
    return {predecessors.get() + begin[0], predecessors.get() + begin[1]};
  }
};

/// @throws RunError that lists a cycle of waiting operations if no such order exists (a deadlock).
[[nodiscard]] TaskGroups make_task_groups(const Workload& workload, const Channels& channels);

}  // namespace orrery
