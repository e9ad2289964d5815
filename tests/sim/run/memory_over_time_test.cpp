// Checks memory over a simulated step: the time of a stage's peak, and its memory from moment to moment.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/metrics/memory_moment.hpp"
#include "sim/run/run.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

const char* const kPipelines[] = {
    R"({"pipeline_parallel": 4, "global_batch_size": 64})",
    R"({"pipeline_parallel": 4, "global_batch_size": 64, "pipeline_schedule": "zb-h1"})",
    R"({"pipeline_parallel": 4, "global_batch_size": 64, "pipeline_schedule": "interleaved-1f1b",
        "virtual_stages": 2, "recompute": {"modules": ["mlp"]}})",
    R"({"pipeline_parallel": 4, "global_batch_size": 64, "pipeline_schedule": "v-half"})",
    R"({"data_parallel": 8, "global_batch_size": 64, "zero_stage": 3, "recompute": "full"})",
};

Experiment pipeline_of(const std::string& plan, const std::string& detail) {
  return read(R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-h100", "nodes": 1}, "stack": "ideal",
                  "simulation": {"network": "alpha-beta", "detail": ")" +
              detail + R"("}, "plan": )" + plan + "}");
}

/// Returns no run where a plan and a cluster drawn at random do not go together.
std::optional<Run> run_if_it_can(const std::string& text) {
  try {
    return run(read(text));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("a stage holds most when its timeline does, for the first time") {
  for (const char* const detail : {"layer", "stage"}) {
    for (const std::string plan : kPipelines) {
      CAPTURE(plan);
      CAPTURE(detail);
      const Run r = run(pipeline_of(plan, detail));
      const auto& stages = r.report.stage_memory;
      const auto fullest = std::ranges::max_element(stages, {}, &StageMemory::total);
      const MemoryTimeline points =
          memory_over_time(r.view())[static_cast<std::size_t>(fullest - stages.begin())];
      const auto most = std::ranges::max_element(points, {}, &MemoryPoint::bytes);
      CHECK(most->bytes == fullest->total());
      CHECK(points.back().bytes == fullest->standing);
      REQUIRE(r.report.peak_memory_at_ps.has_value());
      CHECK(*r.report.peak_memory_at_ps == most->at_ps);
    }
  }
}

TEST_CASE("the moment of the peak is the same where micro-batches only repeat themselves") {
  for (const std::string plan : kPipelines) {
    CAPTURE(plan);
    const Experiment e = pipeline_of(plan, "layer");
    CHECK(simulate(e).peak_memory_at_ps == run(e).report.peak_memory_at_ps);
  }
}

TEST_CASE("FSDP's gradients and copies of the update are in the timeline as in the table") {
  const char* const kSharded[] = {
      R"({"data_parallel": 8, "global_batch_size": 8, "zero_stage": 3})",
      R"({"data_parallel": 8, "global_batch_size": 16, "zero_stage": 3, "fsdp_unit_layers": 5})",
      R"({"data_parallel": 8, "global_batch_size": 8, "zero_stage": 1})",
  };
  for (const char* const detail : {"layer", "stage"}) {
    for (const std::string plan : kSharded) {
      for (const int version : {0, 1, 2}) {
        for (const double update_bytes : {0.0, 6.0, 1000.0}) {
          CAPTURE(plan);
          CAPTURE(version);
          CAPTURE(update_bytes);
          Experiment e = pipeline_of(plan, detail);
          e.software.fsdp_version = version;
          e.software.update_gradient_bytes = update_bytes;
          const Run r = run(e);
          const StageMemory& memory = r.report.stage_memory[0];
          const MemoryTimeline points = memory_over_time(r.view())[0];
          const auto most = std::ranges::max_element(points, {}, &MemoryPoint::bytes);
          CHECK(most->bytes == memory.total());
          CHECK(points.back().bytes == memory.standing);
          REQUIRE(r.report.peak_memory_at_ps.has_value());
          CHECK(*r.report.peak_memory_at_ps == most->at_ps);
          CHECK(simulate(e).peak_memory_at_ps == r.report.peak_memory_at_ps);
        }
      }
    }
  }
}

TEST_CASE("whatever a plan is, FSDP's memory peaks in the timeline as in the table") {
  for (std::uint64_t seed = 3000; seed < 3000 + test::trials(40); ++seed) {
    std::string text = RandomExperiment(seed).text();
    text.pop_back();
    text += R"(, "software": {"update_gradient_bytes": 40, "fsdp_version": )" + std::to_string(1 + seed % 2) +
            "}}";
    CAPTURE(text);
    const std::optional<Run> r = run_if_it_can(text);
    if (!r) continue;
    const auto timelines = memory_over_time(r->view());
    for (std::size_t program = 0; program < timelines.size(); ++program) {
      const StageMemory& memory = r->workload.stage_memory[program];
      CHECK(std::ranges::max(timelines[program], {}, &MemoryPoint::bytes).bytes == memory.total());
      CHECK(timelines[program].back().bytes == memory.standing);
    }
  }
}

TEST_CASE("categories of memory add up to all of it") {
  for (const std::string plan : kPipelines) {
    for (const StageMemory& stage : account_memory(pipeline_of(plan, "layer")).stage_memory) {
      Bytes sum = 0;
      for (const MemoryCategory& category : kMemoryCategories) sum += category.bytes(stage);
      CHECK(sum == stage.total());
    }
  }
}

TEST_CASE("a plan fits if what the allocator reserves does, into what a GPU leaves for it") {
  Experiment e = pipeline_of(kPipelines[0], "layer");
  e.software.allocator_overhead = 0.25;
  const StageMemory most = account_memory(e).stage_memory[0];
  CHECK(most.fragmentation == (most.total() + 2) / 4);
  e.cluster.gpu.memory_gb = 100;
  e.cluster.gpu.memory_reserve_gb = 2;
  e.cluster.gpu.memory_usable_gb = static_cast<double>(most.reserved()) * 1e-9 + 2;
  CHECK(account_memory(e).feasible);
  CHECK(account_memory(e).gpu_usable_memory == most.reserved());
  e.cluster.gpu.memory_reserve_gb += 1e-9;
  CHECK_FALSE(account_memory(e).feasible);
  e.cluster.gpu.memory_reserve_gb = 0;
  e.cluster.gpu.memory_gb =
      static_cast<double>(most.reserved() - 1) * 1e-9;  // less than is said to be usable
  CHECK_FALSE(account_memory(e).feasible);
}
