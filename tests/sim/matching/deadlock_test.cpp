// Checks that deadlocked programs list the cycle of waiting operations, and that programs whose ends do not
// match are refused.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "orrery/error.hpp"
#include "sim/matching/task_groups.hpp"

using namespace orrery;

namespace {

constexpr auto kOut = static_cast<std::uint16_t>(Slot::forward_out);
constexpr auto kIn = static_cast<std::uint16_t>(Slot::forward_in);

/// Two ranks, a program each; each sends to the other.
Workload two_ranks() {
  Workload w;
  w.programs.resize(2);
  w.program_of_rank = {0, 1};
  w.kernel_sequences.resize(1);
  w.messages = {{Collective::send_recv, 8, Dimension::pipeline}};
  w.group_begin = {0, 2, 4};
  w.group_members = {0, 1, 1, 0};
  w.group_of.assign(2 * kSlotCount, kNoGroup);
  w.group_of.edit()[kOut] = w.group_of.edit()[kSlotCount + kIn] = 0;
  w.group_of.edit()[kIn] = w.group_of.edit()[kSlotCount + kOut] = 1;
  return w;
}

Op message(std::uint16_t slot, std::int32_t micro_batch) {
  Op op;
  op.kind = Op::Kind::communicate;
  op.slot = slot;
  op.stream = slot == kOut ? Stream::send_forward : Stream::recv_forward;
  op.part = Part::stage;
  op.micro_batch = micro_batch;
  return op;
}

/// Adds an operation that waits for the one before it.
void append(Program& program, Op op) {
  op.dep_begin = static_cast<std::uint32_t>(program.deps.size());
  if (!program.ops.empty()) program.deps.push_back(static_cast<std::uint32_t>(program.ops.size() - 1));
  op.dep_end = static_cast<std::uint32_t>(program.deps.size());
  program.ops.push_back(op);
}

}  // namespace

TEST_CASE("two stages that both receive before they send: the cycle is printed") {
  Workload w = two_ranks();
  for (Program& program : w.programs.edit()) {
    append(program, message(kIn, 0));
    append(program, message(kOut, 0));
  }
  const Channels channels = match_channels(w);
  std::string text;
  try {
    static_cast<void>(make_task_groups(w, channels));
  } catch (const RunError& error) {
    text = error.what();
  }
  // A send waits for the receive before it, which is the other's send.
  CHECK(text ==
        "deadlock:\n"
        "  stage 0: forward stage of micro-batch 0 (send forward) waits for stage 0: forward stage of "
        "micro-batch 0 (recv forward)\n"
        "  stage 1: forward stage of micro-batch 0 (send forward) waits for stage 1: forward stage of "
        "micro-batch 0 (recv forward)");
}

TEST_CASE("one that sends first breaks the cycle") {
  Workload w = two_ranks();
  append(w.programs.edit()[0], message(kOut, 0));
  append(w.programs.edit()[0], message(kIn, 0));
  append(w.programs.edit()[1], message(kIn, 0));
  append(w.programs.edit()[1], message(kOut, 0));
  const TaskGroups task_groups = make_task_groups(w, match_channels(w));
  CHECK(task_groups.order.size() == 2);
}

TEST_CASE("a message without its other end is a mistake of the schedule") {
  Workload w = two_ranks();
  append(w.programs.edit()[0], message(kOut, 0));
  append(w.programs.edit()[0], message(kIn, 0));
  append(w.programs.edit()[1], message(kIn, 0));
  CHECK_THROWS_AS(static_cast<void>(match_channels(w)), std::logic_error);
}
