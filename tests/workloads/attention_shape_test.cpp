// Attention of today's models, by hand.
#include "workloads/models/attention_shape.hpp"

#include <doctest/doctest.h>

#include "tests/workloads/models.hpp"
#include "workloads/models/attention_kernels.hpp"
#include "workloads/models/transformer_shape.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::llama;

namespace {

/// That of DeepSeek-V3: 128 heads on a stream of 7,168.
Model latent_model() {
  Model model = llama(2, 7168, 18432, 128, 128, 512, 256);
  model.latent_attention = {1536, 512, 64, 128, 128};
  model.head_dim = model.query_dim();
  return model;
}

}  // namespace

// Queries: 7168 x 1536, a norm of 1536, 1536 x 128 x 192. Keys and values: 7168 x (512 + 64), a norm of 512,
// 512 x 128 x (128 + 128). Output: 128 x 128 x 7168.
TEST_CASE("parameters of latent attention") {
  const std::int64_t queries = 7168LL * 1536 + 1536 + 1536LL * 128 * 192;
  const std::int64_t keys_and_values = 7168LL * 576 + 512 + 512LL * 128 * 256;
  CHECK(attention_parameters(latent_model(), {128, 128}) == queries + keys_and_values + 128LL * 128 * 7168);
  // With two of four ranks' heads the per-head values halve, but not the narrow vectors.
  CHECK(attention_parameters(latent_model(), {64, 64}) ==
        7168LL * 1536 + 1536 + 1536LL * 64 * 192 + 7168LL * 576 + 512 + 512LL * 64 * 256 + 64LL * 128 * 7168);
}

TEST_CASE("scores of latent attention are wider than its context") {
  const Experiment e = experiment(latent_model(), 1, 1, 1, 1);
  const TransformerShape shape(e.model, e.plan);
  const Kernel kernel = AttentionKernels(e, shape, {512, 512}).forward().front();
  // 128 heads, 512 x 512 / 2 pairs, 2 FLOPs for each of 192 and 128 values.
  CHECK(kernel.flops == 128LL * 512 * 512 / 2 * 2 * (192 + 128));
  CHECK(kernel.k == 192);
  // Queries, keys, values and outputs of 2 bytes move once.
  CHECK(kernel.bytes == 512LL * 128 * (192 + 192 + 128 + 128) * 2);
}

TEST_CASE("a window leaves each token so many others") {
  Model model = llama(6, 512, 1536, 8, 8, 4096, 256);
  model.window = 1024;
  model.window_pattern = 3;  // layers 2 and 5 attend to all
  CHECK(model.windowed_layers() == 4);
  CHECK(!model.windowed(2));
  CHECK(model.windowed(3));
  const Experiment e = experiment(model, 1, 1, 1, 1);
  const TransformerShape shape(e.model, e.plan);
  const Flops all = AttentionKernels(e, shape, {4096, 4096}).forward().front().flops;
  const Flops some = AttentionKernels(e, shape, {4096, 4096, true, true}).forward().front().flops;
  CHECK(all == 8LL * 4096 * 4096 / 2 * 4 * 64);
  // The first 1,024 tokens see fewer, half as many in the mean.
  CHECK(some == 8LL * (4096 * 1024 - 1024 * 1024 / 2) * 4 * 64);
  // A window of nearly all tokens saves nearly nothing over a causal mask, and costs nothing.
  Experiment wide = e;
  wide.model.window = 4095;
  const TransformerShape near(wide.model, wide.plan);
  const Flops most = AttentionKernels(wide, near, {4096, 4096, true, true}).forward().front().flops;
  CHECK(most <= all);
  CHECK(all - most < all / 1'000'000);
  // Windows save FLOPs in the whole model: two layers attend to 4,096 columns and four to 1,024, in three
  // passes.
  Model plain = model;
  plain.window = 0;
  CHECK(transformer_model_flops(plain, 1) - transformer_model_flops(model, 1) ==
        TotalFlops{3} * 4096 * 4 * (4096 - 1024) * 8 * 4 * 64);
}

TEST_CASE("norms of queries and keys, and norms after, have gains") {
  Model model = llama(1, 512, 1536, 8, 4, 512, 256);
  const std::int64_t plain = transformer_parameters(model);
  model.qk_norm = QueryKeyNorm::head;
  CHECK(transformer_parameters(model) == plain + 2 * 64);
  model.qk_norm = QueryKeyNorm::whole;
  CHECK(transformer_parameters(model) == plain + (8 + 4) * 64);
  model.post_norms = true;
  CHECK(transformer_parameters(model) == plain + (8 + 4) * 64 + 2 * 512);
  model.qkv_biases = true;
  CHECK(transformer_parameters(model) == plain + (8 + 4) * 64 + 2 * 512 + (8 + 2 * 4) * 64);
}
