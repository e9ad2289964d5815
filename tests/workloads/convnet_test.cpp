// Tests convolutional networks: the kernels of a layer, the place of parameters, the costs of loading and
// negotiation.
#include <doctest/doctest.h>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/blocks.hpp"

using namespace orrery;

namespace {

/// 4 layers of 3 convolutions, a quarter of the FLOPs in small filters, d replicas with 8 images each.
Experiment small_net(std::int64_t d = 1) {
  Experiment e = orrery::test::experiment({}, 1, 1, d, 1, 8);
  e.model.kind = ModelKind::convnet;
  e.model.layers = 4;
  e.model.convolutions = 12;
  e.model.parameters = 4003;
  e.model.head_parameters = 1000;
  e.model.tensors = 8;
  e.model.seq_length = 1;
  e.model.forward_gflops_per_sample = 4e-3;
  e.model.small_filter_share = 0.25;
  e.model.activations_per_sample = 1000;
  e.model.tied_embeddings = false;
  e.plan.precision = Precision::fp32;
  return e;
}

const std::vector<Kernel>& first_kernels(const Workload& w, Phase phase) {
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == Op::Kind::compute && op.phase == phase && op.part == Part::layer)
      return w.kernel_sequences[op.work].kernels;
  }
  FAIL("no such operation");
  return w.kernel_sequences[0].kernels;
}

Picoseconds host_of_first_op(const Workload& w) {
  const Op& op = w.programs[0].ops[0];
  return op.stream == Stream::host ? w.kernel_sequences[op.work].host_ps : 0;
}

}  // namespace

TEST_CASE("a layer's convolutions are one kernel of so many starts, small filters apart") {
  const Workload w = lower(small_net());
  const std::vector<Kernel>& forward = first_kernels(w, Phase::forward);
  REQUIRE(forward.size() == 3);
  CHECK(forward[0].kind == Kernel::Kind::convolution);
  CHECK(forward[0].batch == 3);
  // 4e6 FLOPs a sample in 4 layers: 8e6 a layer of 8 samples.
  CHECK(forward[0].flops == 6'000'000);
  CHECK(forward[1].kind == Kernel::Kind::small_filter);
  CHECK(forward[1].flops == 2'000'000);
  CHECK(forward[2].kind == Kernel::Kind::memory);
  CHECK(first_kernels(w, Phase::backward).size() == 5);  // gradients of inputs and of weights
}

TEST_CASE("whole matrices behind the convolutions lie in the last layer") {
  const ModelBlocks blocks = describe_convnet(small_net());
  const auto parameters = [&](std::size_t layer) { return blocks.kinds[blocks.layers[layer]].parameters; };
  // 3003 parameters go over four layers, the remainder into the first ones.
  CHECK(parameters(0) == 751);
  CHECK(parameters(2) == 751);
  CHECK(parameters(3) == 750 + 1000);
}

TEST_CASE("images that are loaded take the host's time, synthetic ones and tokens none") {
  Experiment e = small_net();
  e.software.image_loading_us = 100;
  CHECK(host_of_first_op(lower(e)) == 0);
  e.training.data = DataInput::loaded;
  CHECK(host_of_first_op(lower(e)) == 8 * 100 * Picoseconds{1'000'000});
  e.software.image_loading_jitter = 0.5;
  CHECK(e.jitter() == 0.5);
  e.model = orrery::test::gpt(2, 64, 2, 16, 64);
  CHECK(host_of_first_op(lower(e)) == 0);
  CHECK(e.jitter() == 0);
}

TEST_CASE("a message waits for half a cycle and for the coordinator's work") {
  Experiment e = small_net(4);
  e.software.cycle_time_ms = 2;
  e.software.negotiation_us_per_tensor = 5;
  const Workload w = lower(e);
  REQUIRE(w.messages.size() == 1);
  // 1 ms, and 5 us for each of 8 tensors of 4 ranks.
  CHECK(w.messages[0].wait_ps == Picoseconds{1'160'000'000});
}

TEST_CASE("models travel in the width of wire_precision.models") {
  Experiment e = small_net(4);
  e.data_parallel_sync.method = SyncMethod::local_sgd;
  e.data_parallel_sync.period = 1;
  const Workload wide = lower(e);
  e.plan.wire_precision.models = Precision::bf16;
  const Workload narrow = lower(e);
  REQUIRE(wide.messages.size() == 1);
  REQUIRE(narrow.messages.size() == 1);
  CHECK(wide.messages[0].bytes == 4 * 4003);
  CHECK(narrow.messages[0].bytes == 2 * 4003);
  // A cast before and one after: each reads one width and writes the other.
  const auto kernels = [](const Workload& w) {
    std::size_t count = 0;
    for (const KernelSequence& sequence : w.kernel_sequences)
      count +=
          static_cast<std::size_t>(std::ranges::count(sequence.kernels, Bytes{6 * 4003}, &Kernel::bytes));
    return count;
  };
  CHECK(kernels(wide) == 0);
  CHECK(kernels(narrow) >= 1);
}
