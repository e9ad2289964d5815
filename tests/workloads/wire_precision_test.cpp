// The width of what is communicated: bytes by dimension, and the casts that it takes.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/workloads/models.hpp"
#include "workloads/communicators/wire_width.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;

namespace {

/// Sums of the messages of a program.
Bytes bytes_moved(const Workload& w, Dimension dimension, Collective what, std::size_t program = 0) {
  Bytes sum = 0;
  for (const Op& op : w.programs[program].ops) {
    if (op.kind != Op::Kind::communicate) continue;
    const Message& message = w.messages[op.work];
    if (message.dimension == dimension && message.collective == what) sum += message.bytes * message.times;
  }
  return sum;
}

/// Bytes that memory-bound kernels of a program move.
Bytes memory_traffic(const Workload& w, std::size_t program = 0) {
  Bytes sum = 0;
  for (const Op& op : w.programs[program].ops) {
    if (op.kind != Op::Kind::compute) continue;
    for (const Kernel& kernel : w.kernel_sequences[op.work].kernels)
      sum += kernel.kind == Kernel::Kind::memory ? kernel.bytes : 0;
  }
  return sum;
}

Experiment eight_experts(Dispatcher dispatcher = Dispatcher::all_to_all) {
  Model model = gpt(2, 512, 8, 256, 4096);
  model.kind = ModelKind::moe_transformer;
  model.experts = 8;
  model.experts_per_token = 2;
  model.expert_ffn_hidden = 1024;
  Experiment e = experiment(model, 1, 1, 4, 1);
  e.plan.expert_parallel = 4;
  e.plan.dispatcher = dispatcher;
  return e;
}

}  // namespace

TEST_CASE("widths count the scales of blocks") {
  const auto of_4096 = [](Precision sent) { return WireWidth(sent, 2, Precision::bf16).of(4096); };
  CHECK(of_4096(Precision::fp32) == 4 * 4096);
  CHECK(of_4096(Precision::bf16) == 2 * 4096);
  CHECK(of_4096(Precision::fp8) == 4096);
  CHECK(of_4096(Precision::fp8_blockwise) == 4096 + 4 * 4096 / 128);
  CHECK(of_4096(Precision::mxfp8) == 4096 + 4096 / 32);
  CHECK(of_4096(Precision::fp4) == 4096 / 2 + 4096 / 16);
  const WireWidth as_kept(std::nullopt, 4, Precision::bf16);
  CHECK(as_kept.of(100) == 400);
  CHECK_FALSE(as_kept.casts());
}

TEST_CASE("gradients travel in their own width, cast where that is not the one they are kept in") {
  for (const int zero : {0, 1, 2, 3}) {
    CAPTURE(zero);
    Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 1, 1, 4, 1);
    e.plan.zero_stage = zero;
    e.plan.bucket_mb = 0;
    const Bytes p = stage_memory(e)[0].parameters_count;
    const Bytes memory = stage_memory(e)[0].total();
    const auto what = zero == 0 ? Collective::all_reduce : Collective::reduce_scatter;
    const Bytes before = memory_traffic(lower(e));
    CHECK(bytes_moved(lower(e), Dimension::data, what) == 2 * p);
    e.plan.wire_precision.data = Precision::fp32;
    CHECK(bytes_moved(lower(e), Dimension::data, what) == 4 * p);
    CHECK(memory_traffic(lower(e)) - before == (2 + 4) * p);
    e.plan.wire_precision.data = Precision::fp8;
    CHECK(bytes_moved(lower(e), Dimension::data, what) == p);
    CHECK(memory_traffic(lower(e)) - before == (2 + 1) * p);
    e.plan.wire_precision.data = Precision::bf16;
    CHECK(bytes_moved(lower(e), Dimension::data, what) == 2 * p);
    CHECK(memory_traffic(lower(e)) == before);
    CHECK(stage_memory(e)[0].total() == memory);
  }
}

TEST_CASE("parameters are gathered in their own width, and cast when they have come") {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 1, 1, 4, 1);
  e.plan.zero_stage = 1;
  const Bytes p = stage_memory(e)[0].parameters_count;
  const Bytes before = memory_traffic(lower(e));
  e.plan.wire_precision.parameters = Precision::fp8;
  CHECK(bytes_moved(lower(e), Dimension::data, Collective::all_gather) == p);
  CHECK(memory_traffic(lower(e)) - before == (1 + 2) * p);
  e.plan.precision = Precision::fp8;  // the products cast their operands anyway
  CHECK(bytes_moved(lower(e), Dimension::data, Collective::all_gather) == p);
  CHECK(memory_traffic(lower(e)) == before);
}

TEST_CASE("activations that tensor ranks gather and add up have widths of their own") {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 4, 1, 1, 1);
  e.plan.sequence_parallel = true;
  const Workload kept = lower(e);
  const Bytes gathered = bytes_moved(kept, Dimension::tensor, Collective::all_gather);
  const Bytes scattered = bytes_moved(kept, Dimension::tensor, Collective::reduce_scatter);
  e.plan.wire_precision.tensor_gather = Precision::fp8;
  const Workload narrow = lower(e);
  CHECK(bytes_moved(narrow, Dimension::tensor, Collective::all_gather) == gathered / 2);
  CHECK(bytes_moved(narrow, Dimension::tensor, Collective::reduce_scatter) == scattered);
  // A quarter is cast by the rank that has it, the whole where it has come: 2 + 1 bytes a value of 2.
  CHECK(memory_traffic(narrow) - memory_traffic(kept) == (gathered / 4 + gathered) / 2 * 3);
  // The sums of the loss stay what they are.
  CHECK(bytes_moved(narrow, Dimension::tensor, Collective::all_reduce) ==
        bytes_moved(kept, Dimension::tensor, Collective::all_reduce));
}

TEST_CASE("stages send each other what the pipeline's width says") {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 1, 2, 1, 4);
  const Bytes sbh = 256 * 512 * 2;
  const Bytes before = memory_traffic(lower(e));
  CHECK(bytes_moved(lower(e), Dimension::pipeline, Collective::send_recv) == 8 * sbh);  // sent and received
  e.plan.wire_precision.pipeline = Precision::fp8_blockwise;
  const Bytes narrow = sbh / 2 + sbh / 64;  // 33 of 64 bytes
  CHECK(bytes_moved(lower(e), Dimension::pipeline, Collective::send_recv) == 8 * narrow);
  CHECK(memory_traffic(lower(e)) - before == 8 * (sbh + narrow));
}

TEST_CASE("tokens go to experts in FP8 and come back in 16 bits, as in DeepSeek-V3") {
  for (const Dispatcher dispatcher : {Dispatcher::all_to_all, Dispatcher::hierarchical}) {
    Experiment e = eight_experts(dispatcher);
    e.cluster.gpus_per_node = 2;
    e.cluster.nodes = 2;
    const Bytes both = bytes_moved(lower(e), Dimension::expert, Collective::all_to_all);
    const Bytes before = memory_traffic(lower(e));
    e.plan.wire_precision.dispatch = Precision::fp8;
    e.plan.wire_precision.combine = Precision::bf16;
    CHECK(bytes_moved(lower(e), Dimension::expert, Collective::all_to_all) == both / 2 + both / 4);
    CHECK(memory_traffic(lower(e)) > before);
    e.plan.wire_precision.combine = Precision::fp8;
    CHECK(bytes_moved(lower(e), Dimension::expert, Collective::all_to_all) == both / 2);
    e.plan.precision = Precision::fp8_blockwise;
    CHECK(memory_traffic(lower(e)) == before);
  }
}
