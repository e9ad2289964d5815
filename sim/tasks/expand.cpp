#include "sim/tasks/expand.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "orrery/error.hpp"
#include "sim/matching/task_groups.hpp"
#include "sim/symmetry/class_positions.hpp"
#include "sim/tasks/host_lag.hpp"

namespace orrery {
namespace {

/// Bytes per task (cost, lag, start, finish, ranges) and per edge while the engine runs.
constexpr std::int64_t kTaskBytes = 48;
constexpr std::int64_t kEdgeBytes = 8;
constexpr std::int64_t kMostBytes = 20'000'000'000;

class Expansion {
 public:
  Expansion(const Workload& workload, const Channels& channels, const TaskGroups& task_groups,
            const ClassPositions& positions)
      : workload_(workload), channels_(channels), positions_(positions), task_groups_(task_groups) {}

  ExpandedGraph expand() {
    number_costs();
    place_classes();
    list_programs();
    make_room();
    list_joins();
    write_tasks();
    return std::move(result_);
  }

 private:
  struct ProgramTasks {
    const Op* ops = nullptr;
    ExpandedGraph::OpTasks* tasks = nullptr;  ///< per operation
    const std::uint32_t* before = nullptr;    ///< per operation + 1: range in TaskGroups::predecessors
    const std::uint32_t* lags = nullptr;      ///< per operation
  };
  /// A class that takes part in a simulated group.
  struct Join {
    const std::uint32_t* offsets = nullptr;  ///< of the class
    const ProgramTasks* program = nullptr;   ///< of the class
    std::uint32_t member = 0;                ///< place of its operation among those of a task group
  };
  struct ChannelTasks {
    const std::uint32_t* first_transfer = nullptr;  ///< per request: its first entry in costs
    const std::uint32_t* join_begin = nullptr;      ///< per simulated group + 1: range in joins_
    std::uint32_t groups = 0;                       ///< that are simulated
  };
  void number_costs();
  /// Messages come before passes.
  [[nodiscard]] std::size_t number_of(Request request) const {
    return request.work + (request.pass ? messages_ : 0);
  }
  /// First entry in costs of a call.
  [[nodiscard]] std::uint32_t& first_transfer(const Call& call) {
    return first_transfer_[call.channel * requests_ + number_of(call.request)];
  }
  void place_classes();
  void list_programs();
  ExpandedGraph::OpTasks* list_tasks(const Program& program);
  void make_room();
  void check_size(std::int64_t tasks, std::int64_t edges) const;
  void list_joins();
  [[nodiscard]] std::vector<std::uint32_t> members_of_ends() const;
  void write_tasks();
  void write_compute(OpRef at);
  void write_communication(std::span<const OpRef> operations);
  /// Returns the offsets of a class's tasks among those of an operation: by slot, and at -1 those of single
  /// ranks.
  [[nodiscard]] const std::uint32_t* offsets_of(std::uint32_t cls) const {
    return offsets_.data() + 1 + cls * (std::size_t{workload_.slots} + 1);
  }
  void write_predecessors(const std::uint32_t* offsets, const ProgramTasks& program, std::uint32_t op) {
    const ExpandedGraph::OpTasks* const tasks = program.tasks;
    const std::uint32_t* const end = predecessors_ + program.before[op + 1];
    std::uint32_t* pred = pred_;
    for (const std::uint32_t* before = predecessors_ + program.before[op]; before != end; ++before) {
      const ExpandedGraph::OpTasks of = tasks[*before];
      *pred++ = of.first + offsets[static_cast<std::int32_t>(of.slot)];
    }
    pred_ = pred;
  }
  void close_task(std::uint32_t cost) {
    cost_[task_] = cost;
    pred_begin_[++task_] = static_cast<std::uint32_t>(pred_ - preds_);
  }
  [[nodiscard]] const Op& op(OpRef at) const { return workload_.programs[at.program].ops[at.op]; }

  const Workload& workload_;
  const Channels& channels_;
  const ClassPositions& positions_;
  const TaskGroups& task_groups_;
  ExpandedGraph result_;
  std::vector<std::vector<ExpandedGraph::OpTasks>> op_tasks_;  ///< ExpandedGraph::ops

  std::vector<ProgramTasks> programs_;
  std::vector<std::vector<std::uint32_t>> program_classes_;  ///< [program]: its classes
  std::vector<std::uint32_t> lags_;                          ///< HostLags::add()
  std::vector<std::uint32_t> offsets_;  ///< [class * (slots + 1)]: its position, then those of its groups
  std::vector<ChannelTasks> channel_tasks_;
  std::vector<std::uint32_t> join_begin_;  ///< per simulated group of all channels + 1: range in joins_
  std::vector<Join> joins_;
  std::size_t messages_ = workload_.messages.size();
  std::size_t requests_ = messages_ + workload_.passes.size();  ///< that can be made of a channel
  const std::uint32_t* predecessors_ = task_groups_.predecessors.get();
  std::vector<std::uint32_t> first_transfer_;  ///< [channel * requests_ + request]: its first entry in costs
  std::uint32_t* cost_ = nullptr;              ///< TaskGraph::cost
  std::uint32_t* pred_begin_ = nullptr;        ///< TaskGraph::pred_begin
  std::uint32_t* preds_ = nullptr;             ///< TaskGraph::preds
  std::uint32_t* pred_ = nullptr;              ///< the next one of the task being written
  std::uint32_t task_ = 0;                     ///< the one being written
};

/// Numbers the costs: kernel sequences come first, then the simulated transfers of each call.
void Expansion::number_costs() {
  first_transfer_.resize(channels_.channels.size() * requests_);
  std::size_t costs = workload_.kernel_sequences.size();
  for (const Call& call : channels_.calls) {
    first_transfer(call) = static_cast<std::uint32_t>(costs);
    costs += positions_.groups[call.channel].size();
  }
  result_.graph.costs.resize(costs);
}

void Expansion::place_classes() {
  result_.program = positions_.program;
  result_.position = positions_.position;
  result_.slots = workload_.slots;
  result_.group_position = positions_.group_position;
  for (std::uint32_t c = 0; c < result_.classes(); ++c) {
    const ExpandedGraph::Place place = result_.place(c);
    offsets_.push_back(place.alone);
    offsets_.insert(offsets_.end(), place.of_slot, place.of_slot + result_.slots);
  }
}

/// Without the first task of each operation.
ExpandedGraph::OpTasks* Expansion::list_tasks(const Program& program) {
  std::vector<ExpandedGraph::OpTasks>& tasks = op_tasks_.emplace_back(program.ops.size());
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (program.ops[i].kind != Op::Kind::compute) tasks[i].slot = program.ops[i].slot;
  return tasks.data();
}

void Expansion::list_programs() {
  programs_.resize(workload_.programs.size());
  program_classes_.resize(programs_.size());
  lags_ = result_.host_lags.add(workload_);
  for (std::size_t p = 0; p < programs_.size(); ++p) {
    ProgramTasks& program = programs_[p];
    program.ops = workload_.programs[p].ops.data();
    program.tasks = list_tasks(workload_.programs[p]);
    program.before = task_groups_.predecessor_begin.get() + task_groups_.first_op[p];
    program.lags = lags_.data() + task_groups_.first_op[p];
  }
  for (std::uint32_t c = 0; c < result_.classes(); ++c) program_classes_[result_.program[c]].push_back(c);
}

void Expansion::check_size(std::int64_t tasks, std::int64_t edges) const {
  const std::int64_t bytes = tasks * kTaskBytes + edges * kEdgeBytes;
  if (bytes <= kMostBytes && edges < kNone && tasks < kNone) return;
  throw InputError("/simulation/folding", "the graph of " + std::to_string(tasks) + " tasks and " +
                                              std::to_string(edges) + " edges needs " +
                                              std::to_string(bytes / 1'000'000'000) + " GB, allowed are " +
                                              std::to_string(kMostBytes / 1'000'000'000) +
                                              " GB; let folding be auto, or simulate fewer steps");
}

void Expansion::make_room() {
  std::int64_t tasks = 0;
  std::int64_t edges = 0;
  for (std::size_t c = 0; c < channels_.channels.size(); ++c)
    tasks += std::int64_t{channels_.channels[c].operations} * std::ssize(positions_.groups[c]);
  for (const OpRef at : task_groups_.compute_operations(channels_))
    tasks += std::ssize(program_classes_[at.program]);
  for (std::size_t p = 0; p < programs_.size(); ++p) {
    const std::uint32_t* const before = programs_[p].before;
    edges += (std::int64_t{before[workload_.programs[p].ops.size()]} - before[0]) *
             std::ssize(program_classes_[p]);
  }
  check_size(tasks, edges);
  TaskGraph& graph = result_.graph;
  graph.cost = std::vector<std::uint32_t>(static_cast<std::size_t>(tasks));
  graph.pred_begin = std::vector<std::uint32_t>(static_cast<std::size_t>(tasks) + 1);
  graph.preds = std::vector<std::uint32_t>(static_cast<std::size_t>(edges));
  cost_ = graph.cost.edit().data();
  pred_begin_ = graph.pred_begin.edit().data();
  preds_ = pred_ = graph.preds.edit().data();
}

/// Counted, then put in place.
void Expansion::list_joins() {
  std::vector<std::uint32_t> first_group;
  std::uint32_t groups = 0;
  for (const auto& of_channel : positions_.groups) {
    first_group.push_back(groups);
    groups += static_cast<std::uint32_t>(of_channel.size());
  }
  join_begin_.resize(std::size_t{groups} + 2);
  const std::vector<std::uint32_t> members = members_of_ends();
  const auto for_each_join = [&](auto visit) {
    for (std::uint32_t cls = 0; cls < result_.classes(); ++cls) {
      for (std::uint32_t slot = 0; slot < workload_.slots; ++slot) {
        const std::uint32_t end = result_.program[cls] * workload_.slots + slot;
        if (members[end] == kNone) continue;
        const std::uint32_t place = result_.group_position[std::size_t{cls} * workload_.slots + slot];
        visit(first_group[channels_.channel_of[end]] + place,
              Join{offsets_of(cls), &programs_[result_.program[cls]], members[end]});
      }
    }
  };
  for_each_join([&](std::uint32_t group, const Join&) { ++join_begin_[group + 2]; });
  std::inclusive_scan(join_begin_.begin(), join_begin_.end(), join_begin_.begin());
  joins_.resize(join_begin_.back());
  for_each_join([&](std::uint32_t group, const Join& join) { joins_[join_begin_[group + 1]++] = join; });
  for (std::size_t c = 0; c < first_group.size(); ++c)
    channel_tasks_.push_back({first_transfer_.data() + c * requests_, join_begin_.data() + first_group[c],
                              static_cast<std::uint32_t>(positions_.groups[c].size())});
}

/// Per end of a channel: which of the operations of its task groups it has; kNone where there are none.
std::vector<std::uint32_t> Expansion::members_of_ends() const {
  std::vector<std::uint32_t> members(channels_.channel_of.size(), kNone);
  for (const Channel& channel : channels_.channels) {
    if (channel.operations == 0) continue;
    std::uint32_t member = 0;
    for (const OpRef at : task_groups_.operations(channel.first_task_group))
      members[at.program * workload_.slots + op(at).slot] = member++;
  }
  return members;
}

/// Task group by task group, in topological order.
void Expansion::write_tasks() {
  std::vector<ExpandedGraph::TaskGroup> task_groups(task_groups_.order.size());
  ExpandedGraph::TaskGroup* at = task_groups.data();
  for (const std::uint32_t task_group : task_groups_.order) {
    const std::span<const OpRef> operations = task_groups_.operations(task_group);
    const OpRef any = operations.front();
    *at++ = {task_, any.program, any.op};
    if (task_group < channels_.task_groups) {
      write_communication(operations);
    } else {
      write_compute(any);
    }
  }
  result_.task_groups = std::move(task_groups);
  result_.ops = std::move(op_tasks_);
}

void Expansion::write_compute(OpRef at) {
  const ProgramTasks& program = programs_[at.program];
  const std::uint32_t first = task_;
  program.tasks[at.op].first = first;
  for (const std::uint32_t cls : program_classes_[at.program]) {
    write_predecessors(offsets_of(cls), program, at.op);
    close_task(op(at).work);
  }
  if (program.lags[at.op] != kNone) result_.issued.push_back({first, task_, program.lags[at.op]});
}

void Expansion::write_communication(std::span<const OpRef> operations) {
  const OpRef any = operations.front();
  const Op& asks = programs_[any.program].ops[any.op];
  const ChannelTasks& channel =
      channel_tasks_[channels_.channel_of[any.program * workload_.slots + asks.slot]];
  const std::uint32_t first_cost = channel.first_transfer[number_of(request_of(asks))];
  const std::uint32_t first = task_;
  const Join* join = joins_.data() + channel.join_begin[0];
  for (std::uint32_t place = 0; place < channel.groups; ++place) {
    for (const Join* const end = joins_.data() + channel.join_begin[place + 1]; join != end; ++join) {
      const OpRef at = operations[join->member];
      join->program->tasks[at.op].first = first;
      write_predecessors(join->offsets, *join->program, at.op);
    }
    close_task(first_cost + place);
  }
  const std::uint32_t lag = programs_[any.program].lags[any.op];
  if (lag == kNone) return;
  (asks.stream == Stream::host ? result_.issued : result_.issued_passes).push_back({first, task_, lag});
}

}  // namespace

ExpandedGraph expand(const Workload& workload, const Channels& channels, const TaskGroups& task_groups,
                     const ClassPositions& positions) {
  return Expansion(workload, channels, task_groups, positions).expand();
}

}  // namespace orrery
