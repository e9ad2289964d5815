// Layers that do not divide by the stages, where the plan does not say how to deal them.
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/config/support.hpp"
#include "workloads/schedules/schedules.hpp"

using namespace orrery;

namespace {

using Layers = std::vector<std::int64_t>;

Layers stages_of(const std::string& plan, std::int64_t layers) {
  return read_experiment_text(R"({"model": {"base": "tiny", "layers": )" + std::to_string(layers) +
                                  R"(}, "cluster": {"base": "box"}, "plan": {)" + plan + "}}",
                              "e.json", {}, io_test::catalog(), io_test::menus())
      .experiment.plan.stage_layers;
}

}  // namespace

TEST_CASE("the last stage has one layer fewer, then the first ones") {
  CHECK(deal_layers(61, 16) ==
        Layers{3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3});  // DeepSeek-V3: 64 - 3
  CHECK(deal_layers(94, 4) == Layers{23, 24, 24, 23});            // Qwen3 235B: 96 - 2
  CHECK(deal_layers(7, 2) == Layers{4, 3});
  CHECK(deal_layers(8, 4) == Layers{2, 2, 2, 2});
  // Llama 3.1 405B, 16 stages of 8 chunks: the ends have an embedding and a head alone
  const Layers ends = deal_layers(126, 128);
  CHECK(ends.front() == 0);
  CHECK(ends.back() == 0);
  CHECK(std::accumulate(ends.begin(), ends.end(), 0) == 126);
}

TEST_CASE("layers are dealt where they do not divide and nobody dealt them") {
  CHECK(stages_of(R"("pipeline_parallel": 2)", 7) == Layers{4, 3});
  CHECK(stages_of(R"("pipeline_parallel": 2)", 8).empty());
  CHECK(stages_of(R"("pipeline_parallel": 2, "stage_layers": [2, 5])", 7) == Layers{2, 5});
  CHECK(stages_of(R"("pipeline_parallel": 2, "virtual_stages": 2, "pipeline_schedule": "interleaved-1f1b",
                     "global_batch_size": 8)",
                  7) == Layers{2, 2, 2, 1});
}
