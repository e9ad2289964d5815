// Checks the activations that layers keep from the forward to the backward pass, and from the gradients of
// inputs to those of weights, in narrow formats; on which rank of a schedule, and when, they peak.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;
using orrery::test::llama;

namespace {

constexpr std::int64_t kSampleTokens = 4096;

/// Two layers of DeepSeek-V3, with the recomputation and the precision of its report (section 3.2.3 and 3.3).
Experiment deepseek() {
  Model model = llama(2, 7168, 18432, 128, 128, kSampleTokens, 1024);
  model.kind = ModelKind::moe_transformer;
  model.latent_attention = {1536, 512, 64, 128, 128};
  model.head_dim = model.query_dim();
  model.experts = 256;
  model.experts_per_token = 8;
  model.shared_experts = 1;
  model.expert_ffn_hidden = 2048;
  Experiment e = experiment(model, 1, 1, 1, 1);
  e.plan.precision = Precision::fp8_blockwise;
  e.plan.recompute = Recompute::modules;
  e.plan.recompute_modules = {Module::norm, Module::latent_projection, Module::activation};
  e.software.keeps_narrow_inputs = true;
  return e;
}

Block first_layer(const Experiment& e) {
  const ModelBlocks blocks = describe_transformer(e);
  return blocks.kinds[blocks.layers.front()];
}

/// Bytes of values of one byte, with a 32-bit scale for 128 of them.
constexpr Bytes blockwise(std::int64_t values) { return values * 33 / 32; }

Experiment with_schedule(const char* schedule, std::int64_t stages, std::int64_t micro_batches) {
  // The two copies of a model in DualPipe are replicas.
  Experiment e = experiment(gpt(2 * stages, 128, 4, 64, 512), 1, stages, 2, micro_batches);
  e.plan.pipeline_schedule = schedule;
  const PipelineSchedule& found = *find_pipeline_schedule(schedule);
  if (found.chunks != 1) e.plan.virtual_stages = 2;
  return e;
}

}  // namespace

TEST_CASE("a layer of DeepSeek-V3 keeps inputs of products in a byte a value") {
  // Bytes a token:
  //   input of the attention half, 16 bits        7168 x 2                14336
  //   latent vectors before their norms           (1536 + 512) x 2         4096
  //   the same after them, for the products       (1536 + 512) x 33/32     2112
  //   context, for the fused core                 128 x 128 x 2           32768
  //   the same as the projection cast it          128 x 128 x 33/32       16896
  //   log-sum-exp, 32 bits                        128 x 4                   512
  //   input of the half with experts              7168 x 2                14336
  //   logits and probabilities of the router      256 x 8                  2048
  //   rows of eight experts                       8 x 7168 x 33/32        59136
  //   inputs of the activation, eight and shared  9 x 2 x 2048 x 2        73728
  // Outputs of norms, of up-projections and of the activation are computed again.
  const Bytes kept = 14336 + 4096 + 2112 + 32768 + 16896 + 512 + 14336 + 2048 + 59136 + 73728;
  CHECK(kept == 219968);
  CHECK(first_layer(deepseek()).activations.total() == kSampleTokens * kept);
  // With their outputs: two norms' 16-bit outputs are narrow for the products of attention, wide for the
  // router and narrow once more for the shared expert; queries, keys and values in 16 bits; nine activations.
  Experiment all = deepseek();
  all.plan.recompute = Recompute::none;
  const Bytes again =
      blockwise(7168) + 7168 * 2 + blockwise(7168) + 128 * (192 + 192 + 128) * 2 + 9 * blockwise(2048);
  CHECK(first_layer(all).activations.total() == kSampleTokens * (kept + again));
}

TEST_CASE("gradients that wait for those of weights are as narrow as the products read them") {
  // Values a token. Attention: its input, latent vectors (1536 + 512), the input of the projection; gradients
  // of what products make: 1536 + 576, 128 x 192, 128 x (128 + 128), and 7168 of the projection.
  const std::int64_t attention = 7168 + 2048 + 128 * 128 + 1536 + 576 + 128 * 192 + 128 * (128 + 128) + 7168;
  CHECK(attention == 92224);
  // A row keeps its input, gradients of gate and up, the input of the second product and the gradient of its
  // output.
  const std::int64_t expert = 7168 + 2 * 2048 + 2048 + 7168;
  // The shared expert reads a cast copy of the input that the router reads in 16 bits; gradients of logits
  // are in 32 bits.
  const std::int64_t cast = attention + 8 * expert + expert;
  const Bytes router = 7168 * 2 + 256 * 4;
  CHECK(cast == 276544);
  CHECK(first_layer(deepseek()).for_weights == kSampleTokens * (blockwise(cast) + router));
  // In 16 bits the shared expert reads the router's input.
  Experiment wide = deepseek();
  wide.plan.precision = Precision::bf16;
  CHECK(first_layer(wide).for_weights == kSampleTokens * ((cast - 7168) * 2 + router));
  // A framework that keeps inputs as they came keeps 16 bits in any precision.
  Experiment as_they_come = deepseek();
  as_they_come.software.keeps_narrow_inputs = false;
  CHECK(first_layer(as_they_come).for_weights == first_layer(wide).for_weights);
}

TEST_CASE("adapters are multiplied in 16 bits, so that inputs stay as they are") {
  Experiment e = experiment(llama(2, 512, 1536, 8, 2, 256, 1024), 1, 1, 1, 1);
  e.plan.precision = Precision::fp8;
  e.model.lora_rank = 16;
  e.model.lora_targets.fill(true);
  const Block wide = first_layer(e);
  e.software.keeps_narrow_inputs = true;
  CHECK(first_layer(e).activations == wide.activations);
  CHECK(first_layer(e).for_weights == wide.for_weights);
  e.model.lora_rank = 0;
  CHECK(first_layer(e).activations.total() < wide.activations.total());
}

TEST_CASE("a layer without a dense MLP waits with its attention alone, adapted or not") {
  Experiment e = deepseek();
  e.plan.precision = Precision::bf16;
  e.plan.recompute = Recompute::none;
  const Bytes trained = first_layer(e).for_weights;
  e.model.lora_rank = 16;
  e.model.lora_targets.fill(false);
  e.model.lora_targets[static_cast<std::size_t>(Linear::proj)] = true;
  // Attention keeps only the projection's input and the gradient of its output.
  const std::int64_t others = 7168 + 2048 + 1536 + 576 + 128 * 192 + 128 * (128 + 128);
  CHECK(first_layer(e).for_weights == trained - kSampleTokens * others * 2);
}

TEST_CASE("DualPipe keeps the activations of p + 1 passes on each rank") {
  // DeepSeek-V3 Technical Report, table 2. Ranks 1 to p - 2 have layers alone, two of each copy: 34 sbh + 5 a
  // s^2 b a layer of a plain GPT (Korthikanti et al. 2022), of which 32 sbh wait for gradients of weights at
  // the end.
  const std::int64_t s = 64, b = 1, h = 128, a = 4;
  const Bytes layer = 34 * s * b * h + 5 * a * s * s * b;
  for (const std::int64_t p : {4, 8}) {
    const std::vector<StageMemory> stages = stage_memory(with_schedule("dualpipe", p, 4 * p));
    for (std::int64_t r = 1; r + 1 < p; ++r) {
      CAPTURE(r);
      CHECK(stages[static_cast<std::size_t>(r)].activations.total() == (p + 1) * 2 * layer);
    }
  }
}

TEST_CASE("the moment of the peak is counted over all micro-batches of a step") {
  // More of them than the search goes through. With whole layers computed again, what waits for gradients of
  // weights is more than what is kept, and most is held at the end.
  for (const char* schedule :
       {"zb-h1", "zb-h2", "zb-v", "v-half", "v-min", "dualpipe", "dualpipe-v", "interleaved-1f1b"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      Experiment e = with_schedule(schedule, 4, 44);
      e.plan.recompute = recompute;
      const Workload w = lower(e);
      for (std::size_t p = 0; p < w.programs.size(); ++p) {
        CAPTURE(std::string(schedule));
        CAPTURE(p);
        Bytes held = 0, most = 0;
        const Op* at = nullptr;
        for (const Op& op : w.programs[p].ops) {
          held += op.memory_at_start;
          if (held > most) at = &op;
          most = std::max(most, held);
          held += op.memory_at_finish;
        }
        REQUIRE(at != nullptr);
        const StageMemory& memory = w.stage_memory[p];
        CHECK(most == memory.total() - memory.standing);
        CHECK(at->micro_batch == memory.moment.micro_batch);
        CHECK(at->chunk == memory.moment.chunk);
      }
    }
  }
}
