// Checks the communication of programs: tensor, pipeline and data traffic against the papers' formulas.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "orrery/rank_grid.hpp"
#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;

namespace {

struct Count {
  int operations = 0;
  Bytes bytes = 0;
  bool operator==(const Count&) const = default;
};

template <class Pick>
Count count(const Workload& w, std::size_t program, Pick pick) {
  Count result;
  for (const Op& op : w.programs[program].ops) {
    if (op.kind != Op::Kind::communicate || !pick(op, w.messages[op.work])) continue;
    ++result.operations;
    result.bytes += w.messages[op.work].bytes;
  }
  return result;
}

Count layer_tensor(const Workload& w, Collective what) {
  return count(w, 0, [&](const Op& op, const Message& m) {
    return op.layer == 0 && m.dimension == Dimension::tensor && m.collective == what;
  });
}

Experiment chain(std::vector<MatrixPartition> cuts, std::int64_t width, std::int64_t tokens,
                 std::int64_t ranks) {
  Model model;
  model.kind = ModelKind::mlp;
  model.layers = static_cast<std::int64_t>(cuts.size());
  model.hidden = width;
  model.seq_length = tokens;
  model.widths.assign(cuts.size() + 1, width);
  Experiment e = experiment(model, ranks, 1, 1, 1);
  e.plan.tensor_partition = std::move(cuts);
  return e;
}

/// The collectives of a phase in order, such as "reduce-scatter all-reduce".
std::string collectives(const Workload& w, Phase phase) {
  std::string text;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != Op::Kind::communicate || op.phase != phase) continue;
    if (!text.empty()) text += ' ';
    text += kCollectiveNames[static_cast<std::size_t>(w.messages[op.work].collective)];
  }
  return text;
}

constexpr auto kColumn = MatrixPartition::column;
constexpr auto kRow = MatrixPartition::row;

}  // namespace

TEST_CASE("tensor parallelism moves four all-reduces of sbh a layer, six with full recompute") {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 4, 1, 1, 1, 2);
  const Bytes sbh = 256 * 2 * 512 * 2;  // in 16 bits
  CHECK(layer_tensor(lower(e), Collective::all_reduce) == Count{4, 4 * sbh});
  e.plan.recompute = Recompute::full;
  CHECK(layer_tensor(lower(e), Collective::all_reduce) == Count{6, 6 * sbh});
  e.plan.recompute = Recompute::none;
  e.plan.sequence_parallel = true;
  // Each all-reduce becomes an all-gather and a reduce-scatter; the backward pass gathers inputs again.
  const Workload w = lower(e);
  CHECK(layer_tensor(w, Collective::all_reduce) == Count{});
  CHECK(layer_tensor(w, Collective::reduce_scatter) == Count{4, 4 * sbh});
  CHECK(layer_tensor(w, Collective::all_gather) == Count{6, 6 * sbh});
  e.plan.sequence_parallel = false;
  e.model.parallel_block = true;
  CHECK(layer_tensor(lower(e), Collective::all_reduce) == Count{2, 2 * sbh});
  e.plan.tensor_parallel = 1;
  CHECK(layer_tensor(lower(e), Collective::all_reduce) == Count{});
}

TEST_CASE("a chain of matrices communicates as its cuts demand") {
  const Bytes vector = 64 * 1024 * 2;
  const auto expect = [&](std::vector<MatrixPartition> cuts, const char* forward, const char* backward) {
    const Workload w = lower(chain(std::move(cuts), 1024, 64, 2));
    CHECK(collectives(w, Phase::forward) == forward);
    CHECK(collectives(w, Phase::backward) == backward);
    for (const Message& m : w.messages) CHECK(m.bytes == vector);
  };
  // The slides' y = W3 W2 W1 x. Partition 1: W1 upper/lower, W2 and W3 left/right.
  expect({kColumn, kRow, kRow}, "reduce-scatter all-reduce", "all-gather");
  // Partition 2: W1 and W2 upper/lower, W3 left/right.
  expect({kColumn, kColumn, kRow}, "all-gather all-reduce", "reduce-scatter");
  // The sharding note's Y = ABC: both by columns need Y and AB whole, column then row one sum.
  expect({kColumn, kColumn}, "all-gather all-gather", "reduce-scatter");
  expect({kColumn, kRow}, "all-reduce", "");
  expect({kRow, kColumn}, "all-reduce all-gather", "all-reduce");
}

TEST_CASE("pipeline messages: an activation per boundary and micro-batch, cut over tensor ranks") {
  Experiment e = experiment(gpt(8, 512, 8, 256, 4096), 2, 4, 1, 8);
  const Bytes sbh = 256 * 512 * 2;
  const auto sent = [](const Op& op, const Message& m) {
    return m.collective == Collective::send_recv &&
           (op.stream == Stream::send_forward || op.stream == Stream::send_backward);
  };
  const auto gathered = [](const Op& op, const Message& m) {
    return op.part == Part::stage && m.collective == Collective::all_gather;
  };
  Workload w = lower(e);
  CHECK(count(w, 0, sent) == Count{8, 8 * sbh / 2});
  CHECK(count(w, 1, sent) == Count{16, 16 * sbh / 2});
  CHECK(count(w, 1, gathered) == Count{16, 16 * sbh});
  e.plan.scatter_gather = false;
  w = lower(e);
  CHECK(count(w, 0, sent) == Count{8, 8 * sbh});
  CHECK(count(w, 0, gathered) == Count{});
  e.plan.scatter_gather = true;
  e.plan.sequence_parallel = true;
  w = lower(e);
  CHECK(count(w, 0, sent) == Count{8, 8 * sbh / 2});
  CHECK(count(w, 0, gathered) == Count{});
  e.plan.pipeline_schedule = "interleaved-1f1b";
  e.plan.virtual_stages = 2;
  // Seven boundaries between eight virtual stages: stage 0 sends two forward and one backward.
  CHECK(count(lower(e), 0, sent) == Count{24, 24 * sbh / 2});
}

TEST_CASE("a gradient crosses a pipeline boundary as the next matrix leaves it") {
  // Columns then columns: the activation is made whole, its gradient is scattered again.
  Experiment e = chain({kColumn, kColumn}, 1024, 64, 2);
  e.plan.pipeline_parallel = 2;
  const Bytes vector = 64 * 1024 * 2;
  for (const bool scatter_gather : {true, false}) {
    e.plan.scatter_gather = scatter_gather;
    const Workload w = lower(e);
    const auto sent = [](Stream stream) {
      return [stream](const Op& op, const Message&) { return op.stream == stream; };
    };
    CHECK(count(w, 0, sent(Stream::send_forward)) == Count{1, scatter_gather ? vector / 2 : vector});
    CHECK(count(w, 1, sent(Stream::send_backward)) == Count{1, vector / 2});
    const auto gathered = [](const Op& op, const Message&) {
      return op.part == Part::stage && op.stream == Stream::tensor;
    };
    CHECK(count(w, 0, gathered) == Count{});
    CHECK(count(w, 1, gathered) == (scatter_gather ? Count{1, vector} : Count{}));
  }
  // Rows then columns: partial sums are made whole, and so is the gradient.
  e.plan.tensor_partition = {kRow, kColumn};
  const Workload w = lower(e);
  CHECK(count(w, 0, [](const Op& op, const Message& m) {
          return op.part == Part::stage && op.phase == Phase::backward &&
                 m.collective == Collective::all_gather;
        }) == Count{});
  CHECK(count(w, 1, [](const Op& op, const Message&) { return op.stream == Stream::send_backward; }) ==
        Count{1, vector});
}

TEST_CASE("sequence parallelism: a weight gradient waits for its gathered input") {
  Experiment e = experiment(gpt(2, 512, 8, 256, 4096), 2, 1, 1, 1);
  e.plan.sequence_parallel = true;
  for (const bool overlap : {false, true}) {
    e.plan.overlap_tensor_parallel = overlap;
    const Workload w = lower(e);
    const Program& program = w.programs[0];
    int waits = 0;
    for (const Op& op : program.ops) {
      if (op.kind != Op::Kind::compute || op.phase != Phase::backward || op.layer != 0) continue;
      for (const std::uint32_t dep : program.dependencies(op)) {
        const Op& before = program.ops[dep];
        waits += before.kind == Op::Kind::communicate &&
                 w.messages[before.work].collective == Collective::all_gather;
      }
    }
    // Attention and MLP each gather the gradient for their first operation and the input for the other.
    CHECK(waits == 4);
  }
}

TEST_CASE("data-parallel traffic by ZeRO stage") {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 1, 1, 4, 3);
  const Bytes all = 2 * stage_memory(e)[0].parameters_count;
  const auto moved = [&](Collective what) {
    const Workload w = lower(e);
    return count(w, 0,
                 [&](const Op&, const Message& m) {
                   return m.dimension == Dimension::data && m.collective == what;
                 })
        .bytes;
  };
  for (const double bucket_mb : {0.0, 1.0, 40.0}) {
    for (const bool overlap : {false, true}) {
      e.plan.bucket_mb = bucket_mb;
      e.plan.overlap_gradient_reduce = overlap;
      e.plan.overlap_parameter_gather = overlap;
      e.plan.zero_stage = 0;
      CHECK(moved(Collective::all_reduce) == all);
      e.plan.zero_stage = 1;
      CHECK(moved(Collective::reduce_scatter) == all);
      CHECK(moved(Collective::all_gather) == all);
      e.plan.zero_stage = 2;
      CHECK(moved(Collective::reduce_scatter) == 3 * all);
      CHECK(moved(Collective::all_gather) == all);
      e.plan.zero_stage = 3;
      CHECK(moved(Collective::reduce_scatter) == 3 * all);
      // The head computes with the embedding's table and gathers it as well.
      CHECK(moved(Collective::all_gather) == 6 * (all + 2 * 4096 * 512));
    }
  }
  e.data_parallel_sync.method = SyncMethod::none;
  CHECK(moved(Collective::all_gather) == 0);
}

TEST_CASE("tied embeddings are summed over the ends of the pipeline") {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 2, 2, 1, 2);
  const auto embedding = [](const Op& op, const Message&) {
    return op.part == Part::embedding && op.stream == Stream::data;
  };
  CHECK(count(lower(e), 0, embedding) == Count{1, 4096 / 2 * 512 * 2});
  CHECK(count(lower(e), 1, embedding) == Count{1, 4096 / 2 * 512 * 2});
  e.model.tied_embeddings = false;
  CHECK(count(lower(e), 0, embedding) == Count{});
}

TEST_CASE("ranks and coordinates go back and forth in every order") {
  Plan plan;
  plan.tensor_parallel = 2;
  plan.pipeline_parallel = 3;
  plan.data_parallel = 5;
  for (const char* order : {"tp-cp-ep-dp-pp", "pp-dp-tp-cp-ep", "dp-tp-pp-ep-cp"}) {
    plan.rank_order = order;
    const RankGrid grid(plan);
    std::set<std::uint32_t> seen;
    for (std::uint32_t rank = 0; rank < 30; ++rank) seen.insert(grid.rank(grid.coordinates(rank)));
    CHECK(seen.size() == 30);
    for (std::uint32_t rank = 0; rank < 30; ++rank) CHECK(grid.rank(grid.coordinates(rank)) == rank);
  }
  plan.rank_order = "tp-cp-ep-dp-pp";
  // tensor innermost, then data, then pipeline: rank = t + 2 (d + 5 p).
  CHECK(RankGrid(plan).rank({{Axis::tensor, 1}, {Axis::pipeline, 2}, {Axis::data, 3}}) ==
        1 + 2 * (3 + 5 * 2));
}

TEST_CASE("layers split evenly are balanced; given layers are kept") {
  Experiment e = experiment(gpt(12, 256, 4, 128, 1024), 1, 4, 1, 4);
  const auto layers = [](const Workload& w, std::size_t p) {
    std::set<std::int32_t> seen;
    for (const Op& op : w.programs[p].ops) {
      if (op.layer >= 0) seen.insert(op.layer);
    }
    return seen.size();
  };
  Workload w = lower(e);
  for (std::size_t p = 0; p < 4; ++p) CHECK(layers(w, p) == 3);
  e.plan.stage_layers = {1, 2, 4, 5};
  w = lower(e);
  for (std::size_t p = 0; p < 4; ++p) CHECK(layers(w, p) == static_cast<std::size_t>(e.plan.stage_layers[p]));
  e.plan.stage_layers = {0, 12, 0, 0};
  w = lower(e);
  CHECK(layers(w, 2) == 0);
}

TEST_CASE("more micro-batches use the kernel_sequences, messages and passes of fewer, in the same order") {
  for (const char* schedule : {"sequential", "gpipe", "1f1b", "interleaved-1f1b"}) {
    for (const int zero_stage : {0, 1, 2, 3}) {
      CAPTURE(schedule);
      CAPTURE(zero_stage);
      Experiment few = experiment(gpt(16, 64, 4, 128, 1000), 2, 4, 2, 4);
      few.plan.pipeline_schedule = schedule;
      few.plan.virtual_stages = schedule == std::string("interleaved-1f1b") ? 2 : 1;
      few.plan.zero_stage = zero_stage;
      few.plan.overlap_gradient_reduce = few.plan.overlap_parameter_gather = true;
      few.simulation.detail = Detail::stage;
      Experiment many = few;
      many.plan.global_batch_size *= 4;
      const Workload a = lower(few);
      const Workload b = lower(many);
      CHECK(a.kernel_sequences == b.kernel_sequences);
      CHECK(a.messages == b.messages);
      CHECK(a.passes == b.passes);
    }
  }
}
