#include "sim/matching/task_groups.hpp"

#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "orrery/error.hpp"

namespace orrery {
namespace {

std::string describe(const Workload& workload, OpRef at) {
  const Op& op = workload.programs[at.program].ops[at.op];
  std::string text = "stage " + std::to_string(at.program) + ": ";
  text += kPhaseNames[static_cast<std::size_t>(op.phase)];
  text += ' ';
  text += kPartNames[static_cast<std::size_t>(op.part)];
  if (op.layer >= 0) text += " " + std::to_string(op.layer);
  if (op.micro_batch >= 0) text += " of micro-batch " + std::to_string(op.micro_batch);
  text += " (";
  text += stream_name(op.stream);
  return text + ")";
}

/// Lists the predecessors of a program's operations on their own rank, one operation after the other.
class PredecessorList {
 public:
  /// @param begin  of the program's first operation, those of the next ones are added
  PredecessorList(std::uint32_t* list, std::uint32_t* begin)
      : list_(list), begin_(begin), first_(*begin), end_(*begin) {}

  /// Returns its place in the list.
  std::uint32_t add(std::uint32_t pred) {
    list_[end_] = pred;
    return end_++;
  }
  [[nodiscard]] bool has(std::uint32_t pred) const { return lists(first_, end_, pred); }
  [[nodiscard]] bool has(std::uint32_t pred, std::uint32_t earlier) const {
    return lists(begin_[earlier], begin_[earlier + 1], pred);
  }
  /// Ends that of operation `op`; returns how many it has.
  std::uint32_t close(std::uint32_t op) {
    const std::uint32_t number = end_ - first_;
    begin_[op + 1] = first_ = end_;
    return number;
  }

 private:
  [[nodiscard]] bool lists(std::uint32_t first, std::uint32_t end, std::uint32_t pred) const {
    for (; first != end; ++first) {
      if (list_[first] == pred) return true;
    }
    return false;
  }

  std::uint32_t* list_;
  std::uint32_t* begin_;
  std::uint32_t first_;  ///< of the operation at hand
  std::uint32_t end_;
};

class TaskGroupMaker {
 public:
  TaskGroupMaker(const Workload& workload, const Channels& channels)
      : workload_(workload), channels_(channels) {}

  TaskGroups make() {
    lay_out();
    for (std::uint32_t p = 0; p < workload_.programs.size(); ++p) add_program(p);
    sort();
    return std::move(result_);
  }

 private:
  struct TaskGroup {
    std::uint32_t place;  ///< of its next operation in TaskGroups::group_operations
    std::uint32_t waits;  ///< number of groups it waits for
    std::uint32_t after;  ///< in edges_: the first one that waits for it, or kNone
    std::uint32_t* last;  ///< `after`, or Edge::next of the latest one
  };
  struct Edge {
    std::uint32_t next;  ///< to another one that waits for the same, or kNone
    std::uint32_t to;
  };

  void lay_out();
  void add_program(std::uint32_t p);
  [[nodiscard]] std::vector<std::uint32_t> first_task_groups(std::uint32_t p) const;
  void sort();
  [[noreturn]] void explain_deadlock() const;

  const Workload& workload_;
  const Channels& channels_;
  TaskGroups result_;
  std::uint32_t number_ = 0;   ///< of task groups
  std::uint32_t compute_ = 0;  ///< the next compute task group
  std::unique_ptr<TaskGroup[]> task_groups_;
  std::unique_ptr<Edge[]> edges_;        ///< per entry of TaskGroups::predecessors
  std::unique_ptr<std::uint32_t[]> of_;  ///< per operation, counted over all programs: its task group
};

/// Room for the operations of all task groups, as many as there can be of each.
void TaskGroupMaker::lay_out() {
  std::size_t ops = 0;
  std::size_t most_edges = 0;
  for (const Program& program : workload_.programs) {
    result_.first_op.push_back(ops);
    ops += program.ops.size();
    most_edges += 2 * program.ops.size() + program.deps.size();
  }
  std::uint32_t at = 0;
  auto& begin = result_.ops_begin;
  begin.reserve(ops + 1);
  for (const Channel& channel : channels_.channels) {
    for (std::uint32_t i = 0; i < channel.operations; ++i, at += channel.ends) begin.push_back(at);
  }
  begin.resize(begin.size() + ops - at + 1);
  std::iota(begin.begin() + channels_.task_groups, begin.end(), at);
  number_ = static_cast<std::uint32_t>(begin.size() - 1);
  result_.group_operations.resize(ops);
  result_.predecessor_begin = std::make_unique_for_overwrite<std::uint32_t[]>(ops + 1);
  result_.predecessor_begin[0] = 0;
  result_.predecessors = std::make_unique_for_overwrite<std::uint32_t[]>(most_edges);
  compute_ = channels_.task_groups;
  task_groups_ = std::make_unique_for_overwrite<TaskGroup[]>(number_);
  for (std::uint32_t f = 0; f < number_; ++f) task_groups_[f] = {begin[f], 0, kNone, &task_groups_[f].after};
  edges_ = std::make_unique_for_overwrite<Edge[]>(most_edges);
  of_ = std::make_unique_for_overwrite<std::uint32_t[]>(ops);
}

void TaskGroupMaker::add_program(std::uint32_t p) {
  const Program& program = workload_.programs[p];
  std::uint32_t* const of = of_.get() + result_.first_op[p];
  std::vector<std::uint32_t> next = first_task_groups(p);
  std::vector<std::uint32_t> latest(workload_.streams, kNone);
  PredecessorList list(result_.predecessors.get(), result_.predecessor_begin.get() + result_.first_op[p]);
  std::uint32_t compute = compute_;
  std::uint32_t o = 0;
  for (const Op& op : program.ops) {
    const std::uint32_t number = op.kind == Op::Kind::compute ? compute++ : next[op.slot]++;
    TaskGroup& task_group = task_groups_[number];
    of[o] = number;
    result_.group_operations[task_group.place++] = {p, o};
    std::uint32_t& before = latest[static_cast<std::size_t>(op.stream)];
    const bool issued = op.kind != Op::Kind::communicate;
    const std::uint32_t host = issued ? latest[static_cast<std::size_t>(Stream::host)] : kNone;
    bool implied = before == kNone || before == host;
    const auto add = [&](std::uint32_t pred) {
      const std::uint32_t edge = list.add(pred);
      edges_[edge] = {kNone, number};
      *std::exchange(task_groups_[of[pred]].last, &edges_[edge].next) = edge;
    };
    if (host != kNone) add(host);
    for (const std::uint32_t dep : program.dependencies(op)) {
      if (list.has(dep)) continue;
      implied = implied || dep == before || list.has(before, dep);
      add(dep);
    }
    if (!implied) add(before);
    task_group.waits += list.close(o);
    before = o++;
  }
  compute_ = compute;
}

/// Per slot of a program: that of its first operation.
std::vector<std::uint32_t> TaskGroupMaker::first_task_groups(std::uint32_t p) const {
  std::vector<std::uint32_t> first;
  for (std::size_t slot = 0; slot < workload_.slots; ++slot) {
    const std::uint32_t channel = channels_.channel_of[p * workload_.slots + slot];
    first.push_back(channel == kNone ? kNone : channels_.channels[channel].first_task_group);
  }
  return first;
}

/// Kahn's algorithm, first come first served.
void TaskGroupMaker::sort() {
  result_.order.resize(number_);
  std::uint32_t* const order = result_.order.data();
  std::uint32_t* end = order;
  for (std::uint32_t f = 0; f < number_; ++f) {
    if (task_groups_[f].waits == 0) *end++ = f;
  }
  for (const std::uint32_t* at = order; at != end; ++at) {
    for (std::uint32_t edge = task_groups_[*at].after; edge != kNone; edge = edges_[edge].next) {
      const std::uint32_t after = edges_[edge].to;
      if (--task_groups_[after].waits == 0) *end++ = after;
    }
  }
  if (end != order + number_) explain_deadlock();
}

/// Follows waiting operations backwards until one comes up twice.
void TaskGroupMaker::explain_deadlock() const {
  const auto cause = [&](std::uint32_t task_group, OpRef& from, OpRef& to) {
    for (std::uint32_t i = result_.ops_begin[task_group]; i < result_.ops_begin[task_group + 1]; ++i) {
      from = result_.group_operations[i];
      for (const std::uint32_t op : result_.before(from)) {
        to = {from.program, op};
        const std::uint32_t before = of_[result_.first_op[to.program] + to.op];
        if (task_groups_[before].waits > 0) return before;
      }
    }
    return kNone;
  };
  std::uint32_t task_group = 0;
  while (task_groups_[task_group].waits == 0) ++task_group;
  std::vector<bool> seen(number_, false);
  OpRef from;
  OpRef to;
  while (!seen[task_group]) {
    seen[task_group] = true;
    task_group = cause(task_group, from, to);
  }
  std::string text = "deadlock:";
  const std::uint32_t start = task_group;
  do {
    task_group = cause(task_group, from, to);
    text += "\n  " + describe(workload_, from) + " waits for " + describe(workload_, to);
  } while (task_group != start);
  throw RunError(text);
}

}  // namespace

TaskGroups make_task_groups(const Workload& workload, const Channels& channels) {
  return TaskGroupMaker(workload, channels).make();
}

}  // namespace orrery
