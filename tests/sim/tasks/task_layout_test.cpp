// The layout of tasks: number, order, predecessors, counted by hand on two stages of two tensor ranks each.
#include <doctest/doctest.h>

#include <algorithm>
#include <bitset>
#include <random>
#include <utility>
#include <vector>

#include "sim/tasks/expand.hpp"

using namespace orrery;

namespace {

using Tasks = std::vector<std::uint32_t>;

struct Exchange {
  Slot slot;
  Stream stream;
};
constexpr Exchange kTensor{Slot::tensor, Stream::tensor};
constexpr Exchange kSend{Slot::forward_out, Stream::send_forward};
constexpr Exchange kReceive{Slot::forward_in, Stream::recv_forward};
constexpr Exchange kSendBack{Slot::backward_out, Stream::send_backward};
constexpr Exchange kReceiveBack{Slot::backward_in, Stream::recv_backward};

/// Ranks 0 and 1 run program 0, ranks 2 and 3 run program 1. Each pair is a tensor group; ranks 0 and 2
/// exchange messages in both directions, and so do ranks 1 and 3.
struct TwoStages {
  Workload workload;

  TwoStages() {
    workload.programs.resize(2);
    workload.program_of_rank = {0, 0, 1, 1};
    workload.kernel_sequences.resize(2);
    workload.messages.resize(1);
    workload.passes.resize(1);
    workload.group_begin = {0};
    workload.group_of.assign(4 * kSlotCount, kNoGroup);
    add_group(0, Slot::tensor, 1, Slot::tensor);
    add_group(2, Slot::tensor, 3, Slot::tensor);
    for (const std::uint32_t t : {0U, 1U}) add_group(t, Slot::forward_out, 2 + t, Slot::forward_in);
    for (const std::uint32_t t : {0U, 1U}) add_group(2 + t, Slot::backward_out, t, Slot::backward_in);
  }

  void compute(std::uint32_t program, std::vector<std::uint32_t> deps, Stream stream = Stream::compute,
               std::uint32_t work = 0) {
    Op op;
    op.stream = stream;
    op.work = work;
    add(program, op, deps);
  }
  void meet(std::uint32_t program, Exchange meeting, std::vector<std::uint32_t> deps,
            Op::Kind kind = Op::Kind::communicate) {
    Op op;
    op.kind = kind;
    op.stream = meeting.stream;
    op.slot = static_cast<std::uint16_t>(meeting.slot);
    add(program, op, deps);
  }
  [[nodiscard]] ExpandedGraph expand(const Folded& folded) const {
    const Channels channels = match_channels(workload);
    return orrery::expand(workload, channels, make_task_groups(workload, channels),
                          class_positions(workload, channels, folded));
  }
  /// Classes have the numbers of their ranks.
  [[nodiscard]] ExpandedGraph expand() const { return expand(unfolded(workload, {})); }

 private:
  void add_group(std::uint32_t first, Slot first_slot, std::uint32_t second, Slot second_slot) {
    const std::uint32_t group = workload.groups();
    for (const auto& [rank, slot] : {std::pair(first, first_slot), std::pair(second, second_slot)}) {
      workload.group_members.push_back(rank);
      workload.group_of.edit()[rank * kSlotCount + static_cast<std::size_t>(slot)] = group;
    }
    workload.group_begin.push_back(static_cast<std::uint32_t>(workload.group_members.size()));
  }
  void add(std::uint32_t at, Op op, const std::vector<std::uint32_t>& deps) {
    Program& program = workload.programs.edit()[at];
    op.dep_begin = static_cast<std::uint32_t>(program.deps.size());
    program.deps.insert(program.deps.end(), deps.begin(), deps.end());
    op.dep_end = static_cast<std::uint32_t>(program.deps.size());
    program.ops.push_back(op);
  }
};

/// Stage 0 computes, reduces, sends and computes on; stage 1 receives, computes and reduces.
TwoStages forward_pass() {
  TwoStages stages;
  stages.compute(0, {});
  stages.meet(0, kTensor, {0});
  stages.meet(0, kSend, {1});
  stages.compute(0, {}, Stream::compute, 1);
  stages.meet(1, kReceive, {});
  stages.compute(1, {0});
  stages.meet(1, kTensor, {1});
  return stages;
}

Tasks predecessors(const ExpandedGraph& expanded, std::uint32_t cls, std::uint32_t op) {
  const auto list = expanded.graph.predecessors(expanded.task(cls, op));
  return {list.begin(), list.end()};
}

Tasks first_tasks(const ExpandedGraph& expanded) {
  Tasks first;
  for (const ExpandedGraph::TaskGroup& group : expanded.task_groups) first.push_back(group.first_task);
  return first;
}

/// Operations in an order in which they can happen.
TwoStages random_stages(std::uint32_t seed) {
  std::mt19937 random(seed);
  TwoStages stages;
  const auto pick = [&](std::size_t values) { return static_cast<std::uint32_t>(random() % values); };
  const auto dep = [&](std::uint32_t program) {
    const auto& ops = stages.workload.programs[program].ops;
    return ops.empty() ? Tasks{} : Tasks{pick(ops.size())};
  };
  for (int event = 0; event < 40; ++event) {
    const std::uint32_t p = pick(2);
    if (pick(3) == 0) stages.compute(p, dep(p));
    if (pick(3) == 0) stages.meet(p, kTensor, dep(p));
    if (pick(3) > 0) continue;
    stages.meet(p, p == 0 ? kSend : kSendBack, dep(p));
    stages.meet(1 - p, p == 0 ? kReceive : kReceiveBack, dep(1 - p));
  }
  return stages;
}

}  // namespace

TEST_CASE("an operation has a task per rank, or per communicator, side by side") {
  const ExpandedGraph expanded = forward_pass().expand();
  // In the order in which they can run: compute of stage 0 (2 tasks), its reduction (1), its second compute
  // (2), the message (2), compute of stage 1 (2), its reduction (1).
  CHECK(first_tasks(expanded) == Tasks{0, 2, 3, 5, 7, 9});
  CHECK(expanded.graph.tasks() == 10);
  const auto tasks = [&](std::uint32_t rank, std::uint32_t ops) {
    Tasks list;
    for (std::uint32_t op = 0; op < ops; ++op) list.push_back(expanded.task(rank, op));
    return list;
  };
  CHECK(tasks(0, 4) == Tasks{0, 2, 5, 3});
  CHECK(tasks(1, 4) == Tasks{1, 2, 6, 4});
  CHECK(tasks(2, 3) == Tasks{5, 7, 9});
  CHECK(tasks(3, 3) == Tasks{6, 8, 9});
}

TEST_CASE("a task waits for its stream, its dependencies, and those of all ranks that meet in it") {
  const ExpandedGraph expanded = forward_pass().expand();
  CHECK(predecessors(expanded, 1, 0).empty());
  CHECK(predecessors(expanded, 0, 1) == Tasks{0, 1});  // the compute of both ranks
  CHECK(predecessors(expanded, 1, 3) == Tasks{1});     // the compute before it on its own rank
  CHECK(predecessors(expanded, 1, 2) == Tasks{2});     // the reduction; the receiver waits for nothing
  CHECK(predecessors(expanded, 3, 1) == Tasks{6});     // the message of its own rank
  CHECK(predecessors(expanded, 3, 2) == Tasks{7, 8});
  CHECK(expanded.graph.preds.size() == 0 + 2 + (1 + 1) + (1 + 1) + (1 + 1) + 2);
}

TEST_CASE("kernel sequences have the first costs, then each communicator of each call has one") {
  const ExpandedGraph expanded = forward_pass().expand();
  // Costs 0 and 1 are kernel sequences, 2 and 3 the reductions of the stages, 4 and 5 the messages.
  CHECK(expanded.graph.cost == SharedArray<std::uint32_t>{0, 0, 2, 1, 1, 4, 5, 0, 0, 3});
  CHECK(expanded.graph.costs.size() == 6);
}

TEST_CASE(
    "a task names no predecessor twice, nor the one before on its stream if a dependency waits for it") {
  TwoStages stages;
  stages.compute(0, {});
  stages.meet(0, kTensor, {0});
  stages.compute(0, {1});  // the reduction waits for operation 0
  stages.meet(0, kTensor, {});
  stages.compute(0, {3, 3});  // the second reduction does not wait for operation 2
  stages.compute(0, {4, 0});  // operation 0 is a dependency, however early it is
  const ExpandedGraph expanded = stages.expand();
  const auto task = [&](std::uint32_t op) { return expanded.task(0, op); };
  CHECK(predecessors(expanded, 0, 2) == Tasks{task(1)});
  CHECK(predecessors(expanded, 0, 3) == Tasks{task(1), task(1)});  // once for each of its two ranks
  CHECK(predecessors(expanded, 0, 4) == Tasks{task(3), task(2)});
  CHECK(predecessors(expanded, 0, 5) == Tasks{task(4), task(0)});
}

TEST_CASE("compute and passes name the latest operation of the host first, messages do not name it") {
  TwoStages stages;
  stages.compute(0, {}, Stream::host);
  stages.compute(0, {});
  stages.meet(0, kTensor, {1});
  stages.compute(0, {2}, Stream::host);
  stages.compute(0, {2});  // operation 1, before it on its stream, follows from the reduction
  stages.meet(0, kTensor, {4}, Op::Kind::pass);
  const ExpandedGraph expanded = stages.expand();
  const auto task = [&](std::uint32_t rank, std::uint32_t op) { return expanded.task(rank, op); };
  CHECK(predecessors(expanded, 1, 1) == Tasks{task(1, 0)});
  CHECK(predecessors(expanded, 1, 2) == Tasks{task(0, 1), task(1, 1)});
  CHECK(predecessors(expanded, 1, 3) == Tasks{task(1, 0), task(1, 2)});
  CHECK(predecessors(expanded, 1, 4) == Tasks{task(1, 3), task(1, 2)});
  // The pass of both ranks; operation 2, before it on its stream, follows from operation 4.
  CHECK(predecessors(expanded, 1, 5) == Tasks{task(0, 3), task(0, 4), task(1, 3), task(1, 4)});
  // Four operations of two ranks, each with its own lag, and one pass of their group.
  Tasks issued;
  for (const auto& of : expanded.issued) issued.insert(issued.end(), {of.begin, of.end});
  CHECK(issued == Tasks{task(0, 0), task(0, 0) + 2, task(0, 1), task(0, 1) + 2, task(0, 3), task(0, 3) + 2,
                        task(0, 4), task(0, 4) + 2});
  REQUIRE(expanded.issued_passes.size() == 1);
  CHECK(expanded.issued_passes[0].begin == task(0, 5));
}

TEST_CASE("folded, an operation has a task per class, and a group waits for each class once") {
  const TwoStages stages = forward_pass();
  // The tensor ranks of a stage are alike, and so are the messages between them; the groups that send back
  // are never used.
  Folded folded;
  folded.ranks = {{0, 0, 1, 1}, {0, 2}, {2, 2}};
  folded.groups = {{0, 1, 2, 2, 3, 3}, {0, 1, 2, 4}, {1, 1, 2, 2}};
  const ExpandedGraph expanded = stages.expand(folded);
  CHECK(first_tasks(expanded) == Tasks{0, 1, 2, 3, 4, 5});
  // In their order: compute, its reduction, the second compute, the message, compute, its reduction.
  CHECK(expanded.graph.preds == SharedArray<std::uint32_t>{0, 0, 1, 3, 4});
}

TEST_CASE("predecessors have smaller ids, and lead to all that streams and dependencies put before a task") {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const TwoStages stages = random_stages(seed);
    const ExpandedGraph expanded = stages.expand();
    std::vector<std::bitset<256>> before(expanded.graph.tasks());
    for (std::uint32_t task = 0; task < before.size(); ++task) {
      for (const std::uint32_t pred : expanded.graph.predecessors(task)) {
        REQUIRE(pred < task);
        before[task] |= before[pred];
        before[task].set(pred);
      }
    }
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const Program& program = stages.workload.programs[rank / 2];
      for (std::uint32_t o = 0; o < program.ops.size(); ++o) {
        const auto deps = program.dependencies(program.ops[o]);
        for (std::uint32_t earlier = 0; earlier < o; ++earlier) {
          const bool same_stream = program.ops[earlier].stream == program.ops[o].stream;
          if (same_stream || std::ranges::find(deps, earlier) != deps.end())
            CHECK(before[expanded.task(rank, o)][expanded.task(rank, earlier)]);
        }
      }
    }
  }
}
