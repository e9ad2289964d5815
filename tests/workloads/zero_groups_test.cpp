// ZeRO within groups of replicas (hybrid sharding): who meets, which bytes, what memory.
#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;

namespace {

/// 8 replicas of 2 tensor ranks, in groups of 4.
Experiment in_groups(int zero, std::int64_t group) {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 2, 1, 8, 2);
  e.plan.zero_stage = zero;
  e.plan.zero_group_size = group;
  e.plan.bucket_mb = 0;
  return e;
}

struct Moved {
  std::int64_t count = 0;
  Bytes bytes = 0;
  std::size_t members = 0;  ///< of the group of rank 0
};

/// Gathers, sums in a group and sums over the copies run on a stream each.
Stream stream_of(Collective what) {
  if (what == Collective::all_gather) return Stream::gather;
  return what == Collective::reduce_scatter ? Stream::data : Stream::copies;
}

/// By collective, on the streams that move weights of the first program.
std::map<Collective, Moved> moved(const Workload& w) {
  std::map<Collective, Moved> out;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != Op::Kind::communicate || w.messages[op.work].dimension != Dimension::data) continue;
    CHECK(op.stream == stream_of(w.messages[op.work].collective));
    const Message& message = w.messages[op.work];
    Moved& one = out[message.collective];
    ++one.count;
    one.bytes += message.bytes;
    one.members = w.members(w.group(0, op.slot)).size();
  }
  return out;
}

using Ranks = std::vector<std::uint32_t>;

Ranks meets(const Workload& w, std::uint32_t rank, Collective what) {
  for (const Op& op : w.programs[0].ops) {
    if (op.stream != stream_of(what) || w.messages[op.work].collective != what) continue;
    const auto members = w.members(w.group(rank, op.slot));
    return {members.begin(), members.end()};
  }
  return {};
}

}  // namespace

TEST_CASE("gradients are scattered in a group and summed over the copies, parameters gathered in a group") {
  const Workload w = lower(in_groups(1, 4));
  const std::int64_t p = stage_memory(in_groups(1, 4))[0].parameters_count;
  auto of = moved(w);
  CHECK(of[Collective::reduce_scatter].bytes == 2 * p);
  CHECK(of[Collective::reduce_scatter].members == 4);
  CHECK(of[Collective::all_reduce].bytes == 2 * p / 4);
  CHECK(of[Collective::all_reduce].members == 2);
  CHECK(of[Collective::all_gather].bytes == 2 * p);
  CHECK(of[Collective::all_gather].members == 4);
  // Rank 2 d + t is tensor rank t of replica d.
  CHECK(meets(w, 0, Collective::reduce_scatter) == Ranks{0, 2, 4, 6});
  CHECK(meets(w, 11, Collective::all_gather) == Ranks{9, 11, 13, 15});
  CHECK(meets(w, 0, Collective::all_reduce) == Ranks{0, 8});
  CHECK(meets(w, 7, Collective::all_reduce) == Ranks{7, 15});
}

TEST_CASE("ZeRO-2 and 3 sum over the copies as often as they scatter") {
  for (const int zero : {2, 3}) {
    const Workload w = lower(in_groups(zero, 4));
    auto of = moved(w);
    CHECK(of[Collective::all_reduce].count == of[Collective::reduce_scatter].count);
    CHECK(of[Collective::all_reduce].bytes == of[Collective::reduce_scatter].bytes / 4);
  }
}

TEST_CASE("a group of all replicas is ZeRO as ever") {
  for (const int zero : {1, 2, 3}) {
    const Workload all = lower(in_groups(zero, 8));
    const Workload none = lower(in_groups(zero, 0));
    CHECK(all.messages == none.messages);
    CHECK(all.group_members == none.group_members);
    CHECK(all.slots == none.slots);
    CHECK(stage_memory(in_groups(zero, 8))[0].total() == stage_memory(in_groups(zero, 0))[0].total());
  }
}

TEST_CASE("memory is divided by the size of a group") {
  const auto of = [](int zero, std::int64_t group) { return stage_memory(in_groups(zero, group))[0]; };
  const std::int64_t p = of(0, 0).parameters_count;
  REQUIRE(p % 4 == 0);
  CHECK(of(1, 4).optimizer() == 12 * p / 4);
  CHECK(of(1, 4).gradients == 2 * p);
  CHECK(of(2, 2).gradients == 2 * p / 2);
  CHECK(of(3, 4).parameters == 2 * p / 4);
  CHECK(of(1, 1).optimizer() == 12 * p);
}

TEST_CASE("tied embeddings are summed by shard") {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 1, 2, 8, 2);
  e.plan.zero_stage = 1;
  e.plan.zero_group_size = 4;
  const Workload w = lower(e);
  for (const Op& op : w.programs[0].ops) {
    if (op.part == Part::embedding && op.kind == Op::Kind::communicate)
      CHECK(w.messages[op.work].bytes == 2 * 4096 * 512 / 4);
  }
}
