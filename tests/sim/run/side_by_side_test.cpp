// Checks that passes which run side by side (plan.overlap_expert_parallel) do not deadlock, with any
// recomputation, in every schedule that takes them and in pipelines of all sizes.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

const char* const kRecomputed[] = {
    R"("none")",
    R"("selective")",
    R"("full")",
    R"({"modules": ["experts"]})",
    R"({"modules": ["attention"]})",
    R"({"modules": ["core-attention", "norm"]})",
    R"({"modules": ["layer"]})",
    R"({"modules": ["mlp", "activation"]})",
    R"({"layers": 1, "method": "block"})",
};

Experiment mixture(const std::string& plan, const std::string& software) {
  return read(R"({"model": {"kind": "moe-transformer", "layers": 16, "hidden": 256, "ffn_hidden": 256,
      "heads": 4, "vocab": 1024, "seq_length": 256, "attention": "flash", "experts": 8, "shared_experts": 1,
      "experts_per_token": 2, "dense_layers": 2},
      "cluster": {"base": "dgx-h100", "gpus_per_node": 8, "nodes": 2}, "software": )" +
              software + R"(, "plan": {"overlap_expert_parallel": true, )" + plan + "}}");
}

struct Shape {
  const char* schedule;
  int stages;
  int chunks;
  std::vector<int> micro_batches;
};

const Shape kShapes[] = {
    {"1f1b", 1, 1, {1, 2, 7}},
    {"interleaved-1f1b", 2, 2, {2, 3, 4, 5, 9}},
    {"interleaved-1f1b", 2, 4, {2, 3, 7}},
    {"interleaved-1f1b", 4, 2, {4, 5, 6, 8, 13}},
    {"interleaved-1f1b", 4, 4, {4, 9, 16}},
    {"interleaved-1f1b", 8, 2, {8, 9, 17, 24}},
    {"dualpipe", 2, 1, {4, 6, 10}},
    {"dualpipe", 4, 1, {8, 10, 16}},
    {"dualpipe", 8, 1, {16, 20}},
    {"dualpipe-v", 1, 2, {2, 3}},
    {"dualpipe-v", 2, 2, {4, 5, 9}},
    {"dualpipe-v", 4, 2, {8, 9, 14}},
    {"dualpipe-v", 8, 2, {16, 19}},
};

std::string plan_of(const Shape& shape, int micro_batches, const char* recomputed, int tensor) {
  const int replicas = 16 / shape.stages / tensor;
  return R"("pipeline_schedule": ")" + std::string(shape.schedule) + R"(", "pipeline_parallel": )" +
         std::to_string(shape.stages) + R"(, "virtual_stages": )" + std::to_string(shape.chunks) +
         R"(, "tensor_parallel": )" + std::to_string(tensor) + R"(, "expert_tensor_parallel": 1,
         "sequence_parallel": )" +
         (tensor > 1 ? "true" : "false") + R"(, "expert_parallel": 2,
         "global_batch_size": )" +
         std::to_string(micro_batches * replicas) + R"(, "recompute": )" + recomputed;
}

}  // namespace

TEST_CASE("passes side by side wait for nobody who waits for them") {
  int considered = 0;
  int made = 0;
  for (const Shape& shape : kShapes) {
    for (const int micro_batches : shape.micro_batches) {
      for (const char* recomputed : kRecomputed) {
        for (const int tensor : {1, 2}) {
          for (const char* software :
               {"{}", R"({"synchronize_passes": true, "dispatch_waits_for_host": true})"}) {
            if (++considered % 6 != 0 && test::kSanitized) continue;
            const std::string plan = plan_of(shape, micro_batches, recomputed, tensor);
            CAPTURE(plan);
            CAPTURE(software);
            Experiment e = mixture(plan, software);
            Picoseconds time = 0;
            CHECK_NOTHROW(time = simulate(e).makespan_ps);
            CHECK(time > 0);
            ++made;
          }
        }
      }
    }
  }
  // A warm-up of one's own: that of the last rank is the 4 passes until a micro-batch reaches its last chunk
  // and one, and each rank before it runs one more.
  const std::string four = plan_of({"interleaved-1f1b", 4, 2, {}}, 12, R"("full")", 1);
  CHECK_NOTHROW(static_cast<void>(simulate(mixture(four + R"(, "warmup_micro_batches": 7)", "{}"))));
  CHECK_NOTHROW(static_cast<void>(simulate(mixture(four + R"(, "warmup_micro_batches": 24)", "{}"))));
  CHECK_THROWS_WITH_AS(mixture(four + R"(, "warmup_micro_batches": 6)", "{}"),
                       doctest::Contains("found 6, allowed 7 to 24"), InputError);
  CHECK(made > (test::kSanitized ? 150 : 1400));
}
