// Attention to the tokens that an indexer picks, against arithmetic by hand.
#include "workloads/models/sparse_attention.hpp"

#include <doctest/doctest.h>

#include "tests/workloads/activations.hpp"
#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::llama;

namespace {

Model latent(std::int64_t seq) {
  Model model = llama(2, 256, 512, 4, 4, seq, 1000);
  model.latent_attention = {64, 32, 16, 32, 32};
  model.head_dim = model.query_dim();
  return model;
}

Model sparse(std::int64_t seq, std::int64_t top_k) {
  Model model = latent(seq);
  model.indexer = {2, 128, top_k};
  return model;
}

}  // namespace

// Queries of 2 heads of 128 from 64 values, a key of 128 and two weights from 256, and its norm.
TEST_CASE("an indexer adds its matrices and the norm of its key") {
  const std::int64_t more = 64 * 256 + 256 * 128 + 256 * 2 + 2 * 128;
  CHECK(transformer_parameters(sparse(512, 64)) == transformer_parameters(latent(512)) + 2 * more);
}

// 512 scores of 2 x 128, and 64 tokens with 4 heads, each a product of 32 + 16 values and one of 32.
TEST_CASE("a token scores all others and attends to the best") {
  CHECK(core_flops(sparse(512, 64), 4, 512) == 512 * 2 * 256 + 64 * 2 * 4 * (48 + 32));
}

TEST_CASE("an indexer that leaves nothing out attends as without one") {
  const Model all = sparse(512, 512);
  CHECK_FALSE(all.is_sparse());
  CHECK(core_flops(all, 4, 512) == core_flops(latent(512), 4, 512));
}

// With 4 tokens and 2 chosen: 1 + 2 + 3 + 4 = 10 pairs, 1 + 2 + 2 + 2 = 7 of them chosen.
TEST_CASE("kernels of a pass score the pairs before each query, and gather the chosen ones") {
  const Model model = sparse(4, 2);
  const std::vector<Kernel> kernels = sparse_kernels(model, 4, {4, 10, 7}, 2);
  REQUIRE(kernels.size() == 3);
  CHECK(kernels[0].flops == 10 * 2 * 256);
  CHECK(kernels[1].bytes == 4 * 10 + 4 * 7);
  CHECK(kernels[2].flops == 7 * 2 * 4 * 80);
  Flops sum = 0;
  const Workload w = lower(experiment(model, 1, 1, 1, 1));
  for (const Op& op : w.programs[0].ops)
    for (const Kernel& kernel : w.kernel_sequences[op.work].kernels)
      if (op.kind == Op::Kind::compute && op.phase == Phase::forward &&
          kernel.kind == Kernel::Kind::attention)
        sum += kernel.flops;
  CHECK(sum == 2 * (10 * 2 * 256 + 7 * 2 * 4 * 80));
}

TEST_CASE("memory of sparse attention returns to zero and peaks where the formula says") {
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    Experiment e = experiment(sparse(512, 64), 2, 2, 1, 4);
    e.plan.pipeline_schedule = "1f1b";
    e.plan.recompute = recompute;
    test::check_activations(lower(e));
  }
}
