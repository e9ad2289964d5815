// Tests when weights and their gradients move: reductions, gathers, parameters gathered ahead and kept, and
// memory.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/weights/weight_traffic.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;

namespace {

struct WeightsMoved {
  std::int64_t operations = 0;
  Bytes bytes = 0;
  bool operator==(const WeightsMoved&) const = default;
};

/// Gathers of a program, or sums of gradients, each on their stream.
WeightsMoved weights_moved(const Workload& w, Collective what, std::size_t program = 0) {
  WeightsMoved out;
  const Stream stream = what == Collective::all_gather ? Stream::gather : Stream::data;
  for (const Op& op : w.programs[program].ops) {
    if (op.stream != stream || w.messages[op.work].collective != what) continue;
    out.operations += w.messages[op.work].times;
    out.bytes += w.messages[op.work].bytes * w.messages[op.work].times;
  }
  return out;
}

constexpr std::int64_t kTable = 4096 * 512;  // parameters of the embedding that the head uses too

/// Four replicas of a model of one stage, with three micro-batches each.
Experiment four_replicas(int zero) {
  Experiment e = experiment(gpt(8, 512, 8, 256, 4096), 1, 1, 4, 3);
  e.plan.zero_stage = zero;
  return e;
}

std::int64_t parameters(const Experiment& e) { return stage_memory(e)[0].parameters_count; }

/// Parameters of a layer: four matrices of 12 h^2 weights, their biases and two norms.
constexpr std::int64_t kLayer = 12 * 512 * 512 + 13 * 512;

}  // namespace

TEST_CASE("gradients are reduced once a step or with every micro-batch, under every ZeRO stage") {
  for (const int zero : {0, 1, 2, 3}) {
    for (const double bucket_mb : {0.0, 1.0, 40.0}) {
      for (const bool overlap : {false, true}) {
        CAPTURE(zero);
        CAPTURE(bucket_mb);
        CAPTURE(overlap);
        Experiment e = four_replicas(zero);
        e.plan.bucket_mb = bucket_mb;
        e.plan.overlap_gradient_reduce = overlap;
        const Bytes all = 2 * parameters(e);
        const Collective reduces = zero == 0 ? Collective::all_reduce : Collective::reduce_scatter;
        const WeightsMoved by_stage = weights_moved(lower(e), reduces);
        e.plan.gradient_reduction = GradientReduction::every_step;
        const WeightsMoved once = weights_moved(lower(e), reduces);
        CHECK(once.bytes == all);
        e.plan.gradient_reduction = GradientReduction::every_micro_batch;
        const WeightsMoved each = weights_moved(lower(e), reduces);
        CHECK(each.bytes == 3 * all);
        CHECK(by_stage == (zero < 2 ? once : each));
        if (zero == 3) CHECK(each.operations == 3 * once.operations);  // unit by unit
      }
    }
  }
}

TEST_CASE("gradients that are added up first are whole") {
  for (const int zero : {2, 3}) {
    Experiment e = four_replicas(zero);
    const std::int64_t p = parameters(e);
    const StageMemory sharded = stage_memory(e)[0];
    CHECK(sharded.gradients == 2 * p / 4);
    e.plan.gradient_reduction = GradientReduction::every_step;
    const StageMemory whole = stage_memory(e)[0];
    CHECK(whole.gradients == 2 * p);
    CHECK(whole.parameters == sharded.parameters);
    CHECK(whole.optimizer() == sharded.optimizer());
    // Nothing waits whole for its reduction, as a bucket of 40 MB does with ZeRO-2.
    CHECK(whole.workspace.gradient_buckets == 0);
    if (zero == 2) CHECK(sharded.workspace.gradient_buckets == 40'000'000);
  }
}

TEST_CASE("parameters kept after the forward pass are gathered as seldom as FSDP does") {
  Experiment e = four_replicas(3);
  const Bytes once = 2 * (parameters(e) + kTable);
  const auto gathered = [&] { return weights_moved(lower(e), Collective::all_gather); };
  CHECK(gathered() == WeightsMoved{2 * 3 * 10, 2 * 3 * once});
  e.plan.reshard_after_forward = false;
  CHECK(gathered() == WeightsMoved{3 * 10, 3 * once});
  e.plan.gradient_reduction = GradientReduction::every_step;  // no_sync
  CHECK(gathered() == WeightsMoved{10, once});
  e.plan.reshard_after_forward = true;
  CHECK(gathered() == WeightsMoved{2 * 3 * 10, 2 * 3 * once});
}

TEST_CASE("in a pipeline a forward pass uses what one before it left gathered") {
  // 1F1B, two stages, four micro-batches. Stage 0: F F B F B F B B. Backward passes drop: gathered by the
  // first, third and fourth F and the last B. Stage 1: F B F B F B F B, by each F.
  Experiment e = experiment(gpt(8, 512, 8, 256, 4096), 1, 2, 4, 4);
  e.plan.zero_stage = 3;
  e.plan.reshard_after_forward = false;
  const auto gathers = [&](std::size_t program) {
    return weights_moved(lower(e), Collective::all_gather, program).operations;
  };
  CHECK(gathers(0) == 4 * 5);
  CHECK(gathers(1) == 4 * 5);
  e.plan.pipeline_schedule = "gpipe";  // F F F F B B B B: by the first F, and all B but the first
  CHECK(gathers(0) == 4 * 5);
  e.plan.gradient_reduction = GradientReduction::every_step;
  CHECK(gathers(0) == 5);
  CHECK(gathers(1) == 5);
}

TEST_CASE("layers in one unit are gathered and reduced together") {
  Experiment e = four_replicas(3);
  const WeightsMoved gathers = weights_moved(lower(e), Collective::all_gather);
  const WeightsMoved reductions = weights_moved(lower(e), Collective::reduce_scatter);
  e.plan.fsdp_unit_layers = 3;  // 8 layers are 3 units, embedding and head two more
  const Workload w = lower(e);
  CHECK(weights_moved(w, Collective::all_gather) == WeightsMoved{2 * 3 * 5, gathers.bytes});
  CHECK(weights_moved(w, Collective::reduce_scatter) == WeightsMoved{3 * 5, reductions.bytes});
  e.plan.fsdp_unit_layers = 100;
  CHECK(weights_moved(lower(e), Collective::all_gather) == WeightsMoved{2 * 3 * 3, gathers.bytes});
}

TEST_CASE("a unit is gathered when the one that lies prefetch + 1 before it has run") {
  for (const std::int64_t prefetch : {0, 1, 2, 5}) {
    CAPTURE(prefetch);
    Experiment e = four_replicas(3);
    e.plan.global_batch_size = 4;
    e.plan.prefetch = prefetch;
    const Workload w = lower(e);
    const Program& program = w.programs[0];
    std::vector<std::uint32_t> ends;  // of the blocks of the forward pass: the last operation before a gather
    std::vector<std::uint32_t> gathers;
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < program.ops.size() && gathers.size() < 10; ++i) {
      const Op& op = program.ops[i];
      if (op.stream == Stream::compute) last = i;
      if (op.stream != Stream::gather) continue;
      if (!gathers.empty()) ends.push_back(last);
      gathers.push_back(i);
    }
    for (std::size_t unit = 0; unit < gathers.size(); ++unit) {
      const auto deps = program.dependencies(program.ops[gathers[unit]]);
      const auto before = static_cast<std::size_t>(prefetch) + 1;
      if (unit < before) {
        CHECK(deps.empty());
      } else {
        REQUIRE(deps.size() == 1);
        CHECK(deps[0] == ends[unit - before]);
      }
    }
  }
}

TEST_CASE("memory holds the gathered units: the one that runs, those ahead, or all") {
  Experiment e = experiment(gpt(8, 512, 8, 256, 4096), 1, 4, 4, 3);
  e.plan.zero_stage = 3;
  const auto workspace = [&] {  // of two layers
    const WorkspaceBytes held = stage_memory(e)[1].workspace;
    return held.gathered_parameters + held.gradient_buckets;
  };
  CHECK(workspace() == 2 * kLayer + 2 * kLayer);  // parameters and gradients of a layer
  e.plan.overlap_parameter_gather = true;
  CHECK(workspace() == 2 * kLayer + 2 * 2 * kLayer);
  e.plan.prefetch = 7;  // more than there are
  CHECK(workspace() == 2 * kLayer + 2 * 2 * kLayer);
  e.plan.prefetch = 0;
  CHECK(workspace() == 2 * kLayer + 2 * kLayer);
  e.plan.fsdp_unit_layers = 2;
  CHECK(workspace() == 2 * 2 * kLayer + 2 * 2 * kLayer);
  e.plan.fsdp_unit_layers = 1;
  e.plan.reshard_after_forward = false;
  CHECK(workspace() == 2 * kLayer + 2 * 2 * kLayer);
}

TEST_CASE("at the loss no unit is gathered ahead, and its gradients are the first") {
  Experiment e = four_replicas(3);  // embedding, eight layers, head
  e.plan.prefetch = 2;
  const auto blocks = [&] {
    const Outline outlined = outline(e, CommunicatorLayout(e, {}));
    const auto all = outlined.stages.list()[0].chunks[0].blocks;
    return std::vector<PlacedBlock>(all.begin(), all.end());
  };
  const std::int64_t head = blocks().back().used;
  CHECK(blocks()[9].gathered_ahead == 2 * head);
  CHECK(blocks()[9].gathered_back == 2 * head);
  CHECK(blocks()[8].gathered_ahead == 2 * (kLayer + head));
  CHECK(blocks()[8].gathered_back == 2 * 3 * kLayer);
  CHECK(blocks()[8].unreduced == 2 * kLayer);
  // Gradients of the previous unit are still in flight beside it.
  e.plan.overlap_gradient_reduce = true;
  CHECK(blocks()[9].unreduced == 2 * blocks()[9].trained);
  CHECK(blocks()[8].unreduced == 2 * (kLayer + blocks()[9].trained));
  CHECK(blocks()[7].unreduced == 2 * 2 * kLayer);
}

TEST_CASE("the traffic told of a stage is that of its program") {
  const std::vector<std::string> schedules{"sequential",       "gpipe", "1f1b",
                                           "interleaved-1f1b", "zb-h1", "zb-v"};
  for (const std::string& schedule : schedules) {
    for (const int zero : {0, 1, 2, 3}) {
      for (const auto reduction : {GradientReduction::every_step, GradientReduction::every_micro_batch}) {
        for (const bool reshard : {true, false}) {
          CAPTURE(schedule);
          CAPTURE(zero);
          CAPTURE(reshard);
          Experiment e = experiment(gpt(8, 512, 8, 256, 4096), 1, 2, 4, 6);
          e.model.tied_embeddings = false;
          e.plan.pipeline_schedule = schedule;
          e.plan.virtual_stages = schedule == "interleaved-1f1b" || schedule == "zb-v" ? 2 : 1;
          e.plan.zero_stage = zero;
          e.plan.gradient_reduction = reduction;
          e.plan.reshard_after_forward = reshard;
          const Workload w = lower(e);
          const Outline outlined = outline(e, CommunicatorLayout(e, {}));
          for (std::size_t s = 0; s < 2; ++s) {
            const WeightTraffic told = weight_traffic(e, outlined.stages.list()[s]);
            CHECK(told.gathered == weights_moved(w, Collective::all_gather, s).bytes);
            CHECK(told.reduced ==
                  weights_moved(w, zero == 0 ? Collective::all_reduce : Collective::reduce_scatter, s).bytes);
          }
        }
      }
    }
  }
}
