// Checks programs of schedules that place chunks in a V, or two copies of the model in opposite directions:
// they do the work of 1F1B's programs, send all that neighbours need, and keep the memory of their order.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/workloads/activations.hpp"
#include "tests/workloads/models.hpp"
#include "tests/workloads/schedule_runner.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;
using orrery::test::llama;

namespace {

constexpr std::array kPlacements{"zb-v", "v-half", "v-min", "dualpipe-v", "dualpipe"};

Experiment with(Experiment e, const std::string& schedule) {
  e.plan.pipeline_schedule = schedule;
  const std::int64_t chunks = schedule_of(e.plan).chunks;
  e.plan.virtual_stages = chunks == kAnyChunks ? 2 : chunks;
  return e;
}

/// FLOPs of matrix products and bytes of other kernels, of all passes and ranks of a pipeline.
std::pair<Int128, Int128> work_of(const Workload& w) {
  std::pair<Int128, Int128> sum;
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops) {
      if (op.kind != Op::Kind::compute || op.phase == Phase::optimize || op.stream == Stream::host) continue;
      for (const Kernel& k : w.kernel_sequences[op.work].kernels) {
        sum.first += k.flops;
        sum.second += k.bytes;
      }
    }
  }
  return sum;
}

std::int64_t sends(const Workload& w) {
  std::int64_t count = 0;
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops)
      count += op.stream == Stream::send_forward || op.stream == Stream::send_backward ||
               op.stream == Stream::reverse_send_forward || op.stream == Stream::reverse_send_backward;
  }
  return count;
}

std::int64_t parameters(const Workload& w) {
  std::int64_t sum = 0;
  for (const StageMemory& stage : w.stage_memory) sum += stage.parameters_count;
  return sum;
}

std::int64_t reductions(const Workload& w, Part part) {
  std::int64_t count = 0;
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops)
      count += op.stream == Stream::data && op.kind == Op::Kind::communicate && op.part == part;
  }
  return count;
}

}  // namespace

TEST_CASE("chunks in other places do the work of 1F1B") {
  for (const Model& model : {gpt(8, 512, 8, 256, 4096), llama(8, 512, 1536, 8, 2, 256, 4096)}) {
    const Experiment e = experiment(model, 2, 4, 2, 16);
    const auto usual = work_of(lower(e));
    for (const char* schedule : kPlacements) {
      CAPTURE(schedule);
      CHECK(work_of(lower(with(e, schedule))) == usual);
    }
  }
}

TEST_CASE("a micro-batch crosses ranks as often as virtual stages that are neighbours lie on two of them") {
  // p = 4, m = 16, forward and back: (p - 1) crossings of one copy, vp - 1 of chunks in turn, 2 (p - 1) of a
  // V.
  const Experiment e = experiment(gpt(8, 128, 4, 64, 512), 1, 4, 1, 16);
  CHECK(sends(lower(e)) == 2 * 16 * 3);
  CHECK(sends(lower(with(e, "interleaved-1f1b"))) == 2 * 16 * 7);
  for (const char* schedule : {"zb-v", "v-half", "v-min", "dualpipe-v"})
    CHECK(sends(lower(with(e, schedule))) == 2 * 16 * 6);
  CHECK(sends(lower(with(e, "dualpipe"))) == 2 * 16 * 3);
  CHECK(sends(lower(with(experiment(gpt(8, 128, 4, 64, 512), 1, 1, 1, 16), "zb-v"))) == 0);
}

TEST_CASE("what passes keep is at its peak what the order says") {
  for (const char* schedule : kPlacements) {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      for (const Detail detail : {Detail::layer, Detail::stage}) {
        CAPTURE(schedule);
        Experiment e = with(experiment(gpt(8, 256, 4, 128, 1024), 1, 4, 1, 24), schedule);
        e.plan.recompute = recompute;
        e.simulation.detail = detail;
        test::check_activations(lower(e));
      }
    }
  }
}

TEST_CASE("activations of schedules in a V are shares of those of 1F1B") {
  // Without head and embedding on ranks of their own, a rank of 1F1B keeps p micro-batches of two layers, and
  // one of a V as many passes over one layer as the papers say: 2p, 2 ((p + 2) / 2), 2 ((p + 4) / 3).
  const auto middle = [](const Experiment& e) { return stage_memory(e)[1].activations.total(); };
  const Model model = gpt(16, 512, 8, 256, 4096);
  const Bytes sbh = 256 * 512, layer = 34 * sbh + 5 * 8 * 256 * 256;
  struct Share {
    const char* schedule;
    Bytes passes;
  };
  for (const Share& share : {Share{"zb-v", 16}, Share{"v-half", 10}, Share{"v-min", 8}}) {
    CAPTURE(share.schedule);
    const Bytes kept = middle(with(experiment(model, 1, 8, 1, 32), share.schedule));
    CHECK(kept <= share.passes * layer);
    CHECK(kept > (share.passes - 4) * layer);
  }
}

TEST_CASE("both ends of a V lie on one rank, which needs one copy of a tied embedding") {
  const Experiment e = experiment(gpt(8, 128, 4, 64, 512), 1, 4, 2, 16);
  const Workload apart = lower(e);
  const Workload v = lower(with(e, "zb-v"));
  CHECK(reductions(apart, Part::embedding) == 2);
  CHECK(reductions(v, Part::embedding) == 0);
  CHECK(parameters(v) == parameter_count(e.model));
  CHECK(parameters(apart) == parameters(v) + 512 * 128);
  CHECK(v.stage_memory[0].parameters_count > v.stage_memory[3].parameters_count);
}

TEST_CASE("DualPipe holds the model twice, and mirror images add up their gradients") {
  for (const std::int64_t replicas : {1, 2}) {
    const Experiment e = with(experiment(gpt(8, 128, 4, 64, 512), 1, 4, replicas, 16), "dualpipe");
    const Workload w = lower(e);
    CHECK(parameters(w) == 2 * parameter_count(e.model));
    for (std::size_t r = 0; r < 4; ++r)
      CHECK(w.stage_memory[r].parameters_count == w.stage_memory[3 - r].parameters_count);
    CHECK(reductions(w, Part::bucket) == 4);
    const std::uint16_t slot = SlotNumbers(CommunicatorLayout(e, {}).spec())[Slot::data];
    for (std::uint32_t rank = 0; rank < 4 * replicas; ++rank) {
      const std::uint32_t group = w.group_of[std::size_t{rank} * w.slots + slot];
      CHECK(w.group_begin[group + 1] - w.group_begin[group] == 2 * replicas);
    }
  }
}

TEST_CASE("ranks of an odd list of layers hold what the list says, in the order of the model") {
  Experiment e = with(experiment(gpt(7, 128, 4, 64, 512), 1, 2, 1, 8), "zb-v");
  e.plan.stage_layers = {0, 3, 3, 1};
  const Workload w = lower(e);
  // Rank 0 has virtual stages 0 (the embedding alone) and 3 (one layer and the loss), rank 1 has 3 + 3
  // layers.
  const std::int64_t h = 128, layer = 12 * h * h + 13 * h;
  CHECK(w.stage_memory[1].parameters_count == 6 * layer);
  CHECK(w.stage_memory[0].parameters_count == parameter_count(e.model) - 6 * layer);
}
