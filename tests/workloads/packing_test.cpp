// Samples packed into sequences: fused attention stays within each of them, all else sees sequences.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/workloads/models.hpp"
#include "tests/workloads/recomputation.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::llama;

namespace {

constexpr std::int64_t kSequence = 1024;

Model packed(std::int64_t sample) {
  Model model = llama(4, 512, 1536, 8, 2, kSequence, 4096);
  model.packed_sample_length = sample;
  return model;
}

std::vector<Kernel> attention_of(const Workload& workload) {
  std::vector<Kernel> found;
  for (const KernelSequence& work : workload.kernel_sequences) {
    std::ranges::copy_if(work.kernels, std::back_inserter(found),
                         [](const Kernel& kernel) { return kernel.kind == Kernel::Kind::attention; });
  }
  return found;
}

TotalFlops packed_flops_of(const Workload& workload) {
  TotalFlops sum = 0;
  for (const std::uint32_t program : workload.program_of_rank) {
    for (const Op& op : workload.programs[program].ops) {
      if (op.kind == Op::Kind::compute) sum += workload.kernel_sequences[op.work].flops;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("each token attends to its own sample") {
  // 64 blocks of scores of 256 x 256 in place of 16 of 1024 x 1024: two sequences of four samples, eight
  // heads; causal, so half of two products, backward half of five.
  const std::vector<Kernel> kernels = attention_of(lower(experiment(packed(256), 1, 1, 1, 1, 2)));
  REQUIRE(kernels.size() == 2);
  for (const Kernel& kernel : kernels) {
    CHECK(kernel.batch == 2 * 8 * 4);
    CHECK(kernel.m == 256);
    CHECK(kernel.n == 256);
    CHECK(kernel.causal);
    const Bytes once = 2 * kSequence * (2 * 8 + 2 * 2) * 64 * 2;  // queries, context, keys and values
    CHECK(kernel.bytes == (kernel.backward ? 2 : 1) * once);
    CHECK(kernel.flops == (kernel.backward ? 5 : 2) * (2 * 8 * 4) * 256 * 256 * 64);
  }
}

TEST_CASE("lengths that do not divide the sequence count every token's scores") {
  const std::vector<Kernel> kernels = attention_of(lower(experiment(packed(100), 1, 1, 1, 1)));
  REQUIRE(kernels.size() == 2);
  CHECK(kernels.front().batch == 82);  // 8 heads x 1024 tokens are 81.92 samples of 100
  const auto forward = std::ranges::find(kernels, false, &Kernel::backward);
  CHECK(forward->flops == 2 * 8 * kSequence * 100 * 64);
}

TEST_CASE("model FLOPs count the scores within samples, and the kernels do them") {
  for (const std::int64_t sample : {std::int64_t{1}, std::int64_t{100}, std::int64_t{256}, kSequence}) {
    const Model model = packed(sample);
    // 4 layers: queries and out 512 x 512, keys and values 512 x 128, the MLP three of 512 x 1536.
    const TotalFlops weights = 2 * (4 * (2 * 512 * 512 + 2 * 512 * 128 + 3 * 512 * 1536) + 512 * 4096);
    const TotalFlops scores = 4 * 4 * sample * 8 * 64;
    CHECK(transformer_model_flops(model, 6) == 6 * kSequence * 3 * (weights + scores));
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      Experiment e = experiment(model, 2, 2, 1, 3);
      e.plan.recompute = recompute;
      const Workload workload = lower(e);
      // Counted are three times the scores, with full recomputation four; the causal kernels do half of each
      // forward pass and half of five products in place of four backward.
      const TotalFlops skipped = recompute == Recompute::full ? 7 * scores / 4 : 5 * scores / 4;
      CHECK(packed_flops_of(workload) == workload.hardware_flops - 3 * kSequence * skipped);
    }
  }
}

TEST_CASE("one sample a sequence is the same as none named, and packing keeps no less") {
  const auto bytes = [](std::int64_t sample) {
    const Experiment e = experiment(packed(sample), 1, 1, 1, 1);
    return test::kept_by_layer(e);
  };
  const Workload whole = lower(experiment(packed(0), 1, 1, 1, 1));
  CHECK(lower(experiment(packed(kSequence), 1, 1, 1, 1)).kernel_sequences == whole.kernel_sequences);
  Experiment slow = experiment(packed(256), 1, 1, 1, 1);
  slow.software.packed_attention_columns = 50;
  for (const Kernel& kernel : attention_of(lower(slow))) CHECK(kernel.more_columns == 50);
  slow.model.packed_sample_length = kSequence;
  CHECK(lower(slow).kernel_sequences == whole.kernel_sequences);
  CHECK(bytes(256) == bytes(0));
}

// Eight heads, 1024 tokens. A window of 256 has 256 columns for each row and no mask; samples of 512 have a
// triangle of 512 x 512 each.
TEST_CASE("a window pays for packed samples only where samples are packed") {
  const auto forward = [](std::int64_t window, std::int64_t sample) {
    Experiment e = experiment(packed(sample), 1, 1, 1, 1);
    e.model.window = window;
    e.software.packed_attention_columns = 50;
    return attention_of(lower(e)).front();
  };
  const Kernel window = forward(256, 0);
  CHECK(window.n == 256);
  CHECK(!window.causal);
  CHECK(window.more_columns == 0);
  const Kernel both = forward(256, 512);
  CHECK(both.n == 256);
  CHECK(both.more_columns == 50);
  // A window that is wider than a sample does not cut it.
  const Kernel wide = forward(768, 512);
  CHECK(wide == forward(0, 512));
  CHECK(wide.causal);
  CHECK(wide.flops == 2 * 8 * kSequence * 512 * 64);
  Model model = packed(512);
  const TotalFlops whole = transformer_model_flops(model, 1);
  model.window = 768;
  CHECK(transformer_model_flops(model, 1) == whole);
}
