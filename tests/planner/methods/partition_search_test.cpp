// Dynamic and integer programming as search methods: against all divisions, under tight memory, on GPUs of
// two kinds.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "planner/methods/partition_ilp.hpp"
#include "planner/methods/pipeline_partition.hpp"
#include "planner/methods/search.hpp"
#include "planner/space/points.hpp"
#include "tests/planner/methods/found_by.hpp"

namespace orrery {

using test::found_by;

namespace {

Space space_for(const std::string& experiment, const std::string& description) {
  return {
      read_space(description, "space.json"), {"experiment.json", experiment}, Catalog::embedded(), menus()};
}

Experiment experiment_at(const Space& space, const std::vector<std::string>& values) {
  PointReader reader(space);
  return std::get<Point>(reader.read(values)).experiment;
}

/// Returns a node of eight GPUs with `memory_gb` GB each.
std::string tight(int memory_gb) {
  const std::string memory = std::to_string(memory_gb);
  return R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 1,
      "gpu": {"base": "a100-80gb", "memory_gb": )" +
         memory + R"(, "memory_usable_gb": )" + memory + R"(, "memory_reserve_gb": 0}},
      "plan": {"tensor_parallel": 2, "pipeline_parallel": 4, "micro_batch_size": 4, "global_batch_size": 64}})";
}

/// One node of A100s and two of H100s, a stage each.
constexpr const char* kMixed =
    R"({"model": "gpt3-13b", "cluster": {"base": "dgx-h100", "groups":
        [{"nodes": 1, "gpu": "a100-80gb"}, {"nodes": 2, "gpu": "h100"}]},
        "plan": {"tensor_parallel": 8, "pipeline_parallel": 3, "global_batch_size": 32}})";

/// All ways to divide `layers` over three stages that have between `least` and `most` each.
std::string all_divisions(int layers, int least, int most) {
  std::string list;
  for (int a = least; a <= most; ++a) {
    for (int b = least; b <= most; ++b) {
      const int c = layers - a - b;
      if (c < least || c > most) continue;
      list += (list.empty() ? "[" : ", [") + std::to_string(a) + ", " + std::to_string(b) + ", " +
              std::to_string(c) + "]";
    }
  }
  return "[" + list + "]";
}

}  // namespace

TEST_CASE("stages of dynamic programming are as good as the best of all divisions and orders of GPUs") {
  const Space space = space_for(kMixed, R"({"plan.stage_layers": )" + all_divisions(40, 7, 18) +
                                            R"(, "cluster.groups": [
          [{"nodes": 1, "gpu": "a100-80gb"}, {"nodes": 2, "gpu": "h100"}],
          [{"nodes": 1, "gpu": "h100"}, {"nodes": 1, "gpu": "a100-80gb"}, {"nodes": 1, "gpu": "h100"}],
          [{"nodes": 2, "gpu": "h100"}, {"nodes": 1, "gpu": "a100-80gb"}]]})");
  const SearchResult best = found_by("exhaustive", space);
  REQUIRE(best.optimal);
  const SearchResult dp = found_by("dp", space);
  CHECK(dp.simulated == 1);
  // It leaves messages out of its estimate.
  CHECK(dp.best.front().report.step_time_s() <= 1.01 * best.best.front().report.step_time_s());
  if (!has_integer_solver()) return;
  const SearchResult ilp = found_by("ilp", space);
  CHECK(ilp.best.front().report.step_time_s() <= 1.01 * best.best.front().report.step_time_s());
}

TEST_CASE("a stage computes as few layers again as memory allows") {
  for (const int memory : {6, 10, 14}) {
    CAPTURE(memory);
    const Space space = space_for(
        tight(memory), R"({"plan.stage_layers": ["auto"], "plan.recompute": ["none", "selective", "full"]})");
    const SearchResult dp = found_by("dp", space);
    const SearchResult listed = found_by("exhaustive", space);
    REQUIRE(dp.best.size() >= 1);
    CHECK(dp.best.front().report.feasible);
    CHECK(dp.best.front().report.step_time_s() < listed.best.front().report.step_time_s());
    Experiment found = experiment_at(space, dp.best.front().trial.values);
    for (std::int64_t& layers : found.plan.recompute_stage_layers) {
      if (layers == 0) continue;
      --layers;
      CHECK_FALSE(account_memory(found).feasible);
      ++layers;
    }
  }
}

TEST_CASE("both programs solve the problems of real plans alike") {
  if (!has_integer_solver()) return;
  for (const std::string& text : {tight(8), tight(12), std::string(kMixed)}) {
    const Space space =
        space_for(text, R"({"plan.micro_batch_size": [1, 2], "plan.stage_layers": ["auto"]})");
    for (const char* micro_batch : {"1", "2"}) {
      CAPTURE(micro_batch);
      Memo memo;
      Experiment experiment = experiment_at(space, {micro_batch, "auto"});
      experiment.plan.balance_stages = false;
      const PipelinePartition partition(experiment, {true, true, true}, memo);
      const Partition dp = partition_by_dp(partition.problem());
      const IlpPartition ilp = partition_by_ilp(partition.problem(), 60);
      REQUIRE_FALSE(dp.empty());
      CHECK(ilp.optimal);
      const auto least = static_cast<double>(cost_of(partition.problem(), dp));
      CHECK(static_cast<double>(cost_of(partition.problem(), ilp.partition)) ==
            doctest::Approx(least).epsilon(1e-8));
      CHECK(ilp.bound <= least * (1 + 1e-9));
    }
  }
}

TEST_CASE("other keys stay those of the space, and some key must be left to choose") {
  const Space space =
      space_for(tight(14), R"({"plan.micro_batch_size": [2, 4], "plan.recompute": ["none", "full"],
      "plan.stage_layers": "auto", "plan.virtual_stages": [1, 3],
      "plan.pipeline_schedule": ["interleaved-1f1b"]})");
  const SearchResult dp = found_by("dp", space);
  // Two sizes of one chunk are solved; with three chunks the points of the space are simulated as they are.
  CHECK(dp.notes.size() == 1);
  CHECK(dp.notes.front().starts_with("stages of the best of 2 plans"));
  CHECK(dp.simulated >= 2);
  try {
    (void)found_by("dp", space_for(tight(14), R"({"plan.micro_batch_size": [2, 4]})"));
    FAIL("nothing is left to choose");
  } catch (const InputError& error) {
    CHECK(
        error.diagnostics().front().message.starts_with("--search: found a space without plan.stage_layers"));
  }
}

}  // namespace orrery
