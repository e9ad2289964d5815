// Checks by hand how much tensor, data and expert traffic slows compute beside it: times in ps, small
// numbers.
#include "sim/tasks/interference.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

using namespace orrery;

namespace {

using Delays = std::vector<Picoseconds>;

/// One program on two ranks that form a group in each slot it uses. Message k takes `messages_ps[k]`.
struct Written {
  Workload workload;
  PriceList prices;
  std::vector<Picoseconds> messages_ps;

  Written() {
    workload.programs.resize(1);
    workload.program_of_rank = {0, 0};
    workload.replicas = 2;
    workload.group_begin = {0};
    workload.group_of.assign(2 * kSlotCount, kNoGroup);
    add_group(Slot::tensor);
    add_group(Slot::data);
  }

  void add_group(Slot slot) {
    for (const std::uint32_t rank : {0u, 1u}) {
      workload.group_members.push_back(rank);
      workload.group_of.edit()[rank * kSlotCount + static_cast<std::size_t>(slot)] = workload.groups();
    }
    workload.group_begin.push_back(static_cast<std::uint32_t>(workload.group_members.size()));
  }

  std::uint32_t add(Op op, std::initializer_list<std::uint32_t> deps) {
    Program& program = workload.programs.edit()[0];
    op.dep_begin = static_cast<std::uint32_t>(program.deps.size());
    program.deps.insert(program.deps.end(), deps);
    op.dep_end = static_cast<std::uint32_t>(program.deps.size());
    program.ops.push_back(op);
    return static_cast<std::uint32_t>(program.ops.size() - 1);
  }

  std::uint32_t compute(Picoseconds duration, std::initializer_list<std::uint32_t> deps = {}) {
    Op op;
    op.work = static_cast<std::uint32_t>(prices.kernel_sequences.size());
    workload.kernel_sequences.emplace_back();
    prices.kernel_sequences.push_back({duration, 0});
    return add(op, deps);
  }

  std::uint32_t communicate(Picoseconds duration, std::initializer_list<std::uint32_t> deps,
                            Stream stream = Stream::data, Slot slot = Slot::data) {
    Op op;
    op.kind = Op::Kind::communicate;
    op.stream = stream;
    op.slot = static_cast<std::uint16_t>(slot);
    op.work = static_cast<std::uint32_t>(messages_ps.size());
    workload.messages.emplace_back();
    messages_ps.push_back(duration);
    return add(op, deps);
  }

  Delays delays(double share) {
    const Channels channels = match_channels(workload);
    prices.interference = share;
    for (const Call& call : channels.calls)
      prices.calls.push_back({{0}, {Cost{messages_ps[call.request.work], 0, 0}}, {}, nullptr});
    Interference interference(workload, channels, prices,
                              std::make_shared<const InterferenceOrders>(interference_orders(workload)));
    const auto delays = interference.of(1);
    return {delays.begin(), delays.end()};
  }
};

}  // namespace

TEST_CASE("compute loses its share while something is busy beside it") {
  BusyTimes busy;
  busy.add(100, 200);
  busy.add(150, 300);  // meets the first: busy from 100 to 300, not twice
  busy.add(1000, 1100);
  // 50 before 100, the other 50 at half the pace.
  CHECK(busy.finish(50, 100, 0.5) == 200);
  // At three quarters of the pace from 200 to 300: 75 of 80 are done, 5 follow.
  CHECK(busy.finish(200, 80, 0.25) == 305);
  // Nothing beside it.
  CHECK(busy.finish(305, 695, 0.5) == 1000);
  // Slowed for all of it: 30 / (1 - 0.4).
  CHECK(busy.finish(1000, 30, 0.4) == 1050);
  CHECK(busy.finish(2000, 10, 0.4) == 2010);
}

TEST_CASE("a collective that ends beside one operation costs its share of the time it takes") {
  Written w;
  const auto first = w.compute(1000);
  w.communicate(400, {first});
  w.compute(1000);  // 400 at 0.75 of the pace: 100 later
  w.compute(1000);
  CHECK(w.delays(0.25) == Delays{0, 0, 100, 0});
}

TEST_CASE("one that lasts slows all that runs beside it, and what waits for it not at all") {
  Written w;
  const auto first = w.compute(1000);
  const auto collective = w.communicate(900, {first});
  w.compute(300);  // 300 / 0.75 = 400
  w.compute(300);  // until 1800
  w.compute(300);  // 100 left, in which 75 are done; 225 follow
  w.compute(300, {collective});
  CHECK(w.delays(0.25) == Delays{0, 0, 100, 100, 25, 0});
}

TEST_CASE("what waits for a collective is not beside it") {
  Written w;
  const auto first = w.compute(1000);
  const auto collective = w.communicate(400, {first});
  w.compute(1000, {collective});
  CHECK(w.delays(0.25) == Delays{0, 0, 0});
}

TEST_CASE("a gather is beside the block before the one that waits for it, though written after it") {
  Written w;
  const auto gather1 = w.communicate(100, {});
  const auto block1 = w.compute(1000, {gather1});
  const auto gather2 = w.communicate(200, {gather1});  // beside block 1, from 100 to 300
  const auto block2 = w.compute(1000, {gather2});
  const auto gather3 = w.communicate(200, {block1});  // beside block 2
  w.compute(1000, {gather3, block2});
  CHECK(w.delays(0.5) == Delays{0, 100, 0, 100, 0, 0});
}

TEST_CASE("messages between stages let time pass but slow nothing") {
  Written w;
  const auto first = w.compute(1000);
  w.communicate(400, {first});
  const auto input = w.communicate(300, {first}, Stream::recv_forward, Slot::tensor);
  w.compute(1000, {input});  // 100 of the 400 are left
  CHECK(w.delays(0.5) == Delays{0, 0, 0, 50});
}

TEST_CASE("tensor and expert traffic slow compute as that of replicas does, all at once not more") {
  for (const Stream stream : {Stream::tensor, Stream::expert}) {
    Written w;
    const auto first = w.compute(1000);
    w.communicate(300, {first}, stream, Slot::tensor);
    w.communicate(400, {first});
    w.compute(1000);  // 400 at half the pace
    CHECK(w.delays(0.5) == Delays{0, 0, 0, 200});
  }
}

TEST_CASE("a gather beside a reduction of the same ranks slows compute once, and as long as either runs") {
  Written w;
  const auto first = w.compute(1000);
  w.communicate(400, {first});
  w.communicate(600, {first}, Stream::gather);
  w.compute(1000);  // 600 at half the pace
  CHECK(w.delays(0.5) == Delays{0, 0, 0, 300});
}

TEST_CASE("collectives of one stream follow each other") {
  Written w;
  const auto first = w.compute(100);
  w.communicate(400, {first});
  const auto second = w.compute(100);  // 200, until 300
  w.communicate(400, {second});        // from 500 to 900
  w.compute(1000);                     // busy from 300 to 900: 300 done, 700 follow
  CHECK(w.delays(0.5) == Delays{0, 0, 100, 0, 300});
}

TEST_CASE("neighbours of a mixing graph at once cost as much as one") {
  Written w;
  const auto first = w.compute(100);
  w.workload.streams = kStreamCount + 2;
  w.communicate(400, {first}, send_stream(0), Slot::data);
  w.compute(1000);
  CHECK(w.delays(0.5) == Delays{0, 0, 200});
}

TEST_CASE("without a share nothing is slowed") {
  Written w;
  w.communicate(400, {});
  w.compute(1000);
  const Channels channels = match_channels(w.workload);
  CHECK(!Interference(w.workload, channels, w.prices, nullptr).any());
}
